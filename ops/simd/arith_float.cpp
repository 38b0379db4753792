// Arithmetic of float32 and float64: the rows that are exact, bit for bit NumPy's.
#include <numbers>

#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/arith_float.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/arith-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

TW_OP2(DivideOp, hn::Div(a, b))
TW_OP1(NegativeOp, hn::Neg(a))
TW_OP1(PositiveOp, a)
TW_OP1(AbsoluteOp, hn::Abs(a))
TW_OP1(SqrtOp, hn::Sqrt(a))
TW_OP1(SquareOp, hn::Mul(a, a))
// A NaN wins; of equal values (signed zeros) the second.
TW_OP2(MaximumOp, hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b))
TW_OP2(MinimumOp, hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b))

TW_OP2(FmaxOp, hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(b)), a, b))
TW_OP2(FminOp, hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(b)), a, b))
TW_OP3(ClipOp, MinimumOp::apply(d, MaximumOp::apply(d, a, b), c))
TW_OP1(ReciprocalOp, hn::Div(hn::Set(d, 1), a))
TW_OP1(FloorOp, hn::Floor(a))
TW_OP1(CeilOp, hn::Ceil(a))
TW_OP1(TruncOp, hn::Trunc(a))
TW_OP1(RintOp, hn::Round(a))
TW_OP2(CopysignOp, hn::CopySign(a, b))
struct SignOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    const V zero = hn::Zero(d), one = hn::Set(d, 1);
    const V sign = hn::IfThenElse(hn::Gt(a, zero), one, hn::IfThenElse(hn::Lt(a, zero), hn::Neg(one), zero));
    return hn::IfThenElse(hn::IsNaN(a), a, sign);
  }
};
struct Deg2radOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    using T = hn::TFromD<D>;
    return hn::Mul(a, hn::Set(d, std::numbers::pi_v<T> / T(180)));
  }
};
struct Rad2degOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    using T = hn::TFromD<D>;
    return hn::Mul(a, hn::Set(d, T(180) / std::numbers::pi_v<T>));
  }
};

template <class T>
KernelInfo multiply_kernel() {
  KernelInfo info = cheap_binary_kernel<T, MultiplyOp>();
#if HWY_ARCH_X86
  if constexpr (sizeof(T) == 4) info.careful = &cheap_binary<T, CarefulMultiplyOp>;
#endif
  return info;
}
template <class T>
KernelInfo divide_kernel() {
  KernelInfo info = binary_kernel<T, DivideOp>();
#if HWY_ARCH_X86
  if constexpr (sizeof(T) == 4) info.careful = &binary<T, InDouble<DivideOp>>;
#endif
  return info;
}

template <class T>
KernelInfo find_in(Opcode row) {
  switch (row) {
    case op::fabs: return cheap_unary_kernel<T, AbsoluteOp>();
    case op::fmax: return binary_kernel<T, FmaxOp>();
    case op::fmin: return binary_kernel<T, FminOp>();
    case op::clip: return ternary_kernel<T, ClipOp>();
    case op::reciprocal: return unary_kernel<T, ReciprocalOp>();
    case op::floor: return unary_kernel<T, FloorOp>();
    case op::ceil: return unary_kernel<T, CeilOp>();
    case op::trunc: return unary_kernel<T, TruncOp>();
    case op::rint: return unary_kernel<T, RintOp>();
    case op::copysign: return binary_kernel<T, CopysignOp>();
    case op::sign: return unary_kernel<T, SignOp>();
    case op::conjugate: return unary_kernel<T, PositiveOp>();
    case op::deg2rad: return unary_kernel<T, Deg2radOp>();
    case op::rad2deg: return unary_kernel<T, Rad2degOp>();
    case op::add: return cheap_binary_kernel<T, AddOp>();
    case op::subtract: return cheap_binary_kernel<T, SubtractOp>();
    case op::multiply: return multiply_kernel<T>();
    case op::divide: return divide_kernel<T>();
    case op::negative: return cheap_unary_kernel<T, NegativeOp>();
    case op::positive: return unary_kernel<T, PositiveOp>();
    case op::absolute: return cheap_unary_kernel<T, AbsoluteOp>();
    case op::sqrt: return unary_kernel<T, SqrtOp>();
    case op::square: return cheap_unary_kernel<T, SquareOp>();
    case op::maximum: return cheap_binary_kernel<T, MaximumOp>();
    case op::minimum: return cheap_binary_kernel<T, MinimumOp>();
    default: return {};
  }
}

}  // namespace

KernelInfo find_arith_float(Opcode row, DType dtype) {
  if (dtype == DType::kFloat32) return find_in<float>(row);
  if (dtype == DType::kFloat64) return find_in<double>(row);
  return {};
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_arith_float);
KernelInfo find_arith_float_kernel(Opcode row, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_arith_float)(row, dtype); }
}  // namespace tilewise::ops::simd
#endif
