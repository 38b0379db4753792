// The caller's core and no other, for kernels that take a Parallel.
#pragma once

#include "runtime/launch.h"

namespace tilewise {

class SerialParallel final : public Parallel {
 public:
  int width() const override { return 1; }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    for (int64_t i = 0; i < count; ++i) body(i);
  }
};

}  // namespace tilewise
