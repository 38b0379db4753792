// Loops over scalar operations that the compiler vectorises for each instruction set: integers and casts, where plain
// C++ says what is meant. An operation is a type with a static `apply(a, b)` on scalars.
#if defined(TW_SIMD_SCALAR_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TW_SIMD_SCALAR_LOOPS_INL_H
#undef TW_SIMD_SCALAR_LOOPS_INL_H
#else
#define TW_SIMD_SCALAR_LOOPS_INL_H
#endif

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

// The result may lie exactly over an operand, which the compiler need not fear: no element depends on another.
template <class T, class R, class Op>
void scalar_unary(const Call& c, int64_t count) {
  const T* a = operand<T>(c, 0);
  R* out = result<R>(c);
  if (c.step[0]) {
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < count; ++i) out[i] = Op::apply(a[i]);
  } else {
    const R v = Op::apply(a[0]);
    for (int64_t i = 0; i < count; ++i) out[i] = v;
  }
}

template <class T, class R, class Op>
void scalar_binary(const Call& c, int64_t count) {
  const T *a = operand<T>(c, 0), *b = operand<T>(c, 1);
  R* out = result<R>(c);
  if (c.step[0] && c.step[1]) {
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < count; ++i) out[i] = Op::apply(a[i], b[i]);
  } else if (c.step[0]) {
    const T v = b[0];
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < count; ++i) out[i] = Op::apply(a[i], v);
  } else if (c.step[1]) {
    const T v = a[0];
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < count; ++i) out[i] = Op::apply(v, b[i]);
  } else {
    const R v = Op::apply(a[0], b[0]);
    for (int64_t i = 0; i < count; ++i) out[i] = v;
  }
}

inline constexpr int kScalarQuantum = 16;

template <class T, class Op, class R = T>
KernelInfo scalar_unary_kernel() { return {&scalar_unary<T, R, Op>, kScalarQuantum, nullptr, false, false, nullptr}; }
template <class T, class Op, class R = T>
KernelInfo scalar_binary_kernel() { return {&scalar_binary<T, R, Op>, kScalarQuantum, nullptr, false, false, nullptr}; }

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
