#include "ops/simd/gemm_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/gemm_tiles.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "runtime/base/error.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Registers for sums: most of the 32 of AVX-512 and NEON, of the 16 of the others.
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr int kRows = kManyRegisters ? 14 : 6;
constexpr int kComplexRows = kManyRegisters ? 6 : 2;
constexpr int kVectors = 2;
constexpr int64_t kAhead = 64, kStream = 32;  // positions

template <class T, class V>
HWY_INLINE V multiply_add(V a, V b, V sum) {
  if constexpr (std::is_floating_point_v<T>) return hn::MulAdd(a, b, sum);
  else return hn::Add(sum, hn::Mul(a, b));
}

template <class T, int kHeight>
void real_tile(int64_t depth, const void* a_panel, const void* b_panel, void* c_tile, int64_t ldc, bool accumulate) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const T* HWY_RESTRICT a = static_cast<const T*>(a_panel);
  const T* HWY_RESTRICT b = static_cast<const T*>(b_panel);
  T* HWY_RESTRICT c = static_cast<T*>(c_tile);
  V sum[kHeight][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kHeight; ++i) {
    for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  }
  // The result's lines are asked for a little before the end: earlier they would be driven out by the panels.
  const int64_t before = std::max<int64_t>(depth - kAhead, 0);
  for (int64_t from = 0, to = before; from < depth; from = to, to = depth) {
    for (int64_t k = from; k < to; ++k) {
      const V b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + kLanes);
      __builtin_prefetch(b + kStream * kVectors * kLanes);  // the panel of B comes from the second-level cache
      __builtin_prefetch(b + (kStream * kVectors + 1) * kLanes);
      b += kVectors * kLanes;
#pragma GCC unroll 16
      for (int i = 0; i < kHeight; ++i) {
        const V left = hn::Set(d, a[i]);
        sum[i][0] = multiply_add<T>(left, b0, sum[i][0]);
        sum[i][1] = multiply_add<T>(left, b1, sum[i][1]);
      }
      a += kHeight;
    }
    if (to == before) {
#pragma GCC unroll 16
      for (int i = 0; i < kHeight; ++i) {
        __builtin_prefetch(c + i * ldc, 1);
        __builtin_prefetch(c + i * ldc + kVectors * kLanes - 1, 1);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kHeight; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      T* to = c + i * ldc + j * kLanes;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, to), sum[i][j]) : sum[i][j], d, to);
    }
  }
}

template <class T, int kHeight>
void complex_tile(int64_t depth, const void* a_panel, const void* b_panel, void* c_tile, int64_t ldc, bool accumulate) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const T* HWY_RESTRICT a = static_cast<const T*>(a_panel);
  const T* HWY_RESTRICT b = static_cast<const T*>(b_panel);
  V real[kHeight][kVectors], imag[kHeight][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kHeight; ++i) {
    for (int j = 0; j < kVectors; ++j) real[i][j] = imag[i][j] = hn::Zero(d);
  }
  for (int64_t k = 0; k < depth; ++k) {
    V br[kVectors], bi[kVectors];
    for (int j = 0; j < kVectors; ++j) {
      br[j] = hn::LoadU(d, b + j * kLanes);
      bi[j] = hn::LoadU(d, b + (kVectors + j) * kLanes);
    }
    b += 2 * kVectors * kLanes;
#pragma GCC unroll 16
    for (int i = 0; i < kHeight; ++i) {
      const V ar = hn::Set(d, a[i]), ai = hn::Set(d, a[kHeight + i]);
      for (int j = 0; j < kVectors; ++j) {
        real[i][j] = hn::NegMulAdd(ai, bi[j], hn::MulAdd(ar, br[j], real[i][j]));
        imag[i][j] = hn::MulAdd(ai, br[j], hn::MulAdd(ar, bi[j], imag[i][j]));
      }
    }
    a += 2 * kHeight;
  }
  T* HWY_RESTRICT c = static_cast<T*>(c_tile);
#pragma GCC unroll 16
  for (int i = 0; i < kHeight; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      T* to = c + 2 * (i * ldc + j * kLanes);
      V re = real[i][j], im = imag[i][j];
      if (accumulate) {
        V old_re, old_im;
        hn::LoadInterleaved2(d, to, old_re, old_im);
        re = hn::Add(old_re, re);
        im = hn::Add(old_im, im);
      }
      hn::StoreInterleaved2(re, im, d, to);
    }
  }
}

template <class T>
GemmTiles real_tiles() {
  GemmTiles tiles;
  tiles.rows = kRows;
  tiles.columns = static_cast<int>(kVectors * hn::MaxLanes(hn::ScalableTag<T>()));
  tiles.tile[1] = real_tile<T, 1>;
  tiles.tile[2] = real_tile<T, 2>;
  tiles.tile[4] = real_tile<T, 4>;
  if constexpr (kManyRegisters) tiles.tile[7] = real_tile<T, 7>;
  if constexpr (kManyRegisters) tiles.tile[10] = real_tile<T, 10>;
  tiles.tile[kRows] = real_tile<T, kRows>;
  return tiles;
}

