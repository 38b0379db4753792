// The ufunc type: one object for each of NumPy's ufuncs that has rows in ops/elementwise.def.
#pragma once

#include "python/bind/guard.h"

namespace tilewise::bind {

void init_ufunc_type(PyObject* module);
// ufunc_new(numpy_ufunc, (row, ...)): one row for each output, or None where a row is missing.
PyObject* make_ufunc(PyObject* numpy_ufunc, PyObject* row_names);

}  // namespace tilewise::bind
