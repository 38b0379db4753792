// What a task's kernels meet, by the processor's sticky flags: taken on every thread that works for the task, before and after.
//
// For kernels that raise what their operation means and nothing else: lanes beyond an operand must repeat one inside. Costs
// two readings of the flags for each piece of work. Any thread; `flags` is OR-ed into by all of them.
#pragma once

#include <atomic>
#include <cfenv>

#include "runtime/launch.h"

namespace tilewise {

class WatchingParallel final : public Parallel {
 public:
  WatchingParallel(Parallel& parallel, uint8_t& flags) : parallel_(parallel), flags_(flags) { forget(); }
  ~WatchingParallel() override { note(); }
  WatchingParallel(const WatchingParallel&) = delete;

  int width() const override { return parallel_.width(); }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    note();  // what this thread has met so far: the first piece forgets it
    parallel_.run(count, [&](int64_t i) {
      forget();
      body(i);
      note();
    });
  }

 private:
  static constexpr int kAll = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;

  // Clearing is slow, reading is not.
  static void forget() {
    if (std::fetestexcept(kAll)) std::feclearexcept(FE_ALL_EXCEPT);
  }
  void note() {
    const int raised = std::fetestexcept(kAll);
    if (!raised) return;
    const int kinds = (raised & FE_DIVBYZERO ? kFpDivide : 0) | (raised & FE_OVERFLOW ? kFpOverflow : 0) |
                      (raised & FE_UNDERFLOW ? kFpUnderflow : 0) | (raised & FE_INVALID ? kFpInvalid : 0);
    std::atomic_ref(flags_).fetch_or(static_cast<uint8_t>(kinds), std::memory_order_relaxed);
  }

  Parallel& parallel_;
  uint8_t& flags_;
};

}  // namespace tilewise
