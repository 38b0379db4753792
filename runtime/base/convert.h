// The C++ type of each dtype, a visitor over dtypes, and NumPy's conversion of one element.
//
// Conversions out of an integer's range follow NumPy on x86: through int32 for the narrow types, through int64 for
// uint32, in two halves for uint64. They are spelled out, so that no compiler and no processor decides.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "runtime/base/dtype.h"
#include "runtime/base/error.h"
#include "runtime/base/half.h"

namespace tilewise {

template <class T>
struct TypeOf {
  using type = T;
};

template <DType d>
using CType = std::tuple_element_t<static_cast<int>(d),
                                   std::tuple<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
                                              Half, float, double, std::complex<float>, std::complex<double>>>;

// Calls f(TypeOf<T>()) with the C++ type of the dtype: f([](auto t) { using T = typename decltype(t)::type; ... }).
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool: return f(TypeOf<bool>());
    case DType::kInt8: return f(TypeOf<int8_t>());
    case DType::kInt16: return f(TypeOf<int16_t>());
    case DType::kInt32: return f(TypeOf<int32_t>());
    case DType::kInt64: return f(TypeOf<int64_t>());
    case DType::kUInt8: return f(TypeOf<uint8_t>());
    case DType::kUInt16: return f(TypeOf<uint16_t>());
    case DType::kUInt32: return f(TypeOf<uint32_t>());
    case DType::kUInt64: return f(TypeOf<uint64_t>());
    case DType::kFloat16: return f(TypeOf<Half>());
    case DType::kFloat32: return f(TypeOf<float>());
    case DType::kFloat64: return f(TypeOf<double>());
    case DType::kComplex64: return f(TypeOf<std::complex<float>>());
    case DType::kComplex128: return f(TypeOf<std::complex<double>>());
    case DType::kVoid: break;
  }
  TW_CHECK(false, "no arithmetic on ", name(dtype));
}

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half>;
template <class T>
inline constexpr bool kIsReal = std::is_floating_point_v<T> || kIsHalf<T>;

namespace convert_detail {

// x86's cvttss2si / cvttsd2si: what does not fit gives the least integer. The comparisons raise "invalid" for NaN
// only, so the flag is raised by hand.
template <class Int, class Float>
inline Int truncate(Float v) {
  constexpr Float limit = static_cast<Float>(uint64_t{1} << (sizeof(Int) * 8 - 1));
  if (v < limit && (v >= -limit || (sizeof(Int) < sizeof(Float) && v > -limit - 1))) return static_cast<Int>(v);
  std::feraiseexcept(FE_INVALID);
  return std::numeric_limits<Int>::min();
}

template <class Int, class Float>
inline Int to_integer(Float v) {
  if constexpr (std::is_same_v<Int, uint64_t>) {
    constexpr Float half = static_cast<Float>(0x1p63);
    if (!(v >= half)) return static_cast<uint64_t>(truncate<int64_t>(v));
    return static_cast<uint64_t>(truncate<int64_t>(v - half)) ^ (uint64_t{1} << 63);
  } else if constexpr (sizeof(Int) == 8 || std::is_same_v<Int, uint32_t>) {
    return static_cast<Int>(truncate<int64_t>(v));
  } else {
    return static_cast<Int>(truncate<int32_t>(v));
  }
}

}  // namespace convert_detail

// NumPy's astype for one element.
template <class To, class From>
inline To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (kIsHalf<From>) {
    return convert<To>(to_float(v));
  } else if constexpr (kIsComplex<From> && kIsComplex<To>) {
    using R = typename To::value_type;
    return To(static_cast<R>(v.real()), static_cast<R>(v.imag()));
  } else if constexpr (kIsComplex<From> && std::is_same_v<To, bool>) {
    return v.real() != 0 || v.imag() != 0;
  } else if constexpr (kIsComplex<From>) {
    return convert<To>(v.real());
  } else if constexpr (kIsComplex<To>) {
    return To(convert<typename To::value_type>(v), 0);
  } else if constexpr (kIsHalf<To>) {
    if constexpr (std::is_same_v<From, double>) return to_half(v);
    else return to_half(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return convert_detail::to_integer<To>(v);
  } else {
    return static_cast<To>(v);  // integers wrap; to floats as the hardware rounds
  }
}

}  // namespace tilewise
