// Complex arithmetic, bit for bit the reference's: products by explicit fma, Smith's quotient, absolute values by a
// scaled root. Where the processor has no fma, what needs it stays with the reference loops; quotients too, since SSE4's
// comparisons raise "invalid" for a quiet NaN.
#include "ops/simd/families.h"
#include "ops/simd/fp_status.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/complex.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include <cstring>
#include <limits>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

constexpr bool kHasFma = HWY_TARGET != HWY_SSE4;

// -0 in the even lanes (real parts) or the odd ones.
template <class D>
HWY_INLINE hn::Vec<D> even_signs(D d) {
  const auto zero = hn::Zero(d), sign = hn::SignBit(d);
  return hn::OddEven(zero, sign);
}
template <class D>
HWY_INLINE hn::Vec<D> odd_signs(D d) {
  const auto zero = hn::Zero(d), sign = hn::SignBit(d);
  return hn::OddEven(sign, zero);
}

TW_OP2(AddOp, hn::Add(a, b))
TW_OP2(SubtractOp, hn::Sub(a, b))
TW_OP1(NegativeOp, hn::Neg(a))
TW_OP1(PositiveOp, a)
TW_OP1(ConjugateOp, hn::Xor(a, odd_signs(d)))

struct MultiplyOp {
  // Even lanes: fma(ar, br, -(ai * bi)); odd lanes: fma(ar, bi, ai * br).
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const V crossed = hn::Mul(hn::DupOdd(a), hn::Reverse2(d, b));
    return hn::MulAdd(hn::DupEven(a), b, hn::Xor(crossed, even_signs(d)));
  }
};
struct SquareOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) { return MultiplyOp::apply(d, a, a); }
};

// Operations on vectors of interleaved parts: a vector is half as many elements.
template <class T, class Op>
void pairs_unary(const Call& c, int64_t count) { unary<T, Op>(c, 2 * count); }
template <class T, class Op>
void pairs_binary(const Call& c, int64_t count) { binary<T, Op>(c, 2 * count); }

template <class T>
KernelInfo pairs_kernel(Kernel fn) { 
  KernelInfo info = kernel<T>(fn);
  info.quantum /= 2;
  return info;
 }

// Two vectors of elements from one operand, as real and imaginary parts. A scalar is one vector of equal elements.
template <class T>
class Parts {
 public:
  Parts(const Call& c, int k) : p_(operand<T>(c, k)), step_(c.step[k] ? 2 * hn::Lanes(Full<T>()) : 0) {
    if (step_) return;
    for (int i = 0; i < 2; ++i) std::memcpy(twice_ + i * hn::Lanes(Full<T>()), p_, hn::Lanes(Full<T>()) * sizeof(T));
    p_ = twice_;
  }
  HWY_INLINE void next(hn::Vec<Full<T>>& re, hn::Vec<Full<T>>& im) {
    hn::LoadInterleaved2(Full<T>(), p_, re, im);
    p_ += step_;
  }

 private:
  const T* p_;
  size_t step_;
  alignas(64) T twice_[2 * hn::MaxLanes(Full<T>())];
};

// Real or imaginary part; absolute value.
template <class T, class Op>
void to_real(const Call& c, int64_t count) {
  const Full<T> d;
  Parts<T> a(c, 0);
  T* out = result<T>(c);
  for (T* end = out + count; out < end; out += hn::Lanes(d)) {
    hn::Vec<Full<T>> re, im;
    a.next(re, im);
    hn::StoreU(Op::apply(d, re, im), d, out);
  }
}
TW_OP2(RealOp, (static_cast<void>(b), a))
TW_OP2(ImagOp, (static_cast<void>(a), b))

struct AbsoluteOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V re, V im) {
    using L = std::numeric_limits<hn::TFromD<D>>;
    const V x = hn::Abs(re), y = hn::Abs(im), one = hn::Set(d, 1), infinity = hn::Set(d, L::infinity());
    const auto infinite = hn::Or(hn::Eq(x, infinity), hn::Eq(y, infinity));
    const auto nan = hn::Or(hn::IsNaN(x), hn::IsNaN(y));
    // Not Max and Min, which raise "invalid" for a quiet NaN; Gt does on NEON and is given none.
    const auto swap = hn::Gt(hn::IfThenZeroElse(nan, y), hn::IfThenZeroElse(nan, x));
    const V large = hn::IfThenElse(swap, y, x), small = hn::IfThenElse(swap, x, y);
    // No flag where there is nothing to divide.
    const auto plain = hn::Not(hn::Or(hn::Or(infinite, nan), hn::Eq(large, hn::Zero(d))));
    const V ratio = hn::Div(hn::IfThenElseZero(plain, small), hn::IfThenElse(plain, large, one));
    const V root = hn::Sqrt(hn::MulAdd(ratio, ratio, one));
    const V r = hn::Mul(hn::IfThenElseZero(plain, large), root);
    return hn::IfThenElse(infinite, infinity, hn::IfThenElse(nan, hn::Set(d, L::quiet_NaN()), r));
  }
};

