// Transcendental functions of float32 and float64 from SLEEF, within 1 ulp.
#include <cmath>
#include <numbers>

#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/math_sleef.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/math-inl.h"
#include "ops/simd/sleef-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

TW_SLEEF1(Exp2Op, exp2, u10)
TW_SLEEF1(Expm1Op, expm1, u10)
TW_SLEEF1(Log2Op, log2, u10)
TW_SLEEF1(Log10Op, log10, u10)
TW_SLEEF1(Log1pOp, log1p, u10)
TW_SLEEF1(CbrtOp, cbrt, u10)
TW_SLEEF1(SinOp, sin, u10)
TW_SLEEF1(CosOp, cos, u10)
TW_SLEEF1(TanOp, tan, u10)
TW_SLEEF1(ArcsinOp, asin, u10)
TW_SLEEF1(ArccosOp, acos, u10)
TW_SLEEF1(ArctanOp, atan, u10)
TW_SLEEF1(SinhOp, sinh, u10)
TW_SLEEF1(CoshOp, cosh, u10)
TW_SLEEF1(TanhOp, tanh, u10)
TW_SLEEF1(ArcsinhOp, asinh, u10)
TW_SLEEF1(ArccoshOp, acosh, u10)
TW_SLEEF1(ArctanhOp, atanh, u10)
TW_SLEEF2(PowerOp, pow, u10)
TW_SLEEF2(Arctan2Op, atan2, u10)

namespace {

// SLEEF's power overflows a little before the range ends: an infinity from finite operands is computed again by libm.
struct WidePowerOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    using T = hn::TFromD<D>;
    const V r = PowerOp::apply(d, a, b);
    const auto doubtful = hn::And(hn::IsInf(r), hn::And(hn::IsFinite(a), hn::IsFinite(b)));
    if (HWY_LIKELY(hn::AllFalse(d, doubtful))) return r;
    alignas(64) T base[hn::MaxLanes(D())], exponent[hn::MaxLanes(D())], result[hn::MaxLanes(D())];
    hn::Store(a, d, base);
    hn::Store(b, d, exponent);
    hn::Store(r, d, result);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
      if (std::isinf(result[i])) result[i] = std::pow(base[i], exponent[i]);
    return hn::Load(d, result);
  }
};

// SLEEF gives up on large arguments of some functions; there they are logarithms and exponentials.
template <class D>
HWY_INLINE hn::Vec<D> large_limit(D d) { return hn::Set(d, sizeof(hn::TFromD<D>) == 4 ? 0x1p40f : 0x1p100); }

struct WideLog1pOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    return hn::IfThenElse(hn::Gt(a, large_limit(d)), LogOp::apply(d, a), Log1pOp::apply(d, a));
  }
};
template <class Op>
struct WideInverseOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    const V log = hn::Add(LogOp::apply(d, hn::Abs(a)), hn::Set(d, std::numbers::ln2_v<hn::TFromD<D>>));
    const auto large = hn::Gt(kOdd ? hn::Abs(a) : a, large_limit(d));
    return hn::IfThenElse(large, kOdd ? hn::CopySign(log, a) : log, Op::apply(d, a));
  }
  static constexpr bool kOdd = std::is_same_v<Op, ArcsinhOp>;
};
template <class Op>
struct WideHyperbolicOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    const V half = ExpOp::times_power(d, hn::Abs(a), -1);
    const auto large = hn::Gt(hn::Abs(a), hn::Set(d, sizeof(hn::TFromD<D>) == 4 ? 60.0f : 400.0));
    return hn::IfThenElse(large, std::is_same_v<Op, SinhOp> ? hn::CopySign(half, a) : half, Op::apply(d, a));
  }
};
// Beyond 22 tanh is 1 in both precisions, and SLEEF slow. NaN is put back: on NEON Min and Max give the other operand.
struct BoundedTanhOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    const V bounded = hn::Max(hn::Set(d, -22), hn::Min(hn::Set(d, 22), a));
    return TanhOp::apply(d, hn::IfThenElse(hn::IsNaN(a), a, bounded));
  }
};

template <class T>
KernelInfo find_in(Opcode row) {
  switch (row) {
    case op::exp2: return unary_kernel<T, Exp2Op>();
    case op::expm1: return unary_kernel<T, Expm1Op>();
    case op::log2: return unary_kernel<T, Log2Op>();
    case op::log10: return unary_kernel<T, Log10Op>();
    case op::log1p: return unary_kernel<T, WideLog1pOp>();
    case op::cbrt: return unary_kernel<T, CbrtOp>();
    case op::sin: return unary_kernel<T, SinOp>();
    case op::cos: return unary_kernel<T, CosOp>();
    case op::tan: return unary_kernel<T, TanOp>();
    case op::arcsin: return unary_kernel<T, ArcsinOp>();
    case op::arccos: return unary_kernel<T, ArccosOp>();
    case op::arctan: return unary_kernel<T, ArctanOp>();
    case op::sinh: return unary_kernel<T, WideHyperbolicOp<SinhOp>>();
    case op::cosh: return unary_kernel<T, WideHyperbolicOp<CoshOp>>();
    case op::tanh: return unary_kernel<T, BoundedTanhOp>();
    case op::arcsinh: return unary_kernel<T, WideInverseOp<ArcsinhOp>>();
    case op::arccosh: return unary_kernel<T, WideInverseOp<ArccoshOp>>();
    case op::arctanh: return unary_kernel<T, ArctanhOp>();
    case op::power:
    case op::float_power: return binary_kernel<T, WidePowerOp>();
    case op::arctan2: return binary_kernel<T, Arctan2Op>();
    default: return {};
  }
}

}  // namespace

KernelInfo find_math_sleef(Opcode row, DType dtype) {
  if (dtype == DType::kFloat32) return find_in<float>(row);
  if (dtype == DType::kFloat64) return find_in<double>(row);
  return {};
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_math_sleef);
KernelInfo find_math_sleef_kernel(Opcode row, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_math_sleef)(row, dtype); }
}  // namespace tilewise::ops::simd
#endif
