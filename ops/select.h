// Selection by boolean masks: the shapes of results depend on data, so these wait for one small array of counts.
//
// A mask has the shape of the leading axes of what it chooses from; results list the chosen in C order. Nothing is gathered:
// elements travel only where a result is rebalanced.
#pragma once

#include "runtime/array.h"

namespace tilewise::ops {

// values[mask]: shape (count, trailing axes of values...).
Array extract(const Array& values, const Array& mask);
// Positions of the true elements in the flattened mask, int64.
Array flat_nonzero(const Array& mask);
// dst[mask] = values, where values broadcast to (count, trailing axes...) of dst's type; ValueError as NumPy's otherwise.
void assign_chosen(const Array& dst, const Array& mask, const Array& values);

}  // namespace tilewise::ops
