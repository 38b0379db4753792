// Kernels of selection by masks: how many elements of a block are chosen, and the chosen ones packed together.
//
// A mask is a byte an element, true unless 0. Pure functions of contiguous memory; any thread.
#pragma once

#include <cstdint>

namespace tilewise::ops::simd {

int64_t count_true(const uint8_t* mask, int64_t n);

// Packs the chosen of n items of `itemsize` bytes to `out`, which has room for `chosen` items and no more.
void pack_chosen(const uint8_t* mask, const char* values, int64_t itemsize, int64_t n, char* out, int64_t chosen);

// Packs first, first + 1, ... where chosen.
void pack_positions(const uint8_t* mask, int64_t first, int64_t n, int64_t* out, int64_t chosen);

}  // namespace tilewise::ops::simd
