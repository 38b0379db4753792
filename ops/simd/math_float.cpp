// exp, log, hypot and float32's power: our own.
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/math_float.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

KernelInfo find_math_float(Opcode row, DType dtype) {
  const bool single = dtype == DType::kFloat32;
  if (!single && dtype != DType::kFloat64) return {};
  switch (row) {
    case op::exp: return single ? unary_kernel<float, ExpOp>() : unary_kernel<double, ExpOp>();
    case op::log: return single ? unary_kernel<float, LogOp>() : unary_kernel<double, LogOp>();
    case op::power: return single ? binary_kernel<float, PowerFloatOp>() : KernelInfo{};
    case op::hypot: return single ? binary_kernel<float, HypotOp>() : binary_kernel<double, HypotOp>();
    default: return {};
  }
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_math_float);
KernelInfo find_math_float_kernel(Opcode row, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_math_float)(row, dtype); }
}  // namespace tilewise::ops::simd
#endif
