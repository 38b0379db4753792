// Basic indexing: integers, slices, None and Ellipsis as views.
#pragma once

#include <optional>

#include "python/bind/object.h"

namespace tilewise::bind {

struct Selection {
  partition::View view;
  bool copied = false;   // an array without axes was among the integers: NumPy gives a copy
  bool element = false;  // integers on every axis and no Ellipsis: NumPy gives a scalar
};

// The view that `key` selects, or nothing if it holds an index array, a mask or a field name. Throws NumPy's IndexError.
std::optional<Selection> select(const partition::View& view, PyObject* key);

// Views that repeat elements along an axis (broadcast_to's) cannot be written: NumPy's ValueError.
void check_writable(const partition::View& view, const char* what);

// dst[...] = value, with NumPy's rules for what may be assigned. `descr` is dst's dtype where it is no plain number.
void assign_value(const Array& dst, PyObject* descr, PyObject* value);

}  // namespace tilewise::bind
