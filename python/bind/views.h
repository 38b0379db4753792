// Arguments that describe views: shapes, axes, orders.
#pragma once

#include "python/bind/object.h"

namespace tilewise::bind {

SmallVec<int, 6> reversed_axes(int rank);
// An axis in [0, rank), or NumPy's AxisError.
int normalized_axis(int64_t axis, int rank);
// An integer or a sequence of integers; throws TypeError.
Dims dims_from(PyObject* object);
// The same for the shape of a new array: ValueError where an extent has more than 63 bits.
Dims shape_from(PyObject* object);
// The array behind a method's `self`; of a scalar a copy, since scalars never change.
Array source_of(PyObject* self);
// Reshape in C order: a view where NumPy's is one, else of a copy. One extent may be -1.
PyObject* reshaped(PyObject* self, Dims shape);
// A copy in C, F, A or K order.
Array ordered_copy(const Array& source, char order);

extern PyMethodDef view_methods[];

}  // namespace tilewise::bind