// One vector of comparisons as the two rows do them; a call, so that its flags are its own.
template <class T, bool kLess, bool kOrEqual>
HWY_NOINLINE void compare_exactly(const T* re, const T* im, const T* b, uint8_t* out) {
  const Full<T> d;
  auto r = AbsoluteOp::apply(d, hn::LoadU(d, re), hn::LoadU(d, im)), bound = hn::LoadU(d, b);
  // A comparison does not report a quiet NaN; NEON's instruction would.
  const auto nan = hn::Or(hn::IsNaN(r), hn::IsNaN(bound));
  r = hn::IfThenZeroElse(nan, r);
  bound = hn::IfThenZeroElse(nan, bound);
  if constexpr (kOrEqual) store_mask(d, hn::AndNot(nan, kLess ? hn::Le(r, bound) : hn::Ge(r, bound)), out);
  else store_mask(d, hn::AndNot(nan, kLess ? hn::Lt(r, bound) : hn::Gt(r, bound)), out);
}

// |a| < b without root and quotient, where the squares leave no doubt; else as the two rows do it, flags included.
template <class T, bool kLess, bool kOrEqual>
void compare_absolute(const Call& c, int64_t count) {
  const Full<T> d;
  using V = hn::Vec<Full<T>>;
  constexpr bool kDouble = sizeof(T) == 8;
  constexpr T margin = kDouble ? T(0x1p-40) : T(0x1p-18);
  // Inside these bounds neither the squares nor the rows' own quotient leave the range.
  constexpr T least = kDouble ? T(1e-280) : T(1e-30), most = kDouble ? T(1e280) : T(1e30), tiny = kDouble ? T(1e-160) : T(1e-17);
  const size_t n = hn::Lanes(d), step_b = c.step[1] * n;
  Parts<T> a(c, 0);
  const T* b = operand<T>(c, 1);
  uint8_t* out = result<uint8_t>(c);
  const V zero = hn::Zero(d), low = hn::Set(d, 1 - margin), high = hn::Set(d, 1 + margin);
  for (uint8_t* end = out + count; out < end; out += n, b += step_b) {
    V re, im;
    a.next(re, im);
    const V bound = hn::LoadU(d, b), square = hn::Mul(bound, bound);
    const V size = hn::MulAdd(re, re, hn::Mul(im, im));
    const auto inside = hn::Lt(size, hn::Mul(square, low)), outside = hn::Gt(size, hn::Mul(square, high));
    const V small = hn::Min(hn::Abs(re), hn::Abs(im));
    const auto ordinary = hn::And(hn::And(hn::Lt(size, hn::Set(d, most)), hn::Gt(bound, zero)),
                                  hn::And(hn::Gt(square, hn::Set(d, least)), hn::Lt(square, hn::Set(d, most))));
    const auto exact_quotient = hn::Or(hn::Eq(small, zero), hn::Gt(small, hn::Set(d, tiny)));
    const auto clear = hn::And(hn::And(ordinary, exact_quotient), hn::Or(inside, outside));
    if (HWY_LIKELY(hn::AllTrue(d, clear))) {
      store_mask(d, kLess ? inside : outside, out);
      continue;
    }
    if (c.flags) take_fp_status();
    alignas(64) T parts[2][hn::MaxLanes(Full<T>())];
    hn::Store(re, d, parts[0]);
    hn::Store(im, d, parts[1]);
    compare_exactly<T, kLess, kOrEqual>(parts[0], parts[1], b, out);
    if (c.flags) *c.flags |= take_fp_status();
  }
}

template <class T>
KernelInfo compare_kernel(Opcode comparison) {
  KernelInfo info = kernel<T>(nullptr);
  info.reports = true;
  switch (comparison) {
    case op::less: info.fn = &compare_absolute<T, true, false>; break;
    case op::less_equal: info.fn = &compare_absolute<T, true, true>; break;
    case op::greater: info.fn = &compare_absolute<T, false, false>; break;
    case op::greater_equal: info.fn = &compare_absolute<T, false, true>; break;
    default: break;
  }
  return info;
}