template <class T>
GemmTiles complex_tiles() {
  GemmTiles tiles;
  tiles.rows = kComplexRows;
  tiles.columns = static_cast<int>(kVectors * hn::MaxLanes(hn::ScalableTag<T>()));
  tiles.tile[1] = complex_tile<T, 1>;
  tiles.tile[2] = complex_tile<T, 2>;
  if constexpr (kManyRegisters) tiles.tile[4] = complex_tile<T, 4>;
  tiles.tile[kComplexRows] = complex_tile<T, kComplexRows>;
  return tiles;
}

template <class T, int kCount>
void dot_rows(int64_t depth, const char* a, int64_t row, const char* x, int64_t x_row, void* sums) {
  const hn::CappedTag<T, 1> d;  // chains of one row cannot share a register, so eight run side by side
  hn::Vec<decltype(d)> sum[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) sum[i] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k) {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      const auto left = hn::LoadU(d, reinterpret_cast<const T*>(a + i * row) + k);
      sum[i] = multiply_add<T>(left, hn::LoadU(d, reinterpret_cast<const T*>(x + i * x_row) + k), sum[i]);
    }
  }
  for (int i = 0; i < kCount; ++i) hn::StoreU(sum[i], d, static_cast<T*>(sums) + i);
}

template <class T>
void gemv_rows(int64_t depth, const char* a, int64_t row, const char* x, int64_t x_row, int count, void* sums) {
  if (count == GemvKernels::kRows) return dot_rows<T, GemvKernels::kRows>(depth, a, row, x, x_row, sums);
  for (int i = 0; i < count; ++i)
    dot_rows<T, 1>(depth, a + i * row, row, x + i * x_row, x_row, static_cast<T*>(sums) + i);
}

template <class T, class D, int kCount>
void add_scaled(D d, int64_t depth, const char* a, int64_t position, const T* x, T* sums) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  hn::Vec<D> sum[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) sum[i] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k) {
    const T* from = reinterpret_cast<const T*>(a + k * position);
    const hn::Vec<D> factor = hn::Set(d, x[k]);
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      // One lane leaves others of the register: those may not meet an infinite factor with a zero.
      const hn::Vec<D> left = kLanes == 1 ? hn::Set(d, from[i]) : hn::LoadU(d, from + i * kLanes);
      sum[i] = multiply_add<T>(left, factor, sum[i]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) hn::StoreU(sum[i], d, sums + i * kLanes);
}

template <class T>
void gemv_lanes(int64_t depth, const char* a, int64_t position, const char* x, int64_t count, void* sums) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const T* factors = reinterpret_cast<const T*>(x);
  T* to = static_cast<T*>(sums);
  int64_t i = 0;
  for (; i + 8 * kLanes <= count; i += 8 * kLanes)
    add_scaled<T, decltype(d), 8>(d, depth, a + i * sizeof(T), position, factors, to + i);
  for (; i + kLanes <= count; i += kLanes)
    add_scaled<T, decltype(d), 1>(d, depth, a + i * sizeof(T), position, factors, to + i);
  for (; i < count; ++i)
    add_scaled<T, decltype(one), 1>(one, depth, a + i * sizeof(T), position, factors, to + i);
}

template <class T>
GemvKernels make_gemv() {
  GemvKernels kernels;
  kernels.rows = gemv_rows<T>;
  kernels.lanes = gemv_lanes<T>;
  return kernels;
}

}  // namespace

GemvKernels make_gemv_kernels(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return make_gemv<float>();
    case DType::kFloat64: return make_gemv<double>();
    case DType::kInt32: return make_gemv<int32_t>();
    default: return make_gemv<int64_t>();
  }
}

GemmTiles make_gemm_tiles(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return real_tiles<float>();
    case DType::kFloat64: return real_tiles<double>();
    case DType::kComplex64: return complex_tiles<float>();
    case DType::kComplex128: return complex_tiles<double>();
    case DType::kInt32: return real_tiles<int32_t>();
    default: return real_tiles<int64_t>();
  }
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {

HWY_EXPORT(make_gemm_tiles);
HWY_EXPORT(make_gemv_kernels);

const GemvKernels& gemv_kernels(DType dtype) {
  static const DType kinds[] = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64};
  static const auto table = [] {
    struct Table { GemvKernels of[4]; } made;
    for (int i = 0; i < 4; ++i) made.of[i] = HWY_DYNAMIC_DISPATCH(make_gemv_kernels)(kinds[i]);
    return made;
  }();
  for (int i = 0; i < 4; ++i)
    if (kinds[i] == dtype) return table.of[i];
  TW_CHECK(false, "no products with a vector of ", name(dtype));
}

const GemmTiles& gemm_tiles(DType dtype) {
  static const DType kinds[] = {DType::kFloat32,    DType::kFloat64, DType::kComplex64,
                                DType::kComplex128, DType::kInt32,   DType::kInt64};
  static const auto table = [] {
    struct Table { GemmTiles of[6]; } made;
    for (int i = 0; i < 6; ++i) made.of[i] = HWY_DYNAMIC_DISPATCH(make_gemm_tiles)(kinds[i]);
    return made;
  }();
  for (int i = 0; i < 6; ++i)
    if (kinds[i] == dtype) return table.of[i];
  TW_CHECK(false, "no matrix tiles of ", name(dtype));
}

}  // namespace tilewise::ops::simd
#endif
