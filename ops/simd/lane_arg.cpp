// Passes over values in the first-level cache: where the least or greatest stands, squared deviations for moments, and
// whether there are values that floating-point warnings may be about.
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/lane_arg.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE auto is_nan(V v) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) return hn::IsNaN(v);
  else return hn::Ne(v, v);  // never
}

// A vector of values; of bools, whose bytes may be any but 0 for true, as 0 and 1.
template <class T, class D>
HWY_INLINE hn::Vec<D> values_at(D d, const T* p) {
  if constexpr (std::is_same_v<T, bool>) return hn::Min(hn::LoadU(d, reinterpret_cast<const uint8_t*>(p)), hn::Set(d, 1));
  else return hn::LoadU(d, p);
}
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

// The better of two: NaN, else the smaller (larger); of equal ones either.
template <bool kSmallest>
struct BestOp {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    const auto wins = kSmallest ? hn::Lt(a, b) : hn::Lt(b, a);
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::IfThenElse(hn::Or(wins, hn::IsNaN(a)), a, b);
    else return hn::IfThenElse(wins, a, b);
  }
};

// A value as it takes part in comparisons.
template <class T>
HWY_INLINE Stored<T> value_at(const T* p) {
  Stored<T> v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::is_same_v<T, bool>) v = v != 0;
  return v;
}

// The best of `count` values; the last vector overlaps the one before.
template <class T, bool kSmallest>
HWY_INLINE Stored<T> best_of(const T* v, int64_t count) {
  const Full<Stored<T>> d;
  const int64_t n = static_cast<int64_t>(hn::Lanes(d));
  if (count < n) {
    Stored<T> best = value_at(v);
    for (int64_t i = 1; i < count; ++i) best = join_values<Stored<T>, BestOp<kSmallest>>(best, value_at(v + i));
    return best;
  }
  auto a = values_at(d, v), b = values_at(d, v + count - n), c = a, e = b;
  int64_t i = n;
  for (; i + 4 * n <= count; i += 4 * n) {
    a = BestOp<kSmallest>::apply(d, a, values_at(d, v + i));
    b = BestOp<kSmallest>::apply(d, b, values_at(d, v + i + n));
    c = BestOp<kSmallest>::apply(d, c, values_at(d, v + i + 2 * n));
    e = BestOp<kSmallest>::apply(d, e, values_at(d, v + i + 3 * n));
  }
  for (; i + n <= count; i += n) a = BestOp<kSmallest>::apply(d, a, values_at(d, v + i));
  a = BestOp<kSmallest>::apply(d, BestOp<kSmallest>::apply(d, a, b), BestOp<kSmallest>::apply(d, c, e));
  return fold_vector<BestOp<kSmallest>>(d, a);
}

// The first position of a value equal to `best` (both NaN, where it is one). There is one.
template <class T>
HWY_INLINE int64_t first_of(const T* v, int64_t count, Stored<T> best) {
  const Full<Stored<T>> d;
  const int64_t n = static_cast<int64_t>(hn::Lanes(d));
  const auto wanted = hn::Set(d, best);
  const bool nan = best != best;
  int64_t i = 0;
  for (; i + n <= count; i += n) {
    const auto x = values_at(d, v + i);
    const auto found = nan ? is_nan(x) : hn::Eq(x, wanted);
    const intptr_t at = hn::FindFirstTrue(d, found);
    if (at >= 0) return i + at;
  }
  for (; i < count; ++i) {
    const Stored<T> x = value_at(v + i);
    if (x == best || (nan && x != x)) break;
  }
  return i;
}

template <class T, bool kSmallest>
void arg_block(const void* values, int64_t count, void* best, int64_t* at) {
  const T* v = static_cast<const T*>(values);
  const Stored<T> old = value_at(static_cast<const T*>(best)), b = best_of<T, kSmallest>(v, count);
  const bool known = *at >= 0;
  if (known && (old != old || (b == b && !(kSmallest ? b < old : old < b)))) return;
  *at = first_of(v, count, b);
  const Stored<T> there = value_at(v + *at);  // a zero may have the other sign
  std::memcpy(best, &there, sizeof there);
}

template <class T>
ArgKernel arg_kernel(bool smallest) { return smallest ? &arg_block<T, true> : &arg_block<T, false>; }

