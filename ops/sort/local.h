// Sorting of one line on one device, by Highway's vqsort on all its cores.
#pragma once

#include <cstdint>

#include "runtime/base/dtype.h"
#include "runtime/launch.h"

namespace tilewise::ops {

// to = the n values in order. Equal ones (zeros of both signs) keep their order; NaNs go last, and may lose their payload.
void sort_line(DType dtype, const void* from, void* to, int64_t n, Parallel& parallel);
// The positions 0 to n - 1 in the order that sorts the values; equal elements in the order of their positions.
void argsort_line(DType dtype, const void* values, int64_t n, int64_t* order, Parallel& parallel);

}  // namespace tilewise::ops
