// Joins the states of reductions: the later stages of the tree, and the SIMD interpreter's `combine`.
#pragma once

#include <cstdint>

#include "runtime/launch.h"

namespace tilewise::ops::simd {

// into[i] = into[i] joined with from[i], for n states; positions count the elements under each.
void combine_simd(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n, int64_t into_positions,
                  int64_t from_positions, uint8_t* flags);

}  // namespace tilewise::ops::simd
