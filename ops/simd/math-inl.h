// exp, log and float32's power on vectors: our own, from IEEE operations and fma (two roundings where there is none).
//
// exp and log err by at most 1.0 ulp in float32 and float64, power of float32 by 0.6 (measured: tests/ops/simd/test_math).
// Pure functions of a lane's bits: a branch on other lanes never changes the result. Polynomials interpolate at Chebyshev's nodes.
#if defined(TW_SIMD_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TW_SIMD_MATH_INL_H
#undef TW_SIMD_MATH_INL_H
#else
#define TW_SIMD_MATH_INL_H
#endif

#include <limits>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

// Horner's scheme; coefficients from the highest.
template <class D, class V, class T, size_t n>
HWY_INLINE V polynomial(D d, V x, const T (&c)[n]) {
  V r = hn::Set(d, c[0]);
  _Pragma("GCC unroll 16")
  for (size_t i = 1; i < n; ++i) r = hn::MulAdd(r, x, hn::Set(d, c[i]));
  return r;
}

// 2^n for whole n in the range of normal numbers, from an integer vector.
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_two(D d, VI n) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  constexpr int mantissa = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
  return hn::BitCast(d, hn::ShiftLeft<mantissa>(hn::Add(n, hn::Set(di, bias))));
}

template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float log2e = 1.44269504f, ln2_high = 0x1.62e4p-1f, ln2_low = 1.42860682e-06f;
  static constexpr float lowest = -104.0f, highest = 89.0f, highest_of_half = 89.7f;
  static constexpr float least_normal = -87.0f, most_finite = 88.0f, to_integer = 0x1.8p23f;
  static constexpr float terms[] = {1.392618404e-03f, 8.363178931e-03f, 4.166655615e-02f, 1.666657627e-01f, 0.5f};
};
template <>
struct ExpConstants<double> {
  static constexpr double log2e = 1.44269504088896339, ln2_high = 0x1.62e42fefa3p-1, ln2_low = 2.82352905630315771e-13;
  static constexpr double lowest = -746.0, highest = 710.0, highest_of_half = 710.7;
  static constexpr double least_normal = -708.0, most_finite = 709.0, to_integer = 0x1.8p52;
  static constexpr double terms[] = {2.51003854955103203e-08, 2.76200884454097462e-07, 2.75572684599970641e-06,
                                     2.48015212959543761e-05, 1.98412698630536177e-04, 1.38888889172137167e-03,
                                     8.33333333333006153e-03, 4.16666666666241289e-02, 1.66666666666666685e-01, 0.5};
};

// Where every lane of a vector is in the common range, the steps that only other lanes need are left out; the bits are
// the same. A multiplication that gives a subnormal number stalls some processors for a hundred cycles: such results
// are rounded by an addition instead, which does not.
struct ExpOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    using C = ExpConstants<hn::TFromD<D>>;
    const auto usual = hn::And(hn::Ge(a, hn::Set(d, C::least_normal)), hn::Le(a, hn::Set(d, C::most_finite)));
    if (!hn::AllTrue(d, usual)) return times_power(d, a, 0);
    hn::Vec<hn::RebindToSigned<D>> n;
    return scaled(d, mantissa(d, a, n), n);
  }

  // e^a * 2^power for a power of 0 or -1.
  template <class D, class V>
  static HWY_INLINE V times_power(D d, V a, int power) {
    using T = hn::TFromD<D>;
    using C = ExpConstants<T>;
    using I = hn::TFromD<hn::RebindToSigned<D>>;
    const hn::RebindToSigned<D> di;
    constexpr int kBits = sizeof(T) == 4 ? 23 : 52;
    const auto one = hn::Set(di, I{1} << kBits), infinity = hn::BitCast(di, hn::Set(d, std::numeric_limits<T>::infinity()));
    const V x = hn::Min(hn::Max(a, hn::Set(d, C::lowest)), hn::Set(d, power ? C::highest_of_half : C::highest));
    hn::Vec<hn::RebindToSigned<D>> n;
    const V y = mantissa(d, x, n);
    n = hn::Add(n, hn::Set(di, power));
    const auto normal = hn::BitCast(di, scaled(d, y, n));
    // Added to 2^(-126 - n), y is rounded where a subnormal number ends, and what it adds are that number's bits.
    const auto base = hn::Sub(one, hn::ShiftLeft<kBits>(n));
    const auto subnormal = hn::Sub(hn::BitCast(di, hn::Add(y, hn::BitCast(d, base))), base);
    const auto bits = hn::IfThenElse(hn::Lt(normal, one), subnormal, hn::Min(normal, infinity));
    return hn::IfThenElse(hn::IsNaN(a), a, hn::BitCast(d, bits));
  }

 private:
  // e^x = y * 2^n with y near [sqrt(1/2), sqrt(2)]; n in the low bits, more above them.
  template <class D, class V>
  static HWY_INLINE V mantissa(D d, V x, hn::Vec<hn::RebindToSigned<D>>& n) {
    using C = ExpConstants<hn::TFromD<D>>;
    const hn::RebindToSigned<D> di;
    const V shift = hn::Set(d, C::to_integer);
    const V shifted = hn::Add(hn::Mul(x, hn::Set(d, C::log2e)), shift);
    const V whole = hn::Sub(shifted, shift);
    n = hn::BitCast(di, shifted);
    V r = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x);
    r = hn::NegMulAdd(whole, hn::Set(d, C::ln2_low), r);
    const V tail = hn::MulAdd(hn::Mul(r, r), polynomial(d, r, C::terms), r);
    return hn::Add(tail, hn::Set(d, 1));
  }
  // y * 2^n where that is a normal number; what lies above n's low bits is shifted out.
  template <class D, class V>
  static HWY_INLINE V scaled(D d, V y, hn::Vec<hn::RebindToSigned<D>> n) {
    const hn::RebindToSigned<D> di;
    return hn::BitCast(d, hn::Add(hn::BitCast(di, y), hn::ShiftLeft<sizeof(hn::TFromD<D>) == 4 ? 23 : 52>(n)));
  }
};

