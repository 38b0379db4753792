// Arithmetic of float32 and float64: the rows that are exact, bit for bit NumPy's.
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/arith_float.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

TW_OP2(AddOp, hn::Add(a, b))
TW_OP2(SubtractOp, hn::Sub(a, b))
TW_OP2(MultiplyOp, hn::Mul(a, b))
TW_OP2(DivideOp, hn::Div(a, b))
TW_OP1(NegativeOp, hn::Neg(a))
TW_OP1(PositiveOp, a)
TW_OP1(AbsoluteOp, hn::Abs(a))
TW_OP1(SqrtOp, hn::Sqrt(a))
TW_OP1(SquareOp, hn::Mul(a, a))
// A NaN wins; of equal values (signed zeros) the second.
TW_OP2(MaximumOp, hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b))
TW_OP2(MinimumOp, hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b))

template <class T>
KernelInfo find_in(Opcode row) {
  switch (row) {
    case op::add: return binary_kernel<T, AddOp>();
    case op::subtract: return binary_kernel<T, SubtractOp>();
    case op::multiply: return binary_kernel<T, MultiplyOp>();
    case op::divide: return binary_kernel<T, DivideOp>();
    case op::negative: return unary_kernel<T, NegativeOp>();
    case op::positive: return unary_kernel<T, PositiveOp>();
    case op::absolute: return unary_kernel<T, AbsoluteOp>();
    case op::sqrt: return unary_kernel<T, SqrtOp>();
    case op::square: return unary_kernel<T, SquareOp>();
    case op::maximum: return binary_kernel<T, MaximumOp>();
    case op::minimum: return binary_kernel<T, MinimumOp>();
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
