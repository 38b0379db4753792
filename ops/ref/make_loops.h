// Makes reference loops out of rows: templates that turn the type of a row (ops/ref/family.inc) into one function for
// each of its dtypes, with the tests that its FpRule asks for. For the family files only.
#pragma once

#include <cfenv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "ops/opcode.h"
#include "ops/ref/loop.h"
#include "ops/row_kinds.h"
#include "runtime/base/convert.h"
#include "runtime/launch.h"

namespace tilewise::ops::ref {

struct Unused {};

inline uint8_t from_hardware(int raised) {
  return static_cast<uint8_t>((raised & FE_DIVBYZERO ? kFpDivide : 0) | (raised & FE_OVERFLOW ? kFpOverflow : 0) |
                              (raised & FE_UNDERFLOW ? kFpUnderflow : 0) | (raised & FE_INVALID ? kFpInvalid : 0));
}

// What the hardware raised while this lived; the flags of the surrounding code are put back.
class HardwareFlags {
 public:
  HardwareFlags() {
    std::fegetexceptflag(&saved_, FE_ALL_EXCEPT);
    std::feclearexcept(FE_ALL_EXCEPT);
  }
  ~HardwareFlags() { std::fesetexceptflag(&saved_, FE_ALL_EXCEPT); }
  uint8_t seen() const { return from_hardware(std::fetestexcept(FE_ALL_EXCEPT)); }

 private:
  std::fexcept_t saved_;
};

// Questions that the explicit tests ask of a value.
template <class T>
bool is_nan(T v) {
  if constexpr (kIsComplex<T>) return std::isnan(v.real()) || std::isnan(v.imag());
  else if constexpr (kIsHalf<T>) return (v.bits & 0x7fff) > 0x7c00;
  else if constexpr (std::is_floating_point_v<T>) return std::isnan(v);
  else return false;
}

template <class T>
bool is_inf(T v) {
  if constexpr (kIsComplex<T>) return std::isinf(v.real()) || std::isinf(v.imag());
  else if constexpr (kIsHalf<T>) return (v.bits & 0x7fff) == 0x7c00;
  else if constexpr (std::is_floating_point_v<T>) return std::isinf(v);
  else return false;
}

template <class T>
bool is_zero(T v) {
  if constexpr (kIsHalf<T>) return (v.bits & 0x7fff) == 0;
  else return v == T(0);
}

template <class T>
bool is_tiny(T v) {
  if constexpr (kIsComplex<T>) return is_tiny(v.real()) || is_tiny(v.imag());
  else if constexpr (kIsHalf<T>) return (v.bits & 0x7fff) < 0x400;
  else if constexpr (std::is_floating_point_v<T>) return std::fabs(v) < std::numeric_limits<T>::min();
  else return false;
}

inline bool is_nan(Unused) { return false; }
inline bool is_inf(Unused) { return false; }

// Whether the order of two complex numbers hangs on a NaN.
template <class T>
bool unordered(T a, T b) {
  if (std::isnan(a.real()) || std::isnan(b.real())) return true;
  return a.real() == b.real() && (std::isnan(a.imag()) || std::isnan(b.imag()));
}

template <FpRule rule, class A, class B, class C, class R>
uint8_t explicit_flags([[maybe_unused]] A a, [[maybe_unused]] B b, [[maybe_unused]] C c, R r) {
  if constexpr ((rule & NegativePower) && std::is_integral_v<A>)
    return std::is_signed_v<B> && b < B(0) ? kFpValueError : 0;
  if constexpr ((rule & Unordered) && kIsComplex<A>) return unordered(a, b) ? kFpInvalid : 0;
  if (is_nan(a) || is_nan(b) || is_nan(c)) return rule & NanOperand ? kFpInvalid : 0;
  if ((rule & Invalid) && is_nan(r)) return kFpInvalid;
  if constexpr (static_cast<bool>(rule & PoleAt0))
    if (is_inf(r) && is_zero(a)) return kFpDivide;
  if (is_inf(a) || is_inf(b) || is_inf(c)) return 0;
  if (is_inf(r)) return rule & Pole ? kFpDivide : rule & (Overflow | PoleAt0) ? kFpOverflow : 0;
  if ((rule & Tiny) && is_tiny(r) && !is_zero(a)) return kFpUnderflow;
  return 0;
}

template <class T>
T read(const void* base, int64_t i) {
  if constexpr (std::is_same_v<T, bool>) return static_cast<const uint8_t*>(base)[i] != 0;  // any byte may be there
  else return static_cast<const T*>(base)[i];
}

// A row applied to one element; float16 goes through float where the row does not want it raw.
template <class Row, bool kRawHalf, class R, class A, class B, class C>
R apply(A a, B b, C c) {
  const auto in = [](auto v) {
    if constexpr (kIsHalf<decltype(v)> && !kRawHalf) return to_float(v);
    else return v;
  };
  const auto r = Row::of(in(a), in(b), in(c));
  if constexpr (kIsHalf<R> && std::is_same_v<decltype(r), const float>) return to_half(r);
  else return r;
}

// The row as a loop for one dtype.
template <class Row, int kArity, RowFlag kFlags, FpRule kFp, DType kA, DType kB, DType kC, DType kR>
void row_loop(const void* const* in, void* out, int64_t n, uint8_t* flags) {
  using R = CType<kR>;
  R* result = static_cast<R*>(out);
  const auto element = [&](int64_t i) {
    const auto a = read<CType<kA>>(in[0], i);
    if constexpr (kArity == 1) return std::tuple(a, Unused(), Unused());
    else if constexpr (kArity == 2) return std::tuple(a, read<CType<kB>>(in[1], i), Unused());
    else return std::tuple(a, read<CType<kB>>(in[1], i), read<CType<kC>>(in[2], i));
  };
  const auto compute = [&](const auto& e) {
    return apply<Row, (kFlags & HalfBits) != 0, R>(std::get<0>(e), std::get<1>(e), std::get<2>(e));
  };
  if (kFp == Never || !flags) {
    for (int64_t i = 0; i < n; ++i) result[i] = compute(element(i));
  } else if (kFp == Hardware) {
    const HardwareFlags hardware;
    for (int64_t i = 0; i < n; ++i) result[i] = compute(element(i));
    *flags |= hardware.seen();
  } else {
    for (int64_t i = 0; i < n; ++i) {
      const auto e = element(i);
      const R r = compute(e);
      result[i] = r;
      *flags |= explicit_flags<kFp>(std::get<0>(e), std::get<1>(e), std::get<2>(e), r);
    }
  }
}

template <class Row, int kArity, LoopSet kSet, Result kResult, RowFlag kFlags, FpRule kFp, bool kInexact>
void add_row(Opcode op, LoopTable& table) {
  const auto add_loop = [&]<int d>() {
    if constexpr (kSet >> d & 1) {
      constexpr DType loop = static_cast<DType>(d);
      constexpr DType first = kFlags & Select ? DType::kBool : loop;
      constexpr DType second = second_for(kFlags, loop);
      constexpr FpRule fp = fp_for(kFp, kInexact, loop);
      table.loop[op][d] = &row_loop<Row, kArity, kFlags, fp, first, second, loop, result_for(kResult, loop)>;
    }
  };
  [&]<int... d>(std::integer_sequence<int, d...>) {
    (add_loop.template operator()<d>(), ...);
  }(std::make_integer_sequence<int, kNumericDTypes>());
}

}  // namespace tilewise::ops::ref
