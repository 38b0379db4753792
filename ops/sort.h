// Sorting along an axis, in NumPy's order: NaNs last, complex numbers by real, then imaginary part.
#pragma once

#include "runtime/array.h"

namespace tilewise::ops {

// A new array with each line along `axis` (0 <= axis < rank) in ascending order. Equal elements (zeros of both signs) keep
// their order. Waits for a sample where one long line lies on several devices.
Array sort(const Array& source, int axis);
// The int64 positions on the axis that would sort it; equal elements, and NaNs, in the order of their positions.
Array argsort(const Array& source, int axis);

}  // namespace tilewise::ops
