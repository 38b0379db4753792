// Powers, exponentials and logarithms. Of float32 they are computed in double and rounded; complex ones are libm's, or
// NumPy's formulas where C has no function.
#pragma once

#include <cfenv>
#include <cmath>
#include <complex>
#include <numbers>

#include "ops/ref/fn_arith.h"

namespace tilewise::ops::ref::fn {

// The function of a float in double precision, then rounded.
#define TW_UNARY_MATH(name, function)                \
  inline double name(double a) { return function(a); } \
  inline float name(float a) { return static_cast<float>(function(static_cast<double>(a))); }

TW_UNARY_MATH(exp, std::exp)
TW_UNARY_MATH(exp2, std::exp2)
TW_UNARY_MATH(expm1, std::expm1)
TW_UNARY_MATH(log, std::log)
TW_UNARY_MATH(log2, std::log2)
TW_UNARY_MATH(log10, std::log10)
TW_UNARY_MATH(log1p, std::log1p)
TW_UNARY_MATH(cbrt, std::cbrt)

template <Complex T>
T exp(T a) {
  return std::exp(a);
}
template <Complex T>
T log(T a) {
  return std::log(a);
}
template <Complex T>
T exp2(T a) {
  using R = typename T::value_type;
  return std::exp(T(a.real() * std::numbers::ln2_v<R>, a.imag() * std::numbers::ln2_v<R>));
}
template <Complex T>
T expm1(T a) {
  using R = typename T::value_type;
  const R half_sine = std::sin(a.imag() / 2);
  return T(std::expm1(a.real()) * std::cos(a.imag()) - 2 * half_sine * half_sine,
           std::exp(a.real()) * std::sin(a.imag()));
}
template <Complex T>
T log2(T a) {
  using R = typename T::value_type;
  const T r = std::log(a);
  return T(r.real() * std::numbers::log2e_v<R>, r.imag() * std::numbers::log2e_v<R>);
}
template <Complex T>
T log10(T a) {
  using R = typename T::value_type;
  const T r = std::log(a);
  return T(r.real() * std::numbers::log10e_v<R>, r.imag() * std::numbers::log10e_v<R>);
}
template <Complex T>
T log1p(T a) {
  const auto magnitude = std::hypot(a.real() + 1, a.imag());
  return T(std::log(magnitude), std::atan2(a.imag(), a.real() + 1));
}

template <Float T>
T hypot(T a, T b) {
  return static_cast<T>(std::hypot(static_cast<double>(a), static_cast<double>(b)));
}

// log(exp(a) + exp(b)) from the larger one and the distance.
template <Float T>
T logaddexp(T a, T b) {
  if (a == b) return a + std::numbers::ln2_v<T>;
  const T distance = a - b;
  if (distance > 0) return a + log1p(exp(-distance));
  if (distance <= 0) return b + log1p(exp(distance));
  return distance;  // NaN
}
template <Float T>
T logaddexp2(T a, T b) {
  if (a == b) return a + 1;
  const T distance = a - b;
  if (distance > 0) return a + std::numbers::log2e_v<T> * log1p(exp2(-distance));
  if (distance <= 0) return b + std::numbers::log2e_v<T> * log1p(exp2(distance));
  return distance;
}

inline double power(double a, double b) { return std::pow(a, b); }
inline float power(float a, float b) { return static_cast<float>(std::pow(static_cast<double>(a), static_cast<double>(b))); }

// By squaring, with products that wrap. A negative exponent is an error that the row reports (NegativePower).
template <Integer T>
T power(T a, T b) {
  if (std::is_signed_v<T> && b < T(0)) return 0;
  T result = 1;
  for (auto n = static_cast<std::make_unsigned_t<T>>(b); n != 0; n >>= 1) {
    if (n & 1) result = multiply(result, a);
    a = multiply(a, a);
  }
  return result;
}

// The product without fma, as NumPy's power multiplies.
template <Complex T>
T plain_product(T a, T b) {
  return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}

template <Complex T>
T power(T a, T b) {
  using R = typename T::value_type;
  const R br = b.real(), bi = b.imag();
  if (br == 0 && bi == 0) return T(1, 0);
  if (a.real() == 0 && a.imag() == 0) {
    if (br > 0) return T(0, 0);
    std::feraiseexcept(FE_INVALID);
    return T(NAN, NAN);
  }
  if (bi == 0 && br > -100 && br < 100 && br == std::trunc(br)) {
    int n = static_cast<int>(br);
    if (n == 1) return a;
    if (n == 2) return plain_product(a, a);
    if (n == 3) return plain_product(a, plain_product(a, a));
    T result(1, 0);
    n = std::abs(n);
    for (T factor = a;; factor = plain_product(factor, factor)) {
      if (n & 1) result = plain_product(result, factor);
      if ((n >>= 1) == 0) break;
    }
    return br < 0 ? divide(T(1, 0), result) : result;
  }
  return std::pow(a, b);
}

}  // namespace tilewise::ops::ref::fn