// x as m * 2^e with m in [sqrt(1/2), sqrt(2)); for positive normal numbers.
template <class D, class V>
HWY_INLINE V split_exponent(D d, V x, V& e) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<hn::RebindToSigned<D>>;
  constexpr int mantissa = sizeof(T) == 4 ? 23 : 52;
  constexpr I root_half = static_cast<I>(sizeof(T) == 4 ? 0x3f3504f3 : 0x3fe6a09e667f3bcd);
  const auto bits = hn::BitCast(di, x);
  const auto over = hn::Sub(bits, hn::Set(di, root_half));
  const auto exponent = hn::ShiftRight<mantissa>(over);
  e = hn::ConvertTo(d, exponent);
  return hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<mantissa>(exponent)));
}

struct LogOp {
  // log(1 + f) + e * ln2
  template <class D>
  static HWY_INLINE hn::Vec<D> finish(D d, hn::Vec<D> f, hn::Vec<D> e) {
    using T = hn::TFromD<D>;
    using C = ExpConstants<T>;
    const auto square = hn::Mul(f, f);
    const auto low = hn::Mul(e, hn::Set(d, C::ln2_low));
    const auto high = hn::Set(d, C::ln2_high);
    if constexpr (sizeof(T) == 4) {
      static constexpr float terms[] = {6.971611828e-02f,  -1.147973388e-01f, 1.168541983e-01f, -1.242568716e-01f,
                                        1.424905807e-01f,  -1.666780263e-01f, 2.000071555e-01f, -2.499999702e-01f,
                                        3.333333135e-01f};
      auto tail = hn::MulAdd(hn::Mul(square, f), polynomial(d, f, terms), low);
      tail = hn::NegMulAdd(hn::Set(d, 0.5f), square, tail);
      return hn::MulAdd(e, high, hn::Add(f, tail));
    } else {
      static constexpr double terms[] = {1.46165854248886229e-01, 1.53317106182107726e-01, 1.81828894556749471e-01,
                                         2.22222111302598779e-01, 2.85714286260032702e-01, 3.99999999998994438e-01,
                                         6.66666666666666963e-01};
      const auto half = hn::Mul(hn::Set(d, 0.5), square);
      const auto s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
      const auto z = hn::Mul(s, s);
      const auto r = hn::Mul(z, polynomial(d, z, terms));
      const auto small = hn::Sub(half, hn::MulAdd(s, hn::Add(half, r), low));
      return hn::MulAdd(e, high, hn::Sub(f, small));
    }
  }

  template <class D, class V>
  static HWY_INLINE V apply(D d, V a) {
    using T = hn::TFromD<D>;
    using L = std::numeric_limits<T>;
    const V one = hn::Set(d, 1);
    V e;
    const auto usual = hn::And(hn::Ge(a, hn::Set(d, L::min())), hn::Le(a, hn::Set(d, L::max())));
    if (hn::AllTrue(d, usual)) {
      const V m = split_exponent(d, a, e);
      return finish(d, hn::Sub(m, one), e);
    }
    constexpr T up = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
    const auto tiny = hn::Lt(a, hn::Set(d, L::min()));
    const V x = hn::IfThenElse(tiny, hn::Mul(a, hn::Set(d, up)), a);
    const V m = split_exponent(d, x, e);
    e = hn::Sub(e, hn::IfThenElseZero(tiny, hn::Set(d, sizeof(T) == 4 ? T(23) : T(52))));
    V r = finish(d, hn::Sub(m, one), e);
    r = hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::Set(d, -L::infinity()), r);
    r = hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Set(d, L::quiet_NaN()), r);
    return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Eq(a, hn::Set(d, L::infinity()))), a, r);
  }
};

