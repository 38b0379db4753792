// Reductions over the innermost axis for float32 and float64: add, multiply, minimum, maximum on 128 lanes that stay in
// vector registers for a block.
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/lane_float.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

TW_OP2(AddOp, hn::Add(a, b))
TW_OP2(MultiplyOp, hn::Mul(a, b))
TW_OP2(MaximumOp, hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b))
TW_OP2(MinimumOp, hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b))

template <class T>
LaneKernel find_in(Opcode row) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  switch (row) {
    case op::add: return lane_kernel<T, AddOp>(T(-0.0));
    case op::multiply: return lane_kernel<T, MultiplyOp>(T(1));
    case op::maximum: return lane_kernel<T, MaximumOp>(-infinity);
    case op::minimum: return lane_kernel<T, MinimumOp>(infinity);
    default: return {};
  }
}

}  // namespace

LaneKernel find_lane_float(Opcode row, DType dtype) {
  if (dtype == DType::kFloat32) return find_in<float>(row);
  if (dtype == DType::kFloat64) return find_in<double>(row);
  return {};
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_lane_float);
LaneKernel find_lane_float_kernel(Opcode row, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_lane_float)(row, dtype); }
}  // namespace tilewise::ops::simd
#endif
