#include "ops/simd/pcg_words.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/pcg_words.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Both halves of the 53 bits become doubles by being written into one's fraction: exact, and quick everywhere.
void doubles(const uint64_t* words, int64_t n, double* to) {
  const hn::ScalableTag<uint64_t> d;
  const hn::ScalableTag<double> df;
  const auto low_one = hn::Set(d, 0x4330000000000000), high_one = hn::Set(d, 0x4530000000000000);  // 2^52, 2^84
  const auto ones = hn::Set(df, 0x1p84 + 0x1p52), unit = hn::Set(df, 0x1p-53);
  const auto lower = hn::Set(d, 0xffffffffu);
  constexpr int kWidth = hn::MaxLanes(d);
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const auto bits = hn::ShiftRight<11>(hn::LoadU(d, words + i));
    const auto high = hn::BitCast(df, hn::Or(hn::ShiftRight<32>(bits), high_one));
    const auto low = hn::BitCast(df, hn::Or(hn::And(bits, lower), low_one));
    hn::StoreU(hn::Mul(hn::Add(hn::Sub(high, ones), low), unit), df, to + i);
  }
  for (; i < n; ++i) to[i] = static_cast<double>(static_cast<int64_t>(words[i] >> 11)) * 0x1p-53;
}
UnitDoubles chosen_doubles() { return doubles; }

#if HWY_TARGET == HWY_AVX3

using D = hn::ScalableTag<uint64_t>;
using V = hn::Vec<D>;
constexpr int kVectors = kPcgLanes / hn::MaxLanes(D());

// The product of the lower halves of each lane.
HWY_INLINE V times(V a, V b) {
  const hn::Repartition<uint32_t, D> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
}

struct Leap {
  explicit Leap(const PcgLanes& lanes)
      : m(hn::Set(d, lanes.multiplier_low)), m_upper(hn::Set(d, lanes.multiplier_low >> 32)),
        m_high(hn::Set(d, lanes.multiplier_high)), c(hn::Set(d, lanes.increment_low)),
        c_high(hn::Set(d, lanes.increment_high)), lower(hn::Set(d, 0xffffffffu)) {}

  HWY_INLINE void operator()(V& low, V& high) const {
    const V upper = hn::ShiftRight<32>(low);
    const V p = times(low, m);
    const V q = hn::Add(times(upper, m), hn::ShiftRight<32>(p));
    const V r = hn::Add(times(low, m_upper), hn::And(q, lower));
    const V carried = hn::Add(times(upper, m_upper), hn::Add(hn::ShiftRight<32>(q), hn::ShiftRight<32>(r)));
    const V product = hn::Or(hn::ShiftLeft<32>(r), hn::And(p, lower));
    const V crossed = hn::Add(hn::Mul(low, m_high), hn::Mul(high, m));
    low = hn::Add(product, c);
    high = hn::Add(hn::Add(carried, crossed), c_high);
    high = hn::Sub(high, hn::VecFromMask(d, hn::Lt(low, product)));
  }

  D d;
  V m, m_upper, m_high, c, c_high, lower;
};

HWY_INLINE V output(V low, V high) {
  const D d;
  const V mixed = hn::Xor(low, high), turn = hn::ShiftRight<58>(high);
  const V back = hn::And(hn::Sub(hn::Zero(d), turn), hn::Set(d, 63));
  return hn::Or(hn::Shr(mixed, turn), hn::Shl(mixed, back));
}

void words(PcgLanes& lanes, int64_t steps, void* memory) {
  const D d;
  constexpr int kWidth = hn::MaxLanes(D());
  auto* to = static_cast<uint64_t*>(memory);
  const Leap leap(lanes);
  V low[kVectors], high[kVectors];
  for (int k = 0; k < kVectors; ++k) {
    low[k] = hn::Load(d, lanes.low + k * kWidth);
    high[k] = hn::Load(d, lanes.high + k * kWidth);
  }
  for (;;) {
    for (int k = 0; k < kVectors; ++k) hn::StoreU(output(low[k], high[k]), d, to + k * kWidth);
    to += kPcgLanes;
    if (--steps == 0) break;
    for (int k = 0; k < kVectors; ++k) leap(low[k], high[k]);
  }
  for (int k = 0; k < kVectors; ++k) {
    hn::Store(low[k], d, lanes.low + k * kWidth);
    hn::Store(high[k], d, lanes.high + k * kWidth);
  }
}

PcgWords chosen() { return words; }

#else

PcgWords chosen() { return nullptr; }

#endif

}  // namespace
}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {

HWY_EXPORT(chosen);
HWY_EXPORT(chosen_doubles);

UnitDoubles unit_doubles() {
  static const UnitDoubles kernel = HWY_DYNAMIC_DISPATCH(chosen_doubles)();
  return kernel;
}

PcgWords pcg_words() {
  static const PcgWords kernel = HWY_DYNAMIC_DISPATCH(chosen)();
  return kernel;
}

}  // namespace tilewise::ops::simd
#endif
