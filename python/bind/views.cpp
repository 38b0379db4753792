#include "python/bind/views.h"

#include "ops/copy.h"
#include "python/bind/dtypes.h"
#include "python/bind/index.h"

namespace tilewise::bind {
namespace {

bool is_f_contiguous(const Array& array) {
  return partition::permute(array.view, reversed_axes(array.rank())).is_c_contiguous();
}

std::string text_of(const Dims& shape) {
  std::string text = "(";
  for (int k = 0; k < shape.size(); ++k) text += (k ? "," : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

void resolve_unknown(Dims& shape, int64_t count) {
  int unknown = -1;
  int64_t product = 1;
  for (int k = 0; k < shape.size(); ++k) {
    if (shape[k] < 0) {
      if (unknown >= 0) throw Error(ErrorKind::kValue, "can only specify one unknown dimension");
      unknown = k;
    } else if (__builtin_mul_overflow(product, shape[k], &product)) {
      throw Error(ErrorKind::kValue, "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
    }
  }
  const Dims asked = shape;
  if (unknown >= 0 && product && count % product == 0) {
    shape[unknown] = count / product;
    product *= shape[unknown];
  } else if (unknown >= 0) {
    product = -1;
  }
  if (product != count) {
    throw Error(ErrorKind::kValue, str("cannot reshape array of size ", count, " into shape ", text_of(asked)));
  }
}

PyObject* as_view(PyObject* self, Array&& array) {
  if (is_exact_scalar(self)) return new_array(std::move(array), cast_array(self)->descr);
  return new_view(cast_array(self), array.view);
}

PyObject* permute(PyObject* self, PyObject* axes) {
  return guarded([&] {
    Array array = source_of(self);
    SmallVec<int, 6> order;
    for (int64_t axis : dims_from(axes)) order.push_back(static_cast<int>(axis));
    array.view = partition::permute(array.view, order);
    return as_view(self, std::move(array));
  });
}

PyObject* broadcast(PyObject* self, PyObject* shape) {
  return guarded([&] {
    Array array = source_of(self);
    array.view = partition::broadcast_to(array.view, dims_from(shape));
    return as_view(self, std::move(array));
  });
}

PyObject* squeeze(PyObject* self, PyObject* axes) {
  return guarded([&] {
    Array array = source_of(self);
    Dims drop = dims_from(axes);
    std::sort(drop.begin(), drop.end());
    for (int k = drop.size() - 1; k >= 0; --k) array.view = partition::squeeze(array.view, static_cast<int>(drop[k]));
    return as_view(self, std::move(array));
  });
}

PyObject* new_axis(PyObject* self, PyObject* axes) {
  return guarded([&] {
    Array array = source_of(self);
    Dims add = dims_from(axes);
    if (const int rank = array.rank() + add.size(); rank > 64) {
      throw Error(ErrorKind::kValue, str("maximum supported dimension for an ndarray is currently 64, found ", rank));
    }
    std::sort(add.begin(), add.end());
    for (int64_t axis : add) array.view = partition::newaxis(array.view, static_cast<int>(axis));
    return as_view(self, std::move(array));
  });
}

PyObject* flip(PyObject* self, PyObject* axes) {
  return guarded([&] {
    Array array = source_of(self);
    for (int64_t axis : dims_from(axes)) array.view = partition::flip(array.view, static_cast<int>(axis));
    return as_view(self, std::move(array));
  });
}

PyObject* diagonal(PyObject* self, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    const Dims given = dims_from(arguments);  // k, axis1, axis2
    Array array = source_of(self);
    array.view = partition::diagonal(array.view, given[0], static_cast<int>(given[1]), static_cast<int>(given[2]));
    return as_view(self, std::move(array));
  });
}

// Bytes of the same store under another dtype; at `offset` within each element if that is not negative.
PyObject* typed(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) throw Error(ErrorKind::kType, "_typed(dtype, offset)");
    Ref descr = descr_from(args[0]);
    auto format = format_of(descr.get());
    if (!format) throw Error(ErrorKind::kType, "Cannot change data-type for array of this dtype.");
    Array array = source_of(self);
    const int64_t offset = PyLong_AsLongLong(args[1]);
    if (offset >= 0) {
      array.view.offset += offset;
      array.view.dtype = format->dtype;
      array.view.itemsize = format->itemsize;
    } else {
      array.view = partition::reinterpret(std::move(array.view), format->dtype, format->itemsize);
    }
    Ref result = Ref::steal(is_exact_scalar(self) ? new_array(std::move(array)) : new_view(cast_array(self), array.view));
    Py_XSETREF(cast_array(result.get())->descr, format->descr.release());
    return result.release();
  });
}

PyObject* is_c_contiguous(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(cast_array(self)->array.view.is_c_contiguous()); });
}
PyObject* is_fortran(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(is_f_contiguous(cast_array(self)->array)); });
}

// Whether two arrays are views of one store.
PyObject* shares_store(PyObject* self, PyObject* other) {
  return guarded([&] {
    const bool both = is_stored(self) && is_stored(other);
    return PyBool_FromLong(both && cast_array(self)->array.store.get() == cast_array(other)->array.store.get());
  });
}

// A view of any shape, strides (bytes) and further offset, if it lies within the store.
PyObject* strided(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 3) throw Error(ErrorKind::kType, "_strided(shape, strides, offset)");
    Array array = source_of(self);
    array.view.shape = dims_from(args[0]);
    array.view.strides = dims_from(args[1]);
    array.view.offset += PyLong_AsLongLong(args[2]);
    if (array.view.shape.size() != array.view.strides.size()) {
      throw Error(ErrorKind::kValue, "strides must have as many elements as shape");
    }
    const auto range = array.view.range();
    const int64_t bytes = count_of(array.store->base_shape) * array.store->base_itemsize;
    if (range.lo < 0 || range.hi > bytes) throw Error(ErrorKind::kValue, "the view would reach beyond the array's data");
    return as_view(self, std::move(array));
  });
}

