// Words of a linear congruence of 128 bits with PCG64's output function (XSL-RR), sixteen at a time; and words as numbers
// of [0, 1).
//
// Only AVX-512 multiplies 64-bit lanes fast enough to beat the scalar multiplier; elsewhere there is no kernel for words.
// Stateless.
#pragma once

#include <cstdint>

namespace tilewise::ops::simd {

inline constexpr int kPcgLanes = 16;

// States of kPcgLanes consecutive words, and the congruence that leaps over as many.
struct PcgLanes {
  alignas(64) uint64_t low[kPcgLanes], high[kPcgLanes];
  uint64_t multiplier_low, multiplier_high, increment_low, increment_high;
};

// Writes the words of the lanes and of steps - 1 leaps from there, in order; leaves the states of the last ones. steps >= 1.
using PcgWords = void (*)(PcgLanes& lanes, int64_t steps, void* to);
PcgWords pcg_words();  // null: none for this processor

// to[i] = the upper 53 bits of word i / 2^53.
using UnitDoubles = void (*)(const uint64_t* words, int64_t n, double* to);
UnitDoubles unit_doubles();

}  // namespace tilewise::ops::simd
