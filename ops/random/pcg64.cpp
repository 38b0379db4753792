#include "ops/random/pcg64.h"

#include <bit>

#include "ops/simd/pcg_words.h"

namespace tilewise::ops {

namespace {

constexpr uint128_t wide(uint64_t high, uint64_t low) { return static_cast<uint128_t>(high) << 64 | low; }
constexpr uint128_t kMultiplier = wide(2549297995355413924u, 4865540595714422341u);
constexpr int kStreams = 4;
constexpr int64_t kWorthLanes = 8 * simd::kPcgLanes;

// One step of the congruence taken n times: state -> power(n) * state + sum_of_powers(n) * increment.
constexpr uint128_t power(int n) { return n == 0 ? 1 : kMultiplier * power(n - 1); }
constexpr uint128_t sum_of_powers(int n) { return n == 0 ? 0 : power(n - 1) + sum_of_powers(n - 1); }
constexpr uint128_t kLeap = power(kStreams), kLeapSum = sum_of_powers(kStreams);
constexpr uint128_t kLongLeap = power(simd::kPcgLanes), kLongLeapSum = sum_of_powers(simd::kPcgLanes);

inline uint64_t output(uint128_t state) {
  const uint64_t high = static_cast<uint64_t>(state >> 64), mixed = high ^ static_cast<uint64_t>(state);
  const int turn = static_cast<int>(high >> 58);
  return mixed >> turn | mixed << (-turn & 63);
}

inline uint128_t step(uint128_t state, uint128_t increment) { return state * kMultiplier + increment; }

uint64_t low_of(uint128_t x) { return static_cast<uint64_t>(x); }
uint64_t high_of(uint128_t x) { return static_cast<uint64_t>(x >> 64); }

// As many of the n words as fill all lanes.
int64_t fill_lanes(simd::PcgWords kernel, Congruence& from, int64_t n, void* to) {
  simd::PcgLanes lanes;
  uint128_t state = from.state;
  for (int i = 0; i < simd::kPcgLanes; ++i) {
    state = step(state, from.increment);
    lanes.low[i] = low_of(state);
    lanes.high[i] = high_of(state);
  }
  const uint128_t increment = kLongLeapSum * from.increment;
  lanes.multiplier_low = low_of(kLongLeap);
  lanes.multiplier_high = high_of(kLongLeap);
  lanes.increment_low = low_of(increment);
  lanes.increment_high = high_of(increment);
  const int64_t steps = n / simd::kPcgLanes;
  kernel(lanes, steps, to);
  from.state = wide(lanes.high[simd::kPcgLanes - 1], lanes.low[simd::kPcgLanes - 1]);
  return steps * simd::kPcgLanes;
}

RandomState with_state(RandomState state, uint128_t value) {
  state.state_high = high_of(value);
  state.state_low = low_of(value);
  return state;
}

}  // namespace

Congruence congruence(const RandomState& state) {
  return {wide(state.state_high, state.state_low), wide(state.increment_high, state.increment_low)};
}

Congruence advanced(Congruence from, uint64_t n) {
  uint128_t multiplier = kMultiplier, addend = from.increment;
  for (; n; n >>= 1) {
    if (n & 1) from.state = from.state * multiplier + addend;
    addend *= multiplier + 1;
    multiplier *= multiplier;
  }
  return from;
}

static_assert(std::endian::native == std::endian::little, "halves lie in a word with the lower one first");

void fill_words(Congruence& from, int64_t n, void* memory) {
  auto* to = static_cast<char*>(memory);
  static const simd::PcgWords kernel = simd::pcg_words();
  if (kernel && n >= kWorthLanes) {
    const int64_t filled = fill_lanes(kernel, from, n, to);
    to += filled * sizeof(uint64_t);
    n -= filled;
  }
  const auto put = [&](int at, uint128_t state) {
    const uint64_t word = output(state);
    std::memcpy(to + 8 * at, &word, sizeof(word));
  };
  uint128_t state = from.state;
  const uint128_t increment = from.increment;
  if (n >= 2 * kStreams) {
    const uint128_t leap = kLeapSum * increment;
    uint128_t a = step(state, increment), b = step(a, increment), c = step(b, increment), d = step(c, increment);
    for (;;) {
      put(0, a);
      put(1, b);
      put(2, c);
      put(3, d);
      to += 8 * kStreams;
      n -= kStreams;
      if (n < kStreams) break;
      a = a * kLeap + leap;
      b = b * kLeap + leap;
      c = c * kLeap + leap;
      d = d * kLeap + leap;
    }
    state = d;
  }
  for (; n > 0; --n) {
    state = step(state, increment);
    put(0, state);
    to += 8;
  }
  from.state = state;
}

RandomState Words::end(const RandomState& start, int64_t n) {
  return with_state(start, advanced(congruence(start), static_cast<uint64_t>(n)).state);
}

RandomState Halves::end(const RandomState& start, int64_t n) {
  if (n == 0) return start;
  const int64_t halves = n - static_cast<int64_t>(start.has_half), words = (halves + 1) / 2;
  const uint128_t state = advanced(congruence(start), static_cast<uint64_t>(words)).state;
  RandomState result = with_state(start, state);
  result.has_half = static_cast<uint64_t>(halves % 2);
  if (words > 0) result.half = output(state) >> 32;
  return result;
}

}  // namespace tilewise::ops