// lanes += (values - mean)^2
template <class T>
void deviations(void* lanes, const void* values, int64_t steps, const void* mean, bool first) {
  const Full<T> d;
  constexpr size_t n = hn::MaxLanes(Full<T>());
  constexpr size_t group = n * 8 < kLaneCount ? 8 : kLaneCount / n;
  T m;
  std::memcpy(&m, mean, sizeof m);
  const auto center = hn::Set(d, m);
  T* acc = static_cast<T*>(lanes);
  for (size_t g = 0; g < kLaneCount; g += group * n) {
    const T* v = static_cast<const T*>(values) + g;
    const T* end = v + steps * kLaneCount;
    hn::Vec<Full<T>> a[group];
    for (size_t k = 0; k < group; ++k) {
      const auto x = hn::Sub(hn::LoadU(d, v + k * n), center);
      a[k] = first ? hn::Mul(x, x) : hn::Add(hn::LoadU(d, acc + g + k * n), hn::Mul(x, x));
    }
    for (v += kLaneCount; v < end; v += kLaneCount) {
      _Pragma("GCC unroll 8")
      for (size_t k = 0; k < group; ++k) {
        const auto x = hn::Sub(hn::LoadU(d, v + k * n), center);
        a[k] = hn::Add(a[k], hn::Mul(x, x));
      }
    }
    for (size_t k = 0; k < group; ++k) hn::StoreU(a[k], d, acc + g + k * n);
  }
}

// Exponent bits all ones (or all zeros); the last vector overlaps the one before.
template <class T, int kMantissa>
bool rare(const void* values, int64_t count, bool tiny) {
  const Full<T> d;
  const int64_t n = static_cast<int64_t>(hn::Lanes(d));
  constexpr T kTop = static_cast<T>(static_cast<T>(~T{0}) >> 1 & static_cast<T>(~((T{1} << kMantissa) - 1)));
  const T* v = static_cast<const T*>(values);
  if (count < n) {
    for (int64_t i = 0; i < count; ++i) {
      const T exponent = v[i] & kTop;
      if (exponent == kTop || (tiny && exponent == 0)) return true;
    }
    return false;
  }
  const auto top = hn::Set(d, kTop), other = tiny ? hn::Zero(d) : top;
  auto found = hn::Zero(d);
  const auto look = [&](int64_t i) HWY_ATTR {
    const auto exponent = hn::And(hn::LoadU(d, v + i), top);
    found = hn::Or(found, hn::VecFromMask(d, hn::Or(hn::Eq(exponent, top), hn::Eq(exponent, other))));
  };
  for (int64_t i = 0; i + n <= count; i += n) look(i);
  look(count - n);
  return !hn::AllTrue(d, hn::Eq(found, hn::Zero(d)));
}

}  // namespace

RareKernel find_rare(int itemsize) {
  return itemsize == 2 ? &rare<uint16_t, 10> : itemsize == 4 ? &rare<uint32_t, 23> : &rare<uint64_t, 52>;
}

ArgKernel find_arg(DType dtype, bool smallest) {
  switch (dtype) {
    case DType::kBool: return arg_kernel<bool>(smallest);
    case DType::kInt8: return arg_kernel<int8_t>(smallest);
    case DType::kInt16: return arg_kernel<int16_t>(smallest);
    case DType::kUInt8: return arg_kernel<uint8_t>(smallest);
    case DType::kUInt16: return arg_kernel<uint16_t>(smallest);
    case DType::kUInt32: return arg_kernel<uint32_t>(smallest);
    case DType::kUInt64: return arg_kernel<uint64_t>(smallest);
    case DType::kInt32: return arg_kernel<int32_t>(smallest);
    case DType::kInt64: return arg_kernel<int64_t>(smallest);
    case DType::kFloat32: return arg_kernel<float>(smallest);
    case DType::kFloat64: return arg_kernel<double>(smallest);
    default: return nullptr;
  }
}

DeviationKernel find_deviations(DType dtype) {
  if (dtype == DType::kFloat32) return &deviations<float>;
  if (dtype == DType::kFloat64) return &deviations<double>;
  return nullptr;
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_arg);
HWY_EXPORT(find_deviations);
HWY_EXPORT(find_rare);
RareKernel find_rare_kernel(int itemsize) { return HWY_DYNAMIC_DISPATCH(find_rare)(itemsize); }
ArgKernel find_arg_kernel(DType dtype, bool smallest) { return HWY_DYNAMIC_DISPATCH(find_arg)(dtype, smallest); }
DeviationKernel find_deviation_kernel(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_deviations)(dtype); }
}  // namespace tilewise::ops::simd
#endif
