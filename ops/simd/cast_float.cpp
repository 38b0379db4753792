// Casts of floats to integers: truncated; what does not fit gives the least integer and the flag "invalid", as NumPy has
// it on x86. Narrow types go through int32. Where an instruction set has no such conversion, the reference loops serve.
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/cast_float.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include <limits>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

// Highway's conversion saturates; the hardware's answer for what does not fit is the least integer.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto truncated(D d, V v) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<hn::RebindToSigned<D>>;
  const V limit = hn::Set(d, static_cast<T>(std::numeric_limits<I>::min()));
  const auto fits = hn::And(hn::Ge(v, limit), hn::Lt(v, hn::Neg(limit)));
  return hn::IfThenElse(hn::RebindMask(di, fits), hn::ConvertTo(di, v), hn::Set(di, std::numeric_limits<I>::min()));
}

template <class To>
void from_float(const Call& c, int64_t count) {
  const Full<float> d;
  const size_t n = hn::Lanes(d), step = c.step[0] * n;
  const float* a = operand<float>(c, 0);
  To* out = result<To>(c);
  for (To* end = out + count; out < end; out += n, a += step) {
    const auto whole = truncated(d, hn::LoadU(d, a));
    if constexpr (sizeof(To) == 4) {
      hn::StoreU(whole, hn::RebindToSigned<Full<float>>(), reinterpret_cast<int32_t*>(out));
    } else {
      const hn::RebindToUnsigned<Full<float>> du;
      const hn::Rebind<To, Full<float>> narrow;
      hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(du, whole)), narrow, out);
    }
  }
}

void int64_from_double(const Call& c, int64_t count) {
  const Full<double> d;
  const size_t n = hn::Lanes(d), step = c.step[0] * n;
  const double* a = operand<double>(c, 0);
  int64_t* out = result<int64_t>(c);
  for (int64_t* end = out + count; out < end; out += n, a += step)
    hn::StoreU(truncated(d, hn::LoadU(d, a)), hn::RebindToSigned<Full<double>>(), out);
}

void int64_from_float(const Call& c, int64_t count) {
  const Full<double> d;
  const hn::Rebind<float, Full<double>> df;
  const size_t n = hn::Lanes(d), step = c.step[0] * n;
  const float* a = operand<float>(c, 0);
  int64_t* out = result<int64_t>(c);
  for (int64_t* end = out + count; out < end; out += n, a += step)
    hn::StoreU(truncated(d, hn::PromoteTo(d, hn::LoadU(df, a))), hn::RebindToSigned<Full<double>>(), out);
}

}  // namespace

KernelInfo find_float_to_int(DType from, DType to) {
  constexpr bool kInt64 = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
  // SSE4 compares with a signal for NaN, which is invalid here anyway.
  if (from == DType::kFloat32) {
    switch (to) {
      case DType::kInt8:
      case DType::kUInt8: return kernel<float>(&from_float<uint8_t>);
      case DType::kInt16:
      case DType::kUInt16: return kernel<float>(&from_float<uint16_t>);
      case DType::kInt32: return kernel<float>(&from_float<int32_t>);
      case DType::kInt64: return kInt64 ? kernel<double>(&int64_from_float) : KernelInfo{};
      default: return {};
    }
  }
  if (from == DType::kFloat64 && to == DType::kInt64 && kInt64) return kernel<double>(&int64_from_double);
  return {};
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_float_to_int);
KernelInfo find_float_to_int_kernel(DType from, DType to) { return HWY_DYNAMIC_DISPATCH(find_float_to_int)(from, to); }
}  // namespace tilewise::ops::simd
#endif