// Smith's quotient: by the larger part of the divisor.
template <class T>
void divide(const Call& c, int64_t count) {
  const Full<T> d;
  using V = hn::Vec<Full<T>>;
  Parts<T> a(c, 0), b(c, 1);
  T* out = result<T>(c);
  const V one = hn::Set(d, 1);
  for (T* end = out + 2 * count; out < end; out += 2 * hn::Lanes(d)) {
    V ar, ai, br, bi;
    a.next(ar, ai);
    b.next(br, bi);
    const V br_abs = hn::Abs(br), bi_abs = hn::Abs(bi);
    const auto real_larger = hn::Ge(br_abs, bi_abs);
    const auto zero = hn::And(hn::Eq(br_abs, hn::Zero(d)), hn::Eq(bi_abs, hn::Zero(d)));
    const V large = hn::IfThenElse(zero, one, hn::IfThenElse(real_larger, br, bi));
    const V small = hn::IfThenElse(real_larger, bi, br);
    const V ratio = hn::Div(small, large);
    const V scale = hn::Div(one, hn::Add(large, hn::Mul(small, ratio)));
    const V p = hn::IfThenElse(real_larger, ar, ai), q = hn::IfThenElse(real_larger, ai, ar);
    const V re = hn::Mul(hn::Add(p, hn::Mul(q, ratio)), scale);
    const V pr = hn::Mul(p, ratio);
    const V im = hn::Mul(hn::IfThenElse(real_larger, hn::Sub(q, pr), hn::Sub(pr, q)), scale);
    // By zero: each part by it, flagged only there.
    const V by = hn::IfThenElse(zero, br_abs, one);
    const V re0 = hn::Div(ar, by), im0 = hn::Div(ai, by);
    hn::StoreInterleaved2(hn::IfThenElse(zero, re0, re), hn::IfThenElse(zero, im0, im), d, out);
  }
}

template <class T>
void make_complex(const Call& c, int64_t count) {
  const Full<T> d;
  const size_t n = hn::Lanes(d), step_a = c.step[0] * n, step_b = c.step[1] * n;
  const T *a = operand<T>(c, 0), *b = operand<T>(c, 1);
  T* out = result<T>(c);
  for (T* end = out + 2 * count; out < end; out += 2 * n, a += step_a, b += step_b)
    hn::StoreInterleaved2(hn::LoadU(d, a), hn::LoadU(d, b), d, out);
}

template <class T>
KernelInfo find_in(Opcode row) {
  switch (row) {
    case op::add: return pairs_kernel<T>(&pairs_binary<T, AddOp>);
    case op::subtract: return pairs_kernel<T>(&pairs_binary<T, SubtractOp>);
    case op::negative: return pairs_kernel<T>(&pairs_unary<T, NegativeOp>);
    case op::positive: return pairs_kernel<T>(&pairs_unary<T, PositiveOp>);
    case op::conjugate: return pairs_kernel<T>(&pairs_unary<T, ConjugateOp>);
    case op::real: return kernel<T>(&to_real<T, RealOp>);
    case op::imag: return kernel<T>(&to_real<T, ImagOp>);
    default: break;
  }
  if constexpr (kHasFma) {
    switch (row) {
      case op::multiply: return pairs_kernel<T>(&pairs_binary<T, MultiplyOp>);
      case op::square: return pairs_kernel<T>(&pairs_unary<T, SquareOp>);
      case op::absolute: return kernel<T>(&to_real<T, AbsoluteOp>);
      case op::divide: return kernel<T>(&divide<T>);
      default: break;
    }
  }
  return {};
}

}  // namespace

KernelInfo find_absolute_comparison(Opcode comparison, DType dtype) {
  if constexpr (kHasFma) {
    if (dtype == DType::kComplex64) return compare_kernel<float>(comparison);
    if (dtype == DType::kComplex128) return compare_kernel<double>(comparison);
  }
  return {};
}

KernelInfo find_complex(Opcode row, DType dtype) {
  if (row == op::make_complex && dtype == DType::kFloat32) return kernel<float>(&make_complex<float>);
  if (row == op::make_complex && dtype == DType::kFloat64) return kernel<double>(&make_complex<double>);
  if (dtype == DType::kComplex64) return find_in<float>(row);
  if (dtype == DType::kComplex128) return find_in<double>(row);
  return {};
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_complex);
HWY_EXPORT(find_absolute_comparison);
KernelInfo find_absolute_comparison_kernel(Opcode comparison, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_absolute_comparison)(comparison, dtype);
}
KernelInfo find_complex_kernel(Opcode row, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_complex)(row, dtype); }
}  // namespace tilewise::ops::simd
#endif
