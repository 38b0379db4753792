// Arithmetic, order and comparisons of the reference interpreter: one overload set for bool, integers, floats and complex.
//
// Integers wrap (computed in uint64). Complex products are NumPy's on processors with FMA: two explicit fma each.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <type_traits>

#include "runtime/base/convert.h"

namespace tilewise::ops::ref::fn {

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept Float = std::floating_point<T>;
template <class T>
concept Complex = kIsComplex<T>;

inline bool add(bool a, bool b) { return a || b; }
inline bool multiply(bool a, bool b) { return a && b; }

template <Integer T>
T add(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <Integer T>
T subtract(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <Integer T>
T multiply(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <Integer T>
T negative(T a) {
  return static_cast<T>(-static_cast<uint64_t>(a));
}

template <Float T>
T add(T a, T b) {
  return a + b;
}
template <Float T>
T subtract(T a, T b) {
  return a - b;
}
template <Float T>
T multiply(T a, T b) {
  return a * b;
}
template <Float T>
T divide(T a, T b) {
  return a / b;
}
template <Float T>
T negative(T a) {
  return -a;
}

template <Complex T>
T add(T a, T b) {
  return T(a.real() + b.real(), a.imag() + b.imag());
}
template <Complex T>
T subtract(T a, T b) {
  return T(a.real() - b.real(), a.imag() - b.imag());
}
template <Complex T>
T multiply(T a, T b) {
  const auto ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
  return T(std::fma(ar, br, -(ai * bi)), std::fma(ar, bi, ai * br));
}
template <Complex T>
T negative(T a) {
  return T(-a.real(), -a.imag());
}

// Smith's quotient: scaled by the larger part of the divisor, so that its square cannot overflow.
template <Complex T>
T divide(T a, T b) {
  using R = typename T::value_type;
  const R ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
  const R br_abs = std::fabs(br), bi_abs = std::fabs(bi);
  if (br_abs >= bi_abs) {
    if (br_abs == 0 && bi_abs == 0) return T(ar / br_abs, ai / br_abs);
    const R ratio = bi / br;
    const R scale = R(1) / (br + bi * ratio);
    return T((ar + ai * ratio) * scale, (ai - ar * ratio) * scale);
  }
  const R ratio = br / bi;
  const R scale = R(1) / (bi + br * ratio);
  return T((ar * ratio + ai) * scale, (ai * ratio - ar) * scale);
}

inline bool absolute(bool a) { return a; }
template <Integer T>
T absolute(T a) {
  if constexpr (std::is_signed_v<T>) return a < 0 ? negative(a) : a;
  else return a;
}
template <Float T>
T absolute(T a) {
  return std::fabs(a);
}
template <Complex T>
auto absolute(T a) {
  using R = typename T::value_type;
  const R x = std::fabs(a.real()), y = std::fabs(a.imag());
  if (std::isinf(x) || std::isinf(y)) return std::numeric_limits<R>::infinity();
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<R>::quiet_NaN();
  const R large = std::max(x, y), small = std::min(x, y);
  if (large == 0) return large;
  const R ratio = small / large;
  return large * std::sqrt(std::fma(ratio, ratio, R(1)));
}

template <Float T>
T sqrt(T a) {
  return std::sqrt(a);
}
template <Complex T>
T sqrt(T a) {
  return std::sqrt(a);
}

// Complex numbers compare by real part, then by imaginary part; a NaN anywhere compares false.
template <class T>
bool equal(T a, T b) {
  return a == b;
}
template <class T>
bool not_equal(T a, T b) {
  return a != b;
}
template <class T>
bool less(T a, T b) {
  return a < b;
}
template <class T>
bool less_equal(T a, T b) {
  return a <= b;
}
template <Complex T>
bool less(T a, T b) {
  if (std::isnan(a.imag()) || std::isnan(b.imag())) return false;
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
template <Complex T>
bool less_equal(T a, T b) {
  if (std::isnan(a.imag()) || std::isnan(b.imag())) return false;
  return a.real() < b.real() || (a.real() == b.real() && a.imag() <= b.imag());
}

template <class T>
bool nan(T a) {
  if constexpr (Complex<T>) return std::isnan(a.real()) || std::isnan(a.imag());
  else if constexpr (Float<T>) return std::isnan(a);
  else return false;
}

inline bool less_equal(Half a, Half b) { return to_float(a) <= to_float(b); }
inline bool nan(Half a) { return (a.bits & 0x7fff) > 0x7c00; }

// Of equal floats (0 and -0) the second is taken, as the processor's max and min do; of equal float16 or complex numbers
// the first, as NumPy does.
template <class T>
T maximum(T a, T b) {
  if constexpr (Float<T>) return nan(a) || a > b ? a : b;
  else return nan(a) || less_equal(b, a) ? a : b;
}
template <class T>
T minimum(T a, T b) {
  if constexpr (Float<T>) return nan(a) || a < b ? a : b;
  else return nan(a) || less_equal(a, b) ? a : b;
}
template <class T>
T fmax(T a, T b) {
  if constexpr (Float<T>) return nan(b) || a > b ? a : b;
  else return nan(b) || less_equal(b, a) ? a : b;
}
template <class T>
T fmin(T a, T b) {
  if constexpr (Float<T>) return nan(b) || a < b ? a : b;
  else return nan(b) || less_equal(a, b) ? a : b;
}

// Complex bounds are compared by their parts as they are: here a NaN in a part that decides nothing does not win.
template <Complex T>
bool less_by_parts(T a, T b) {
  return a.real() == b.real() ? a.imag() < b.imag() : a.real() < b.real();
}
template <class T>
T clip(T a, T low, T high) {
  if constexpr (Complex<T>) {
    const T raised = nan(a) || less_by_parts(low, a) ? a : low;
    return nan(raised) || less_by_parts(raised, high) ? raised : high;
  } else {
    return minimum(maximum(a, low), high);
  }
}

template <class T>
T where(bool condition, T a, T b) {
  return condition ? a : b;
}

template <Complex T>
auto real(T a) {
  return a.real();
}
template <Complex T>
auto imag(T a) {
  return a.imag();
}
template <Float T>
std::complex<T> make_complex(T re, T im) {
  return {re, im};
}

template <class T>
T conjugate(T a) {
  if constexpr (Complex<T>) return T(a.real(), -a.imag());
  else return a;
}

template <class T>
T square(T a) {
  return multiply(a, a);
}

template <Integer T>
T sign(T a) {
  return static_cast<T>((a > 0) - (a < 0));
}
template <Float T>
T sign(T a) {
  return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a;
}
template <Complex T>
T sign(T a) {
  using R = typename T::value_type;
  const R magnitude = std::hypot(a.real(), a.imag());
  if (std::isnan(magnitude)) return T(magnitude, magnitude);
  if (magnitude == 0) return T(0, 0);
  if (!std::isinf(magnitude)) return T(a.real() / magnitude, a.imag() / magnitude);
  if (std::isinf(a.real()) && std::isinf(a.imag())) return T(NAN, NAN);
  return std::isinf(a.real()) ? T(sign(a.real()), 0) : T(0, sign(a.imag()));
}

template <Float T>
T reciprocal(T a) {
  return T(1) / a;
}
template <Integer T>
T reciprocal(T a) {
  return convert<T>(1.0 / static_cast<double>(a));
}
template <Complex T>
T reciprocal(T a) {
  const auto re = a.real(), im = a.imag();
  if (std::fabs(im) <= std::fabs(re)) {
    const auto ratio = im / re, scale = re + im * ratio;
    return T(1 / scale, -ratio / scale);
  }
  const auto ratio = re / im, scale = re * ratio + im;
  return T(ratio / scale, -1 / scale);
}

}  // namespace tilewise::ops::ref::fn
