// Templates for reductions over 128 lanes (partition/tree.h): accumulate, fold, short rows, join. The operation is a
// type with apply(d, a, b), as for the loops; its identity joins without effect, so that absent lanes may hold it.
#if defined(TW_SIMD_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TW_SIMD_LANES_INL_H
#undef TW_SIMD_LANES_INL_H
#else
#define TW_SIMD_LANES_INL_H
#endif

#include <cstring>
#include <limits>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

inline constexpr size_t kLaneCount = 128;

template <class T, class Op>
void lanes_accumulate(void* lanes, const void* values, int64_t steps, bool first) {
  const Full<T> d;
  constexpr size_t n = hn::MaxLanes(Full<T>());
  constexpr size_t group = n * 8 < kLaneCount ? 8 : kLaneCount / n;  // vectors at a time
  T* acc = static_cast<T*>(lanes);
  for (size_t g = 0; g < kLaneCount; g += group * n) {
    const T* v = static_cast<const T*>(values) + g;
    const T* end = v + steps * kLaneCount;
    hn::Vec<Full<T>> a[group];
    for (size_t k = 0; k < group; ++k) a[k] = hn::LoadU(d, (first ? v : acc + g) + k * n);
    if (first) v += kLaneCount;
    for (; v < end; v += kLaneCount) {
      _Pragma("GCC unroll 8")
      for (size_t k = 0; k < group; ++k) a[k] = Op::apply(d, a[k], hn::LoadU(d, v + k * n));
    }
    for (size_t k = 0; k < group; ++k) hn::StoreU(a[k], d, acc + g + k * n);
  }
}

// Lane l joins lane l + n/2, then l + n/4, ... inside one vector.
template <class Op, class D>
HWY_INLINE hn::TFromD<D> fold_vector(D d, hn::Vec<D> v) {
  using T = hn::TFromD<D>;
  constexpr size_t n = hn::MaxLanes(D());
  if constexpr (n * sizeof(T) > 16) {
    const hn::Half<D> half;
    return fold_vector<Op>(half, Op::apply(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else if constexpr (sizeof(T) == 8) {
    return hn::GetLane(Op::apply(d, v, hn::Shuffle01(v)));
  } else if constexpr (sizeof(T) == 4) {
    v = Op::apply(d, v, hn::Shuffle1032(v));
    return hn::GetLane(Op::apply(d, v, hn::Shuffle2301(v)));
  } else {
    alignas(16) T lane[n];
    hn::Store(v, d, lane);
    const hn::CappedTag<T, 1> one;
    for (size_t w = n / 2; w > 0; w /= 2)
      for (size_t l = 0; l < w; ++l)
        lane[l] = hn::GetLane(Op::apply(one, hn::Set(one, lane[l]), hn::Set(one, lane[l + w])));
    return lane[0];
  }
}

// `count` lanes, a power of two and at least a vector.
template <class T, class Op>
HWY_INLINE T fold_lanes(const T* lanes, size_t count) {
  const Full<T> d;
  constexpr size_t n = hn::MaxLanes(Full<T>());
  hn::Vec<Full<T>> a[kLaneCount / 2 / n < 1 ? 1 : kLaneCount / 2 / n];
  if (count == n) return fold_vector<Op>(d, hn::LoadU(d, lanes));
  size_t width = count / 2;
  for (size_t k = 0; k * n < width; ++k)
    a[k] = Op::apply(d, hn::LoadU(d, lanes + k * n), hn::LoadU(d, lanes + width + k * n));
  for (width /= 2; width >= n; width /= 2)
    for (size_t k = 0; k * n < width; ++k) a[k] = Op::apply(d, a[k], a[k + width / n]);
  return fold_vector<Op>(d, a[0]);
}

template <class T, class Op>
void lanes_fold(void* lanes, int64_t, void* state) {
  const T r = fold_lanes<T, Op>(static_cast<const T*>(lanes), kLaneCount);
  std::memcpy(state, &r, sizeof r);
}

template <class T, class Op>
HWY_INLINE T join_values(T a, T b) {
  const hn::CappedTag<T, 1> one;
  return hn::GetLane(Op::apply(one, hn::Set(one, a), hn::Set(one, b)));
}

template <class T, class Op>
void lanes_join(void* into, const void* from) {
  T a, b;
  std::memcpy(&a, into, sizeof a);
  std::memcpy(&b, from, sizeof b);
  a = join_values<T, Op>(a, b);
  std::memcpy(into, &a, sizeof a);
}

template <class T, class Op>
void lanes_rows(const void* values, int64_t rows, int64_t n, void* states) {
  const T* v = static_cast<const T*>(values);
  T* out = static_cast<T*>(states);
  const int64_t vector = static_cast<int64_t>(hn::Lanes(Full<T>()));
  if ((n & (n - 1)) == 0 && n >= vector) {
    for (int64_t r = 0; r < rows; ++r) out[r] = fold_lanes<T, Op>(v + r * n, static_cast<size_t>(n));
    return;
  }
  int64_t top = 1;  // the widest join: lanes l and l + top
  while (2 * top < n) top *= 2;
  T lane[kLaneCount];
  for (int64_t r = 0; r < rows; ++r, v += n) {
    int64_t present = n;
    const T* from = v;
    for (int64_t w = top; w > 0; w /= 2) {
      for (int64_t l = 0; l < w; ++l) lane[l] = l + w < present ? join_values<T, Op>(from[l], from[l + w]) : from[l];
      from = lane;
      present = w;
    }
    out[r] = n == 1 ? v[0] : lane[0];
  }
}

// A column of vectors at a time, which stays in a register over the rows.
template <class T, class Op>
void lanes_runs(void* into, const void* values, int64_t rows, int64_t n) {
  const Full<T> d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  T* acc = static_cast<T*>(into);
  const T* v = static_cast<const T*>(values);
  if (rows == 1) {
    for (int64_t i = 0; i < n; i += step) hn::StoreU(Op::apply(d, hn::LoadU(d, acc + i), hn::LoadU(d, v + i)), d, acc + i);
    return;
  }
  for (int64_t i = 0; i < n; i += step) {
    auto a = hn::LoadU(d, acc + i);
    for (int64_t r = 0; r < rows; ++r) a = Op::apply(d, a, hn::LoadU(d, v + r * n + i));
    hn::StoreU(a, d, acc + i);
  }
}

template <class T, class Op>
LaneKernel lane_kernel(T identity) {
  LaneKernel k;
  k.accumulate = &lanes_accumulate<T, Op>;
  k.fold = &lanes_fold<T, Op>;
  k.rows = &lanes_rows<T, Op>;
  k.join = &lanes_join<T, Op>;
  k.runs = &lanes_runs<T, Op>;
  std::memcpy(k.identity, &identity, sizeof identity);
  return k;
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
