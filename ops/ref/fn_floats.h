// Rounding, and operations on floats by their representation.
#pragma once

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/ref/fn_arith.h"

namespace tilewise::ops::ref::fn {

template <class T>
bool isnan(T a) {
  if constexpr (kIsHalf<T>) return (a.bits & 0x7fff) > 0x7c00;
  else return nan(a);
}
template <class T>
bool isinf(T a) {
  if constexpr (kIsHalf<T>) return (a.bits & 0x7fff) == 0x7c00;
  else if constexpr (Complex<T>) return std::isinf(a.real()) || std::isinf(a.imag());
  else if constexpr (Float<T>) return std::isinf(a);
  else return false;
}
template <class T>
bool isfinite(T a) {
  if constexpr (kIsHalf<T>) return (a.bits & 0x7c00) != 0x7c00;
  else if constexpr (Complex<T>) return std::isfinite(a.real()) && std::isfinite(a.imag());
  else if constexpr (Float<T>) return std::isfinite(a);
  else return true;
}

template <Float T>
bool signbit(T a) {
  return std::signbit(a);
}
template <Float T>
T copysign(T a, T b) {
  return std::copysign(a, b);
}

template <Float T>
T nextafter(T a, T b) {
  return std::nextafter(a, b);
}
inline Half nextafter(Half a, Half b) {
  if (isnan(a) || isnan(b)) return isnan(a) ? a : b;
  const float x = to_float(a), y = to_float(b);
  if (x == y) return a;
  if (x == 0) return {static_cast<uint16_t>((b.bits & 0x8000) | 1)};
  const bool away = (x > 0) == (y > x);
  const Half next{static_cast<uint16_t>(away ? a.bits + 1 : a.bits - 1)};
  if (isinf(next) && !isinf(a)) std::feraiseexcept(FE_OVERFLOW);
  return next;
}

// The distance to the next value of larger magnitude, with the value's sign.
template <Float T>
T spacing(T a) {
  if (!std::isfinite(a)) return std::numeric_limits<T>::quiet_NaN();
  if (a == 0) return std::numeric_limits<T>::denorm_min();
  return std::nextafter(a, std::copysign(std::numeric_limits<T>::infinity(), a)) - a;
}
// NumPy's for float16 is the distance to the next larger value: positive, and halved at negative powers of two.
inline Half spacing(Half a) {
  const int exponent = a.bits >> 10 & 0x1f, fraction = a.bits & 0x3ff;
  if (exponent == 0x1f) {
    std::feraiseexcept(FE_INVALID);
    return {0x7e00};
  }
  if (a.bits == 0x7bff) {
    std::feraiseexcept(FE_OVERFLOW);
    return {0x7c00};
  }
  const bool halved = (a.bits & 0x8000) && fraction == 0;
  const int place = std::max(exponent - 1, 0) - (halved && exponent > 1);  // of the result: 2^(place - 24)
  return to_half(std::ldexp(1.0f, place - 24));
}

template <Float T>
T ldexp(T a, int64_t exponent) {
  constexpr int64_t limit = std::numeric_limits<int>::max();
  return std::ldexp(a, static_cast<int>(std::clamp(exponent, -limit - 1, limit)));
}

template <Float T>
T frexp_mantissa(T a) {
  int exponent;
  return std::frexp(a, &exponent);
}
template <Float T>
int32_t frexp_exponent(T a) {
  int exponent = 0;
  std::frexp(a, &exponent);
  return std::isfinite(a) ? exponent : 0;
}
template <Float T>
T modf_fraction(T a) {
  T whole;
  return std::modf(a, &whole);
}
template <Float T>
T modf_integer(T a) {
  T whole;
  std::modf(a, &whole);
  return whole;
}

template <Float T>
T heaviside(T a, T at_zero) {
  if (std::isnan(a)) return a;
  return a == 0 ? at_zero : a < 0 ? T(0) : T(1);
}

template <class T>
T floor(T a) {
  if constexpr (Float<T>) return std::floor(a);
  else return a;
}
template <class T>
T ceil(T a) {
  if constexpr (Float<T>) return std::ceil(a);
  else return a;
}
template <class T>
T trunc(T a) {
  if constexpr (Float<T>) return std::trunc(a);
  else return a;
}
template <class T>
T rint(T a) {
  if constexpr (Complex<T>) return T(std::nearbyint(a.real()), std::nearbyint(a.imag()));
  else return std::nearbyint(a);
}

template <Float T>
T deg2rad(T a) {
  return a * (std::numbers::pi_v<T> / T(180));
}
template <Float T>
T rad2deg(T a) {
  return a * (T(180) / std::numbers::pi_v<T>);
}

}  // namespace tilewise::ops::ref::fn
