// SLEEF's functions for the vector types of each instruction set: the finz_ family where there is fma (AVX2, AVX-512 and
// NEON agree in every bit), cinz_ elsewhere. Declared here, since SLEEF's header shows only what the plain compiler flags allow.
#if defined(TW_SIMD_SLEEF_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TW_SIMD_SLEEF_INL_H
#undef TW_SIMD_SLEEF_INL_H
#else
#define TW_SIMD_SLEEF_INL_H
#endif

#include <hwy/highway.h>

#undef TW_SLEEF_F
#undef TW_SLEEF_D
#if HWY_TARGET == HWY_AVX3
#define TW_SLEEF_F(name, bound) Sleef_finz_##name##f16_##bound##avx512f
#define TW_SLEEF_D(name, bound) Sleef_finz_##name##d8_##bound##avx512f
#elif HWY_TARGET == HWY_AVX2
#define TW_SLEEF_F(name, bound) Sleef_finz_##name##f8_##bound##avx2
#define TW_SLEEF_D(name, bound) Sleef_finz_##name##d4_##bound##avx2
#elif HWY_TARGET == HWY_SSE4
#define TW_SLEEF_F(name, bound) Sleef_cinz_##name##f4_##bound##sse4
#define TW_SLEEF_D(name, bound) Sleef_cinz_##name##d2_##bound##sse4
#else
#define TW_SLEEF_F(name, bound) Sleef_finz_##name##f4_##bound##advsimd
#define TW_SLEEF_D(name, bound) Sleef_finz_##name##d2_##bound##advsimd
#endif

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

using RawF = decltype(hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<float>>::raw);
using RawD = decltype(hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<double>>::raw);

// A SLEEF function of one or two operands as an operation of the loops.
#define TW_SLEEF1(Type, name, bound)                                                                       \
  extern "C" RawF TW_SLEEF_F(name, bound)(RawF);                                                           \
  extern "C" RawD TW_SLEEF_D(name, bound)(RawD);                                                           \
  struct Type {                                                                                            \
    template <class D, class V>                                                                            \
    static HWY_INLINE V apply(D, V a) {                                                                    \
      if constexpr (sizeof(hwy::HWY_NAMESPACE::TFromD<D>) == 4) return V{TW_SLEEF_F(name, bound)(a.raw)};  \
      else return V{TW_SLEEF_D(name, bound)(a.raw)};                                                       \
    }                                                                                                      \
  };
#define TW_SLEEF2(Type, name, bound)                                                                              \
  extern "C" RawF TW_SLEEF_F(name, bound)(RawF, RawF);                                                            \
  extern "C" RawD TW_SLEEF_D(name, bound)(RawD, RawD);                                                            \
  struct Type {                                                                                                   \
    template <class D, class V>                                                                                   \
    static HWY_INLINE V apply(D, V a, V b) {                                                                      \
      if constexpr (sizeof(hwy::HWY_NAMESPACE::TFromD<D>) == 4) return V{TW_SLEEF_F(name, bound)(a.raw, b.raw)};  \
      else return V{TW_SLEEF_D(name, bound)(a.raw, b.raw)};                                                       \
    }                                                                                                             \
  };

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
