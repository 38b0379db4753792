// How selection by a mask is split over devices. Families of runtime/step.h.
//
// The mask is one-dimensional and counted in fixed blocks, so that positions do not depend on how it is cut. A first record
// counts the true elements of each block; the leader reads these few numbers, and the records that follow carry
// their sums up to each block: with them, every rank knows what each part's elements become.
#pragma once

#include <vector>

#include "runtime/step.h"

namespace tilewise::ops {

struct BlockSums {
  int64_t block = 0;             // elements
  std::vector<int64_t> before;   // true elements before block b; one more at the end: all of them

  int64_t count() const { return before.back(); }
  std::vector<char> bytes() const;
};

// Elements of a block of a mask of n elements: many blocks cost time at the leader, large ones balance badly.
int64_t mask_block(int64_t n);

// Families, by number. Inputs and outputs of their records:
uint16_t count_family();    // mask [n] -> int64 [blocks]
uint16_t extract_family();  // mask [n], values [n, rest...] -> [count, rest...]; without values: positions [count], int64
uint16_t expand_family();   // mask [n], values [count, rest...] -> [n, rest...], zero where the mask is false

}  // namespace tilewise::ops
