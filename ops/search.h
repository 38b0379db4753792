// Where values lie among sorted ones, and how many lie in each bin. None waits.
#pragma once

#include "ops/elementwise.h"

namespace tilewise::ops {

// NumPy's searchsorted: for each key the first position in `sorted` (1-d, ascending, NaN last) before which it can stand;
// `right`: the last one. Both are of one type. The result is an int64 array of the keys' shape.
Array search_sorted(const Array& sorted, const Array& keys, bool right);

// How the bin of a value is found.
enum class Binning : uint8_t {
  kIndex,    // the value is the bin: int64 in [0, bins)
  kUniform,  // bins of one width between the first and the last of `edges` (float32 or float64), corrected by them as
             // numpy.histogram does; values outside are left out
  kEdges,    // between ascending edges of the values' type, the last bin with its right edge
};

// How many of the 1-d values lie in each of `bins` bins (int64), or the sum of their weights (float64). `edges` (bins + 1)
// and `weights` may be null where they do not apply; `width`, of all uniform bins together, as numpy.histogram has it.
// Float sums are made of fixed sections (ops/search/count.cpp).
Array count_bins(const Array& values, Binning binning, int64_t bins, const Array* edges, double width,
                 const Array* weights);

}  // namespace tilewise::ops
