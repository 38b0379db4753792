// Casts that need no more than C++'s conversion: between integers, bools and floats, where the result is defined for
// every value. The compiler vectorises the loops for each instruction set. Float to integer is elsewhere.
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/cast.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

// Bools in arrays are any byte; everything but 0 is true.
struct Bool {
  uint8_t byte;
};

template <class To, class From>
HWY_INLINE To convert_one(From v) {
  if constexpr (std::is_same_v<From, Bool>) return static_cast<To>(v.byte != 0);
  else return static_cast<To>(v);
}

template <class From>
HWY_INLINE Bool to_bool(From v) {
  if constexpr (std::is_same_v<From, Bool>) return Bool{static_cast<uint8_t>(v.byte != 0)};
  else return Bool{static_cast<uint8_t>(v != From(0))};
}

template <class From, class To>
void cast_loop(const Call& c, int64_t count) {
  const From* __restrict a = reinterpret_cast<const From*>(c.in[0]);
  To* __restrict out = reinterpret_cast<To*>(c.out);
  const auto one = [](From v) {
    if constexpr (std::is_same_v<To, Bool>) return to_bool(v);
    else return convert_one<To>(v);
  };
  if (c.step[0]) {
    for (int64_t i = 0; i < count; ++i) out[i] = one(a[i]);
  } else {
    const To v = one(a[0]);
    for (int64_t i = 0; i < count; ++i) out[i] = v;
  }
}

template <class From, class To>
KernelInfo cast_kernel() { return {&cast_loop<From, To>, 16, nullptr, false, false, nullptr}; }

template <class From>
KernelInfo find_from(DType to) {
  constexpr bool from_float = std::is_floating_point_v<From>;
  switch (to) {
    case DType::kBool: return cast_kernel<From, Bool>();
    case DType::kFloat32: return cast_kernel<From, float>();
    case DType::kFloat64: return cast_kernel<From, double>();
    default: break;
  }
  if constexpr (!from_float) {
    switch (to) {
      case DType::kInt8:
      case DType::kUInt8: return cast_kernel<From, uint8_t>();
      case DType::kInt16:
      case DType::kUInt16: return cast_kernel<From, uint16_t>();
      case DType::kInt32:
      case DType::kUInt32: return cast_kernel<From, uint32_t>();
      case DType::kInt64:
      case DType::kUInt64: return cast_kernel<From, uint64_t>();
      default: break;
    }
  }
  return {};
}

}  // namespace

KernelInfo find_cast_loop(DType from, DType to) {
  switch (from) {
    case DType::kBool: return find_from<Bool>(to);
    case DType::kInt8: return find_from<int8_t>(to);
    case DType::kInt16: return find_from<int16_t>(to);
    case DType::kInt32: return find_from<int32_t>(to);
    case DType::kInt64: return find_from<int64_t>(to);
    case DType::kUInt8: return find_from<uint8_t>(to);
    case DType::kUInt16: return find_from<uint16_t>(to);
    case DType::kUInt32: return find_from<uint32_t>(to);
    case DType::kUInt64: return find_from<uint64_t>(to);
    case DType::kFloat32: return find_from<float>(to);
    case DType::kFloat64: return find_from<double>(to);
    default: return {};
  }
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_cast_loop);
KernelInfo find_cast_kernel(DType from, DType to) { return HWY_DYNAMIC_DISPATCH(find_cast_loop)(from, to); }
}  // namespace tilewise::ops::simd
#endif
