// Which instruction sets the kernels are compiled for: SSE4, AVX2 and AVX-512 on x86, NEON on Arm. Include before
// hwy/foreach_target.h. SSE4.2 is the floor on x86 (every processor since 2009).
#pragma once

#define HWY_WANT_SSE4 1
#include <hwy/detect_targets.h>
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_EMU128 | HWY_SCALAR)
