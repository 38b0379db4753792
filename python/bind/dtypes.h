// NumPy's dtype objects and ours.
#pragma once

#include <optional>

#include "python/bind/guard.h"
#include "runtime/base/dtype.h"

namespace tilewise::bind {

struct ArrayObject;

// Imports NumPy's C API; once, before all else.
void init_dtypes();

// A dtype as the runtime holds it. `descr` is NumPy's object (borrowed from `owner`).
struct Format {
  DType dtype;
  int32_t itemsize;
  Ref descr;  // set where the DType does not say all (kVoid)
};

// NumPy's dtype object for a DType other than kVoid; borrowed, kept for the process.
PyObject* descr_of(DType dtype);
// NumPy's dtype object of an array; borrowed.
PyObject* descr_of(const ArrayObject* array);
// What a NumPy dtype object is to us; nothing where only NumPy can hold it (objects, strings, dates, byte-swapped numbers).
std::optional<Format> format_of(PyObject* descr);
// Reads an argument as NumPy reads dtype=; TypeError where it is none. New reference.
Ref descr_from(PyObject* argument);
// The same for arguments of numeric operations: absent for None.
std::optional<DType> numeric_dtype(PyObject* argument);

}  // namespace tilewise::bind
