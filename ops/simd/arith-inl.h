// The operations of float32 and float64 that several families are built on. Compiled once for each instruction set.
#if defined(TW_SIMD_ARITH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TW_SIMD_ARITH_INL_H
#undef TW_SIMD_ARITH_INL_H
#else
#define TW_SIMD_ARITH_INL_H
#endif

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

TW_OP2(AddOp, hn::Add(a, b))
TW_OP2(SubtractOp, hn::Sub(a, b))
TW_OP2(MultiplyOp, hn::Mul(a, b))

// The operation in double precision, rounded once more: products are exact there, and quotients nowhere near halfway
// between two results, so the bits are the same. x86 takes a hundred cycles for a vector with a subnormal number, but not here.
template <class Op>
struct InDouble {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const hn::Half<D> half;
    const hn::Rebind<double, hn::Half<D>> wide;
    const auto low = Op::apply(wide, hn::PromoteTo(wide, hn::LowerHalf(half, a)), hn::PromoteTo(wide, hn::LowerHalf(half, b)));
    const auto high = Op::apply(wide, hn::PromoteTo(wide, hn::UpperHalf(half, a)), hn::PromoteTo(wide, hn::UpperHalf(half, b)));
    return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
  }
};

// A product is subnormal only where an operand is small; vectors without such take the plain way.
struct CarefulMultiplyOp {
  template <class D, class V>
  static HWY_INLINE auto small([[maybe_unused]] D d, V a) {
    const hn::RebindToUnsigned<D> du;
    const auto twice = hn::Add(hn::BitCast(du, a), hn::BitCast(du, a));  // without the sign; zero becomes the largest:
    constexpr uint32_t kLimit = (127 - 63) << 24;                        // 2^-63
    return hn::Lt(hn::Sub(twice, hn::Set(du, 1)), hn::Set(du, kLimit));
  }
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const hn::RebindToUnsigned<D> du;
    if (HWY_LIKELY(hn::AllFalse(du, hn::Or(small(d, a), small(d, b))))) return hn::Mul(a, b);
    return InDouble<MultiplyOp>::apply(d, a, b);
  }
};

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
