// Copies, casts, assignment, and values that go to the host.
#pragma once

#include "ops/elementwise.h"

namespace tilewise::ops {

// dst[...] = src: broadcasts src to dst's shape and casts (NumPy's assignment: unsafe casting, but Python integers that do
// not fit raise OverflowError). Right for any overlap of the two.
void assign(const Array& dst, const Input& src, Casting casting = Casting::kUnsafe);
// A new C-ordered (or, order 'K', memory-ordered) array with the same values.
Array copy(const Array& source, char order = 'C');
Array astype(const Array& source, DType dtype, char order = 'K');

// Waits for the values and writes them C-ordered to `to` (count * itemsize bytes). Raises what failed on the way.
void to_host(const Array& source, void* to);
// The value of a one-element array. Waits.
Scalar item(const Array& source);

}  // namespace tilewise::ops
