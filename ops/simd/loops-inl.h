// Loops over a block for kernels of one, two and three operands, as templates over the operation on vectors.
//
// Compiled once for each instruction set (Highway's foreach_target). An operation is a type with a static `apply(d, a,
// ...)`. A scalar operand is read again from its one vector, which costs nothing beside the store.
#if defined(TW_SIMD_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TW_SIMD_LOOPS_INL_H
#undef TW_SIMD_LOOPS_INL_H
#else
#define TW_SIMD_LOOPS_INL_H
#endif

#include <hwy/highway.h>

#include "ops/simd/kernel.h"

// An operation on vectors as a type, from an expression of a, b, c over the tag d.
#ifndef TW_OP2
#define TW_OP1(name, ...)                                                     \
  struct name {                                                               \
    template <class D, class V>                                               \
    static HWY_INLINE V apply([[maybe_unused]] D d, V a) {                    \
      return __VA_ARGS__;                                                     \
    }                                                                         \
  };
#define TW_OP2(name, ...)                                                     \
  struct name {                                                               \
    template <class D, class V>                                               \
    static HWY_INLINE V apply([[maybe_unused]] D d, V a, V b) {               \
      return __VA_ARGS__;                                                     \
    }                                                                         \
  };
#define TW_OP3(name, ...)                                                     \
  struct name {                                                               \
    template <class D, class V>                                               \
    static HWY_INLINE V apply([[maybe_unused]] D d, V a, V b, V c) {          \
      return __VA_ARGS__;                                                     \
    }                                                                         \
  };
#endif

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Full = hn::ScalableTag<T>;

template <class T>
HWY_INLINE const T* operand(const Call& c, int k) { return reinterpret_cast<const T*>(c.in[k]); }
template <class T>
HWY_INLINE T* result(const Call& c) { return reinterpret_cast<T*>(c.out); }

// What a kernel fetches beside its work: a vector's worth of Call::ahead a turn.
class Ahead {
 public:
  Ahead(const Call& c, size_t step) : at_(c.ahead ? c.ahead : c.out), step_(c.ahead ? step : 0) {}
  HWY_INLINE void fetch() {
    __builtin_prefetch(at_, 0, 2);
    at_ += step_;
  }

 private:
  const char* at_;
  size_t step_;
};

template <class T, class Op>
void unary(const Call& c, int64_t count) {
  const Full<T> d;
  const size_t n = hn::Lanes(d), step = c.step[0] * n;
  const T* a = operand<T>(c, 0);
  T* out = result<T>(c);
  Ahead ahead(c, n * sizeof(T));
  for (T* end = out + count; out < end; out += n, a += step) {
    ahead.fetch();
    hn::StoreU(Op::apply(d, hn::LoadU(d, a)), d, out);
  }
}

template <class T, class Op>
void binary(const Call& c, int64_t count) {
  const Full<T> d;
  const size_t n = hn::Lanes(d), step_a = c.step[0] * n, step_b = c.step[1] * n;
  const T* a = operand<T>(c, 0);
  const T* b = operand<T>(c, 1);
  T* out = result<T>(c);
  Ahead ahead(c, n * sizeof(T));
  for (T* end = out + count; out < end; out += n, a += step_a, b += step_b) {
    ahead.fetch();
    hn::StoreU(Op::apply(d, hn::LoadU(d, a), hn::LoadU(d, b)), d, out);
  }
}

// Cheap operations are bound by the loop itself: four vectors a turn, and scalars stay in registers.
template <class T, class Get>
HWY_INLINE void four_at_a_time(T* out, int64_t count, const Get& get) {
  const Full<T> d;
  const int64_t n = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    const auto v0 = get(i), v1 = get(i + n), v2 = get(i + 2 * n), v3 = get(i + 3 * n);
    hn::StoreU(v0, d, out + i);
    hn::StoreU(v1, d, out + i + n);
    hn::StoreU(v2, d, out + i + 2 * n);
    hn::StoreU(v3, d, out + i + 3 * n);
  }
  for (; i < count; i += n) hn::StoreU(get(i), d, out + i);
}

