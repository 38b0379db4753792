// What the moments of one thread met since they were last noted, part by part: the thread's sticky flags say that something
// was met, and only then is the work done again to see in which part. Set by whoever runs a launch on the thread.
#pragma once

#include "runtime/launch.h"

namespace tilewise::ops::simd {

struct MomentStatus {
  uint8_t watch = 0;  // FpKind bits that somebody asks for
  uint8_t seen[kMomentParts] = {};

  static MomentStatus& of_thread() {
    static thread_local MomentStatus status;
    return status;
  }
  void begin(const Launch& launch) { *this = {launch.fp_flags ? launch.fp_watch : uint8_t{0}}; }
};

}  // namespace tilewise::ops::simd