// float32's power in double precision: exp2(b * log2(a)), rounded once.
struct PowerFloatOp {
  // For positive a; 0 and infinity give some result, which the caller replaces.
  template <class D>
  static HWY_INLINE hn::Vec<D> core(D d, hn::Vec<D> a, hn::Vec<D> b) {
    static constexpr double log_terms[] = {
        6.16434842450557727e-02,  -1.22165633056712672e-01, 1.26241662349753342e-01,  -1.19995225316854165e-01,
        1.29181262514164286e-01,  -1.44087236437340144e-01, 1.60419220688561154e-01,  -1.80352394846402003e-01,
        2.06095597898914545e-01,  -2.40448676720151772e-01, 2.88539063079736480e-01,  -3.60673766470959167e-01,
        4.80898346646805586e-01,  -7.21347520423022415e-01, 1.44269504088927669e+00};
    static constexpr double exp_terms[] = {1.53037007113656932e-05, 1.54697292141182962e-04, 1.33334784736854157e-03,
                                           9.61802561331803404e-03, 5.55041090632586651e-02, 2.40226512134980918e-01,
                                           6.93147180556832443e-01, 9.99999999959561792e-01};
    const hn::RebindToSigned<D> di;
    hn::Vec<D> e;
    const auto f = hn::Sub(split_exponent(d, a, e), hn::Set(d, 1.0));
    const auto log2 = hn::MulAdd(f, polynomial(d, f, log_terms), e);
    // 1 to any power is 1, infinite ones too.
    auto t = hn::IfThenElseZero(hn::Not(hn::Eq(log2, hn::Zero(d))), hn::Mul(b, log2));
    t = hn::Min(hn::Max(t, hn::Set(d, -300.0)), hn::Set(d, 300.0));
    const auto n = hn::Round(t);
    const auto r = polynomial(d, hn::Sub(t, n), exp_terms);
    return hn::Mul(r, power_of_two(d, hn::ConvertTo(di, n)));
  }

  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const hn::Half<D> dh;
    const hn::Rebind<double, hn::Half<D>> dd;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0f), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    const V magnitude = hn::Abs(a);
    const auto low = core(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, magnitude)), hn::PromoteTo(dd, hn::LowerHalf(dh, b)));
    const auto high = core(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, magnitude)), hn::PromoteTo(dd, hn::UpperHalf(dh, b)));
    V r = hn::Combine(d, hn::DemoteTo(dh, high), hn::DemoteTo(dh, low));
    const auto up = hn::Gt(b, zero);
    const V of_zero = hn::IfThenElse(up, zero, infinity), of_infinity = hn::IfThenElse(up, infinity, zero);
    r = hn::IfThenElse(hn::Eq(magnitude, zero), of_zero, r);
    r = hn::IfThenElse(hn::Eq(magnitude, infinity), of_infinity, r);
    // Negative bases: whole exponents only, odd ones keep the sign.
    const auto whole = hn::Eq(hn::Round(b), b);
    const V half = hn::Mul(b, hn::Set(d, 0.5f));
    const auto odd = hn::And(whole, hn::Not(hn::Eq(hn::Round(half), half)));
    r = hn::Or(r, hn::IfThenElseZero(odd, hn::And(a, hn::SignBit(d))));
    const auto finite_negative = hn::And(hn::Lt(a, zero), hn::Lt(magnitude, infinity));
    const auto invalid = hn::And(finite_negative, hn::Not(whole));
    const V nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
    r = hn::IfThenElse(hn::Or(invalid, hn::Or(hn::IsNaN(a), hn::IsNaN(b))), nan, r);
    return hn::IfThenElse(hn::Or(hn::Eq(b, zero), hn::Eq(a, one)), one, r);
  }
};

// sqrt(a*a + b*b), scaled by a power of two where the squares would leave the range.
struct HypotOp {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    using T = hn::TFromD<D>;
    constexpr T large = sizeof(T) == 4 ? T(0x1p60) : T(0x1p500), small = sizeof(T) == 4 ? T(0x1p-40) : T(0x1p-400);
    constexpr T down = sizeof(T) == 4 ? T(0x1p-80) : T(0x1p-600), up = sizeof(T) == 4 ? T(0x1p80) : T(0x1p600);
    const V x = hn::Abs(a), y = hn::Abs(b);
    const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
    const V most = hn::Max(x, y);
    const auto too_large = hn::Gt(most, hn::Set(d, large)), too_small = hn::Lt(most, hn::Set(d, small));
    const V one = hn::Set(d, T(1));
    const V scale = hn::IfThenElse(too_large, hn::Set(d, down), hn::IfThenElse(too_small, hn::Set(d, up), one));
    const V back = hn::IfThenElse(too_large, hn::Set(d, up), hn::IfThenElse(too_small, hn::Set(d, down), one));
    const V p = hn::Mul(x, scale), q = hn::Mul(y, scale);
    const V r = hn::Mul(hn::Sqrt(hn::MulAdd(p, p, hn::Mul(q, q))), back);
    return hn::IfThenElse(hn::Or(hn::Eq(x, infinity), hn::Eq(y, infinity)), infinity, r);
  }
};

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