PyObject* byte_offset(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(cast_array(self)->array.view.offset);
}

// [lo, hi) in bytes of the store.
PyObject* byte_range(PyObject* self, PyObject*) {
  return guarded([&] {
    const auto range = cast_array(self)->array.view.range();
    return Py_BuildValue("(LL)", static_cast<long long>(range.lo), static_cast<long long>(range.hi));
  });
}

// The other array's view replaces this one's, in place: for `a.shape = ...`.
PyObject* become(PyObject* self, PyObject* other) {
  return guarded([&] {
    ArrayObject* to = cast_array(self);
    ArrayObject* from = cast_array(other);
    to->array = from->array;
    Py_XSETREF(to->descr, Py_XNewRef(from->descr));
    Py_XSETREF(to->host, Py_XNewRef(from->host));
    Py_RETURN_NONE;
  });
}

// The same view as an object of another subclass of ndarray.
PyObject* retyped(PyObject* self, PyObject* type) {
  return guarded([&]() -> PyObject* {
    auto* wanted = reinterpret_cast<PyTypeObject*>(type);
    if (!PyType_Check(type) || !PyType_IsSubtype(wanted, ndarray_type)) {
      throw Error(ErrorKind::kType, "type must be a subclass of ndarray");
    }
    ArrayObject* from = cast_array(self);
    Ref result = Ref::steal(new_array_of(wanted, Array(from->array), from->descr, self));
    ArrayObject* made = cast_array(result.get());
    made->host = Py_XNewRef(from->host);
    made->base = Py_NewRef(self);
    return result.release();
  });
}

PyObject* held_by_numpy(PyObject* self, PyObject*) {
  PyObject* host = is_array(self) ? cast_array(self)->host : nullptr;
  return Py_NewRef(host ? host : Py_None);
}

}  // namespace

SmallVec<int, 6> reversed_axes(int rank) {
  SmallVec<int, 6> order;
  for (int k = rank - 1; k >= 0; --k) order.push_back(k);
  return order;
}

int normalized_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw Error(ErrorKind::kAxis, str("axis ", axis, " is out of bounds for array of dimension ", rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Dims dims_from(PyObject* object) {
  Dims dims;
  if (PyIndex_Check(object) && !PySequence_Check(object)) {
    dims.push_back(PyNumber_AsSsize_t(object, PyExc_OverflowError));
    if (dims[0] == -1 && PyErr_Occurred()) throw PythonError();
    return dims;
  }
  Ref sequence = Ref::checked(PySequence_Fast(object, "expected a sequence of integers or a single integer"));
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence.get());
  if (count > 64) throw Error(ErrorKind::kValue, str("maximum supported dimension for an ndarray is currently 64, found ", count));
  for (Py_ssize_t k = 0; k < count; ++k) {
    const Py_ssize_t value = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(sequence.get(), k), PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred()) throw PythonError();
    dims.push_back(value);
  }
  return dims;
}

Dims shape_from(PyObject* object) {
  try {
    return dims_from(object);
  } catch (const PythonError&) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw;
    PyErr_Clear();
    throw Error(ErrorKind::kValue, "Maximum allowed dimension exceeded");
  }
}

Array source_of(PyObject* self) {
  ArrayObject* object = cast_array(self);
  return is_exact_scalar(self) ? ops::copy(object->array) : object->array;
}

PyObject* reshaped(PyObject* self, Dims shape) {
  ArrayObject* object = cast_array(self);
  resolve_unknown(shape, object->array.view.count());
  Array array = source_of(self);
  if (auto view = partition::reshape(array.view, shape)) {
    array.view = std::move(*view);
    return as_view(self, std::move(array));
  }
  Array copy = ops::copy(array);
  copy.view = partition::reshape(copy.view, shape).value();
  return new_array(std::move(copy), object->descr, subclass_of(self));
}

Array ordered_copy(const Array& source, char order) {
  if (order == 'A') order = is_f_contiguous(source) && !source.view.is_c_contiguous() ? 'F' : 'C';
  if (order == 'C' || source.rank() < 2) return ops::copy(source);
  const auto axes = order == 'F' ? reversed_axes(source.rank()) : source.view.memory_order();
  Array result = ops::copy(Array{source.store, partition::permute(source.view, axes)});
  SmallVec<int, 6> inverse(axes.size());
  for (int k = 0; k < axes.size(); ++k) inverse[axes[k]] = k;
  result.view = partition::permute(result.view, inverse);
  return result;
}

PyMethodDef view_methods[] = {
    {"_permute", permute, METH_O, nullptr},
    {"_broadcast", broadcast, METH_O, nullptr},
    {"_squeeze", squeeze, METH_O, nullptr},
    {"_newaxis", new_axis, METH_O, nullptr},
    {"_flip", flip, METH_O, nullptr},
    {"_diagonal", diagonal, METH_O, nullptr},
    {"_typed", as_method(typed), METH_FASTCALL, nullptr},
    {"_strided", as_method(strided), METH_FASTCALL, nullptr},
    {"_offset", byte_offset, METH_NOARGS, nullptr},
    {"_is_c", is_c_contiguous, METH_NOARGS, nullptr},
    {"_is_f", is_fortran, METH_NOARGS, nullptr},
    {"_shares", shares_store, METH_O, nullptr},
    {"_range", byte_range, METH_NOARGS, nullptr},
    {"_become", become, METH_O, nullptr},
    {"_retyped", retyped, METH_O, nullptr},
    {"_host", held_by_numpy, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace tilewise::bind
