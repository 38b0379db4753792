// Quotients and remainders with NumPy's rules for zero divisors, least integers and signs. What is wrong is raised as a
// hardware flag.
#pragma once

#include <cfenv>
#include <cmath>
#include <limits>

#include "ops/ref/fn_arith.h"

namespace tilewise::ops::ref::fn {

template <Integer T>
bool least_by_minus_one(T a, T b) {
  if constexpr (std::is_signed_v<T>) return a == std::numeric_limits<T>::min() && b == -1;
  else return false;
}

template <Integer T>
T floor_divide(T a, T b) {
  if (b == 0) {
    std::feraiseexcept(FE_DIVBYZERO);
    return 0;
  }
  if (least_by_minus_one(a, b)) {
    std::feraiseexcept(FE_OVERFLOW);
    return a;
  }
  const T quotient = static_cast<T>(a / b);
  const bool inexact = a % b != 0;
  return static_cast<T>(quotient - (inexact && ((a < 0) != (b < 0))));
}

template <Integer T>
T fmod(T a, T b) {
  if (b == 0) {
    std::feraiseexcept(FE_DIVBYZERO);
    return 0;
  }
  return least_by_minus_one(a, b) ? T(0) : static_cast<T>(a % b);
}

template <Integer T>
T remainder(T a, T b) {
  const T rest = fmod(a, b);
  return rest != 0 && ((a < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
}

template <Integer T>
T divmod_quotient(T a, T b) {
  return floor_divide(a, b);
}
template <Integer T>
T divmod_remainder(T a, T b) {
  return remainder(a, b);
}

// fmod, moved into the sign of the divisor; a zero takes that sign.
template <Float T>
T remainder(T a, T b) {
  const T rest = std::fmod(a, b);
  if (b == 0) return rest;
  if (rest == 0) return std::copysign(T(0), b);
  return std::isless(b, T(0)) != std::isless(rest, T(0)) ? rest + b : rest;
}

// From the exact remainder, so that the quotient is a whole number up to rounding; a zero takes the true quotient's sign.
template <Float T>
T divmod_quotient(T a, T b) {
  const T rest = std::fmod(a, b);
  if (b == 0) return a / b;
  T quotient = (a - rest) / b;
  if (rest != 0 && std::isless(b, T(0)) != std::isless(rest, T(0))) quotient -= 1;
  if (quotient == 0) return std::copysign(T(0), a / b);
  const T whole = std::floor(quotient);
  return std::isgreater(quotient - whole, T(0.5)) ? whole + 1 : whole;
}

template <Float T>
T floor_divide(T a, T b) {
  if (b == 0) return a / b;  // without fmod, which would raise "invalid" too
  return divmod_quotient(a, b);
}
template <Float T>
T fmod(T a, T b) {
  return std::fmod(a, b);
}
template <Float T>
T divmod_remainder(T a, T b) {
  return remainder(a, b);
}

}  // namespace tilewise::ops::ref::fn
