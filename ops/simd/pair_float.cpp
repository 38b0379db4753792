// Two operations of float32 or float64 in one pass: a sum, difference or product of which one operand is itself one.
// What the first makes stays in a vector register instead of going through memory. Each is rounded by itself.
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/pair_float.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/arith-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

// x86 stalls at subnormal numbers in products only.
template <class T, class Op>
struct Careful {
  using type = Op;
};
template <>
struct Careful<float, MultiplyOp> {
  using type = CarefulMultiplyOp;
};

template <class Inner, class Outer, bool kSecond>
struct PairOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V c) {
    const V first = Inner::apply(d, a, b);
    if constexpr (kSecond) return Outer::apply(d, c, first);
    else return Outer::apply(d, first, c);
  }
};

template <class T, class Inner, class Outer, bool kSecond>
KernelInfo pair_kernel() {
  KernelInfo info = ternary_kernel<T, PairOp<Inner, Outer, kSecond>>();
#if HWY_ARCH_X86
  using CarefulInner = typename Careful<T, Inner>::type;
  using CarefulOuter = typename Careful<T, Outer>::type;
  if constexpr (!std::is_same_v<Inner, CarefulInner> || !std::is_same_v<Outer, CarefulOuter>)
    info.careful = &ternary<T, PairOp<CarefulInner, CarefulOuter, kSecond>>;
#endif
  return info;
}

template <class T, class Inner, bool kSecond>
KernelInfo find_outer(Opcode outer) {
  switch (outer) {
    case op::add: return pair_kernel<T, Inner, AddOp, kSecond>();
    case op::subtract: return pair_kernel<T, Inner, SubtractOp, kSecond>();
    case op::multiply: return pair_kernel<T, Inner, MultiplyOp, kSecond>();
    default: return {};
  }
}

template <class T, bool kSecond>
KernelInfo find_in(Opcode outer, Opcode inner) {
  switch (inner) {
    case op::add: return find_outer<T, AddOp, kSecond>(outer);
    case op::subtract: return find_outer<T, SubtractOp, kSecond>(outer);
    case op::square:
    case op::multiply: return find_outer<T, MultiplyOp, kSecond>(outer);
    default: return {};
  }
}

}  // namespace

KernelInfo find_pair(Opcode outer, Opcode inner, bool second, DType dtype) {
  if (dtype == DType::kFloat32) return second ? find_in<float, true>(outer, inner) : find_in<float, false>(outer, inner);
  if (dtype == DType::kFloat64) return second ? find_in<double, true>(outer, inner) : find_in<double, false>(outer, inner);
  return {};
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_pair);
KernelInfo find_pair_kernel(Opcode outer, Opcode inner, bool second, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_pair)(outer, inner, second, dtype);
}
}  // namespace tilewise::ops::simd
#endif
