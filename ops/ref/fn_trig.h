// Trigonometric and hyperbolic functions. Of float32 they are computed in double and rounded; complex ones are libm's.
#pragma once

#include "ops/ref/fn_power.h"

namespace tilewise::ops::ref::fn {

TW_UNARY_MATH(sin, std::sin)
TW_UNARY_MATH(cos, std::cos)
TW_UNARY_MATH(tan, std::tan)
TW_UNARY_MATH(arcsin, std::asin)
TW_UNARY_MATH(arccos, std::acos)
TW_UNARY_MATH(arctan, std::atan)
TW_UNARY_MATH(sinh, std::sinh)
TW_UNARY_MATH(cosh, std::cosh)
TW_UNARY_MATH(tanh, std::tanh)
TW_UNARY_MATH(arcsinh, std::asinh)
TW_UNARY_MATH(arccosh, std::acosh)
TW_UNARY_MATH(arctanh, std::atanh)

#define TW_COMPLEX_MATH(name, function) \
  template <Complex T>                  \
  T name(T a) {                         \
    return function(a);                 \
  }

TW_COMPLEX_MATH(sin, std::sin)
TW_COMPLEX_MATH(cos, std::cos)
TW_COMPLEX_MATH(tan, std::tan)
TW_COMPLEX_MATH(arcsin, std::asin)
TW_COMPLEX_MATH(arccos, std::acos)
TW_COMPLEX_MATH(arctan, std::atan)
TW_COMPLEX_MATH(sinh, std::sinh)
TW_COMPLEX_MATH(cosh, std::cosh)
TW_COMPLEX_MATH(tanh, std::tanh)
TW_COMPLEX_MATH(arcsinh, std::asinh)
TW_COMPLEX_MATH(arccosh, std::acosh)
TW_COMPLEX_MATH(arctanh, std::atanh)

inline double arctan2(double a, double b) { return std::atan2(a, b); }
inline float arctan2(float a, float b) {
  return static_cast<float>(std::atan2(static_cast<double>(a), static_cast<double>(b)));
}

}  // namespace tilewise::ops::ref::fn
