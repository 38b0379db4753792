// Joins the states of reductions: the later stages of the tree, and the SIMD interpreter's `combine`.
#pragma once

#include <cstdint>

#include "runtime/launch.h"

namespace tilewise::ops::simd {

// into[i] = into[i] joined with from[i], for n states; positions count the elements under each.
void combine_simd(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n, int64_t into_positions,
                  int64_t from_positions, uint8_t* flags);

// The same for kMoments, where `flags` (kMomentParts bytes) are of the kinds watched.
void combine_moments(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n, int64_t into_positions,
                     int64_t from_positions, uint8_t* flags, uint8_t watch);

}  // namespace tilewise::ops::simd
