// Data between NumPy and the runtime: snapshots both ways, and values of scalars.
#pragma once

#include "ops/elementwise.h"
#include "python/bind/object.h"

namespace tilewise::bind {

// Waits, and gives a new NumPy array (0-d too) with the values. `what` names the counter in report(), null for none.
Ref to_numpy(const Array& array, PyObject* descr);
Ref to_numpy(ArrayObject* array, const char* counter = nullptr);
// A NumPy array (any dtype, strides) as an array of ours: a snapshot, host-held where tiles cannot hold it.
PyObject* from_numpy(PyObject* numpy_array);
// The same, for internal use: nothing where tiles cannot hold it.
std::optional<Array> array_from_numpy(PyObject* numpy_array, Ref* descr = nullptr);
bool is_numpy_array(PyObject* object);
bool is_numpy_scalar(PyObject* object);
// numpy.asarray(object); throws what NumPy raises.
Ref numpy_asarray(PyObject* object, PyObject* descr = nullptr);

// The NumPy scalar of a lazy scalar: waits once and keeps it. Borrowed.
PyObject* scalar_value(ArrayObject* scalar);
// A value as a NumPy scalar; new reference.
Ref numpy_scalar(const Scalar& value);
// A NumPy scalar's bytes; nothing for types that the runtime does not know.
std::optional<Scalar> scalar_from_numpy(PyObject* numpy_scalar);

}  // namespace tilewise::bind