template <class T, class Op>
void cheap_unary(const Call& c, int64_t count) {
  const Full<T> d;
  const T* a = operand<T>(c, 0);
  const int64_t step = c.step[0];
  four_at_a_time(result<T>(c), count, [=](int64_t i) HWY_ATTR { return Op::apply(d, hn::LoadU(d, a + i * step)); });
}

template <class T, class Op>
void cheap_binary(const Call& c, int64_t count) {
  const Full<T> d;
  const T *a = operand<T>(c, 0), *b = operand<T>(c, 1);
  const auto x = hn::LoadU(d, a), y = hn::LoadU(d, b);
  T* out = result<T>(c);
  if (c.step[0] && c.step[1])
    four_at_a_time(out, count, [=](int64_t i) HWY_ATTR { return Op::apply(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)); });
  else if (c.step[0])
    four_at_a_time(out, count, [=](int64_t i) HWY_ATTR { return Op::apply(d, hn::LoadU(d, a + i), y); });
  else if (c.step[1])
    four_at_a_time(out, count, [=](int64_t i) HWY_ATTR { return Op::apply(d, x, hn::LoadU(d, b + i)); });
  else
    four_at_a_time(out, count, [=](int64_t) HWY_ATTR { return Op::apply(d, x, y); });
}

template <class T, class Op>
void ternary(const Call& c, int64_t count) {
  const Full<T> d;
  const size_t n = hn::Lanes(d), step_a = c.step[0] * n, step_b = c.step[1] * n, step_c = c.step[2] * n;
  const T *a = operand<T>(c, 0), *b = operand<T>(c, 1), *e = operand<T>(c, 2);
  T* out = result<T>(c);
  for (T* end = out + count; out < end; out += n, a += step_a, b += step_b, e += step_c)
    hn::StoreU(Op::apply(d, hn::LoadU(d, a), hn::LoadU(d, b), hn::LoadU(d, e)), d, out);
}

// Bools are bytes 0 and 1. A mask of T lanes to and from as many bytes.
template <class D>
HWY_INLINE void store_mask(D d, hn::Mask<D> mask, uint8_t* out) {
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> du;
  const auto ones = hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, 1));
  if constexpr (sizeof(T) == 1) {
    hn::StoreU(ones, du, out);
  } else {
    const hn::Rebind<uint8_t, D> d8;
    hn::StoreU(hn::TruncateTo(d8, ones), d8, out);
  }
  (void)d;
}

template <class D>
HWY_INLINE hn::Mask<D> load_mask(D d, const uint8_t* p) {
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> du;
  if constexpr (sizeof(T) == 1) {
    return hn::RebindMask(d, hn::Ne(hn::LoadU(du, p), hn::Zero(du)));
  } else if constexpr (sizeof(T) == 8) {
    const hn::Rebind<uint8_t, D> d8;
    const hn::Rebind<uint32_t, D> d32;
    return hn::RebindMask(d, hn::Ne(hn::PromoteTo(du, hn::PromoteTo(d32, hn::LoadU(d8, p))), hn::Zero(du)));
  } else {
    const hn::Rebind<uint8_t, D> d8;
    return hn::RebindMask(d, hn::Ne(hn::PromoteTo(du, hn::LoadU(d8, p)), hn::Zero(du)));
  }
}

template <class T>
KernelInfo kernel(Kernel fn) {
  KernelInfo info;
  info.fn = fn;
  info.quantum = static_cast<int>(hn::Lanes(Full<T>()));
  return info;
}
template <class T>
KernelInfo fetching_kernel(Kernel fn) {
  KernelInfo info = kernel<T>(fn);
  info.fetches = true;
  return info;
}
template <class T, class Op>
KernelInfo unary_kernel() { return fetching_kernel<T>(&unary<T, Op>); }
template <class T, class Op>
KernelInfo binary_kernel() { return fetching_kernel<T>(&binary<T, Op>); }
template <class T, class Op>
KernelInfo cheap_unary_kernel() { return kernel<T>(&cheap_unary<T, Op>); }
template <class T, class Op>
KernelInfo cheap_binary_kernel() { return kernel<T>(&cheap_binary<T, Op>); }
template <class T, class Op>
KernelInfo ternary_kernel() { return kernel<T>(&ternary<T, Op>); }

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
