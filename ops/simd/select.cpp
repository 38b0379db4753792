// where: one of two values by a bool, by item size (bits are copied as they are).
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/select.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

template <class T>
void where(const Call& c, int64_t count) {
  const Full<T> d;
  const size_t n = hn::Lanes(d), step_m = c.step[0] * n, step_a = c.step[1] * n, step_b = c.step[2] * n;
  const uint8_t* mask = operand<uint8_t>(c, 0);
  const T *a = operand<T>(c, 1), *b = operand<T>(c, 2);
  T* out = result<T>(c);
  for (T* end = out + count; out < end; out += n, mask += step_m, a += step_a, b += step_b)
    hn::StoreU(hn::IfThenElse(load_mask(d, mask), hn::LoadU(d, a), hn::LoadU(d, b)), d, out);
}

// 16-byte items are two lanes each: the masks of a vector of lanes are spread over two vectors.
void where16(const Call& c, int64_t count) {
  const Full<uint64_t> d;
  const hn::Rebind<uint8_t, Full<uint64_t>> d8;
  const hn::Rebind<uint32_t, Full<uint64_t>> d32;
  const size_t n = hn::Lanes(d), step_m = c.step[0] * n, step_a = c.step[1] * n, step_b = c.step[2] * n;
  uint64_t low_index[hn::MaxLanes(d)], high_index[hn::MaxLanes(d)];
  for (size_t i = 0; i < n; ++i) {
    low_index[i] = i / 2;
    high_index[i] = (n + i) / 2;
  }
  const auto low = hn::SetTableIndices(d, low_index), high = hn::SetTableIndices(d, high_index);
  const uint8_t* mask = operand<uint8_t>(c, 0);
  const uint64_t *a = operand<uint64_t>(c, 1), *b = operand<uint64_t>(c, 2);
  uint64_t* out = result<uint64_t>(c);
  for (uint64_t* end = out + 2 * count; out < end; out += 2 * n, mask += step_m, a += 2 * step_a, b += 2 * step_b) {
    const auto wide = hn::PromoteTo(d, hn::PromoteTo(d32, hn::LoadU(d8, mask)));
    const auto m0 = hn::Ne(hn::TableLookupLanes(wide, low), hn::Zero(d));
    const auto m1 = hn::Ne(hn::TableLookupLanes(wide, high), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(m0, hn::LoadU(d, a), hn::LoadU(d, b)), d, out);
    hn::StoreU(hn::IfThenElse(m1, hn::LoadU(d, a + step_a), hn::LoadU(d, b + step_b)), d, out + n);
  }
}

}  // namespace

KernelInfo find_select(Opcode row, DType dtype) {
  if (row != op::where) return {};
  switch (dtype) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUInt8: return kernel<uint8_t>(&where<uint8_t>);
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kFloat16: return kernel<uint16_t>(&where<uint16_t>);
    case DType::kInt32:
    case DType::kUInt32:
    case DType::kFloat32: return kernel<uint32_t>(&where<uint32_t>);
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kComplex64:
    case DType::kFloat64: return kernel<uint64_t>(&where<uint64_t>);
    case DType::kComplex128: return kernel<uint64_t>(&where16);
    case DType::kVoid: break;
  }
  return {};
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_select);
KernelInfo find_select_kernel(Opcode row, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_select)(row, dtype); }
}  // namespace tilewise::ops::simd
#endif
