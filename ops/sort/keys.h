// Unsigned keys in the order of sorting: equal keys are equal elements (zeros of both signs, all NaNs).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/base/convert.h"

namespace tilewise::ops {

template <int kSize>
using UInt = std::conditional_t<kSize == 1, uint8_t,
                                std::conditional_t<kSize == 2, uint16_t, std::conditional_t<kSize == 4, uint32_t, uint64_t>>>;

template <class T>
UInt<sizeof(T)> key_of(T value) {
  using U = UInt<sizeof(T)>;
  constexpr U kSign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? static_cast<U>(static_cast<U>(value) ^ kSign) : static_cast<U>(value);
  } else {
    const U bits = std::bit_cast<U>(value);
    constexpr int kMantissa = sizeof(T) == 2 ? 10 : sizeof(T) == 4 ? 23 : 52;
    constexpr U kInfinity = static_cast<U>(static_cast<U>(kSign - 1) >> kMantissa << kMantissa);
    if (static_cast<U>(bits & static_cast<U>(~kSign)) > kInfinity) return std::numeric_limits<U>::max();
    if (static_cast<U>(bits << 1) == 0) return kSign;
    return bits & kSign ? static_cast<U>(~bits) : static_cast<U>(bits | kSign);
  }
}

// NumPy's order of complex numbers: by real, then imaginary part; behind them those with a NaN in the imaginary part, in the
// real one, in both.
template <class T>
bool complex_less(std::complex<T> a, std::complex<T> b) {
  const auto rank = [](std::complex<T> z) { return 2 * std::isnan(z.real()) + std::isnan(z.imag()); };
  if (const int x = rank(a), y = rank(b); x != y) return x < y;
  if (a.real() != b.real() && !std::isnan(a.real())) return a.real() < b.real();
  return a.imag() < b.imag();  // false for NaNs
}

}  // namespace tilewise::ops
