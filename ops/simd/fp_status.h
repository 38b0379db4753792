// The processor's sticky floating-point flags as FpKind bits: read, and cleared only where one is set, since clearing
// is slow and reading is not.
#pragma once

#include <cfenv>
#include <cstdint>

#include "runtime/launch.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace tilewise::ops::simd {

#if defined(__SSE2__)
// Whether an operand or result was subnormal since the flags were last taken.
inline bool met_subnormals() { return _mm_getcsr() & 0x12u; }
inline void forget_subnormals() {
  const unsigned status = _mm_getcsr();
  if (status & 0x12u) _mm_setcsr(status & ~0x12u);
}

// Kernels use SSE and AVX only, whose flags are in MXCSR: invalid 1, subnormal operand 2, divide 4,
// overflow 8, underflow 16.
// Where nothing of `watch` (FpKind bits) has been met, the rest stays: to clear it costs more than a short block.
inline uint8_t take_fp_status(uint8_t watch = 0xff) {
  const unsigned status = _mm_getcsr();
  const unsigned wanted = (watch & kFpInvalid ? 1u : 0) | (watch & kFpDivide ? 4u : 0) | (watch & kFpOverflow ? 8u : 0) |
                          (watch & kFpUnderflow ? 16u : 0);
  if (!(status & wanted)) return 0;
  _mm_setcsr(status & ~0x3fu);
  return static_cast<uint8_t>((status & 1 ? kFpInvalid : 0) | (status & 4 ? kFpDivide : 0) | (status & 8 ? kFpOverflow : 0) |
                              (status & 16 ? kFpUnderflow : 0));
}
#else
inline bool met_subnormals() { return false; }
inline void forget_subnormals() {}

inline uint8_t take_fp_status(uint8_t = 0xff) {
  const int raised = std::fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
  if (!raised) return 0;
  std::feclearexcept(FE_ALL_EXCEPT);
  return static_cast<uint8_t>((raised & FE_INVALID ? kFpInvalid : 0) | (raised & FE_DIVBYZERO ? kFpDivide : 0) |
                              (raised & FE_OVERFLOW ? kFpOverflow : 0) | (raised & FE_UNDERFLOW ? kFpUnderflow : 0));
}
#endif

}  // namespace tilewise::ops::simd
