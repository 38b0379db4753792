// 16-bit floats: storage and conversions.
//
// Arithmetic on them is done in float and rounded back, as NumPy does. Conversions round to nearest even, from
// float and from double in one rounding each, and raise the hardware's overflow and underflow flags themselves, since no
// instruction set below F16C would. Free of state; any thread.
#pragma once

#include <bit>
#include <cfenv>
#include <cstdint>

namespace tilewise {

struct Half {
  uint16_t bits = 0;
};

inline float to_float(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000) << 16;
  const uint32_t exponent = (h.bits >> 10) & 0x1f;
  uint32_t fraction = h.bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  // Subnormals and zero: fraction * 2^-24 is exact.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

namespace half_detail {

// Rounds a finite or infinite magnitude given as bits of a wider format with kFraction fraction bits and exponent bias kBias.
template <class Bits, int kFraction, int kBias>
inline uint16_t round_magnitude(Bits magnitude) {
  const int exponent = static_cast<int>(magnitude >> kFraction) - kBias + 15;
  const Bits fraction = magnitude & ((Bits{1} << kFraction) - 1);
  if (exponent >= 31) {
    std::feraiseexcept(FE_OVERFLOW);
    return 0x7c00;
  }
  // Below the normal range the implicit bit becomes explicit and is shifted further down.
  int shift = kFraction - 10;
  Bits kept = fraction;
  uint32_t high = 0;
  if (exponent > 0) {
    high = static_cast<uint32_t>(exponent) << 10;
  } else {
    if (magnitude == 0) return 0;
    shift += 1 - exponent;
    kept |= Bits{1} << kFraction;
    if (shift > kFraction + 1) {  // under half of the smallest subnormal
      std::feraiseexcept(FE_UNDERFLOW);
      return 0;
    }
  }
  const Bits rest = kept & ((Bits{1} << shift) - 1);
  const Bits tie = Bits{1} << (shift - 1);
  uint32_t result = high + static_cast<uint32_t>(kept >> shift);
  if (exponent <= 0 && rest != 0) std::feraiseexcept(FE_UNDERFLOW);
  if (rest > tie || (rest == tie && (result & 1))) ++result;  // may carry into the exponent, rightly
  if (result == 0x7c00) std::feraiseexcept(FE_OVERFLOW);
  return static_cast<uint16_t>(result);
}

}  // namespace half_detail

inline Half to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude == 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7c00)};
  if (magnitude > 0x7f800000u) {  // keep what fits of the payload, and stay a NaN
    const uint16_t payload = static_cast<uint16_t>(magnitude >> 13 & 0x3ff);
    return {static_cast<uint16_t>(sign | 0x7c00 | (payload ? payload : 1))};
  }
  return {static_cast<uint16_t>(sign | half_detail::round_magnitude<uint32_t, 23, 127>(magnitude))};
}

inline Half to_half(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude == 0x7ff0000000000000ull) return {static_cast<uint16_t>(sign | 0x7c00)};
  if (magnitude > 0x7ff0000000000000ull) {
    const uint16_t payload = static_cast<uint16_t>(magnitude >> 42 & 0x3ff);
    return {static_cast<uint16_t>(sign | 0x7c00 | (payload ? payload : 1))};
  }
  return {static_cast<uint16_t>(sign | half_detail::round_magnitude<uint64_t, 52, 1023>(magnitude))};
}

}  // namespace tilewise
