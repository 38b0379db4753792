// Methods whose call overhead matters: item, copy, astype, reshape, transpose, __array__. Unusual arguments go to
// tilewise._slow; the other methods of NumPy's ndarray are set on the types by the Python package.
#include "ops/copy.h"
#include "ops/reduce.h"
#include "python/bind/dtypes.h"
#include "python/bind/fp.h"
#include "python/bind/host.h"
#include "python/bind/object.h"
#include "python/bind/views.h"

namespace tilewise::bind {
namespace {

bool delegated(PyObject* self) { return is_array(self) && cast_array(self)->host; }

// tilewise._slow.NAME(self, args, kwargs)
PyObject* by_slow(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  Ref tuple = Ref::checked(PyTuple_New(count));
  for (Py_ssize_t k = 0; k < count; ++k) PyTuple_SET_ITEM(tuple.get(), k, Py_NewRef(args[k]));
  Ref keywords = Ref::checked(PyDict_New());
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k) {
    check(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, k), args[count + k]));
  }
  return slow(name, self, tuple.get(), keywords.get()).release();
}

PyObject* item(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    ArrayObject* object = cast_array(self);
    if (count || delegated(self)) return by_slow("item", self, args, count, nullptr);
    if (is_exact_scalar(self)) return PyObject_CallMethod(scalar_value(object), "item", nullptr);
    if (object->array.view.count() != 1) {
      throw Error(ErrorKind::kValue, "can only convert an array of size 1 to a Python scalar");
    }
    return PyObject_CallMethod(to_numpy(object).get(), "item", nullptr);
  });
}

char order_of(PyObject* argument) {
  const char* text = PyUnicode_Check(argument) ? PyUnicode_AsUTF8(argument) : nullptr;
  const char order = text && text[0] && !text[1] ? static_cast<char>(text[0] & ~0x20) : '\0';
  if (order != 'C' && order != 'F' && order != 'A' && order != 'K') {
    throw Error(ErrorKind::kValue, "order must be one of 'C', 'F', 'A', or 'K'");
  }
  return order;
}

PyObject* copy(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (delegated(self) || count > 1 || (names && (count || PyTuple_GET_SIZE(names) > 1))) {
      return by_slow("copy", self, args, count, names);
    }
    if (names && !PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "order")) ++count;
    if (is_exact_scalar(self)) return Py_NewRef(self);
    ArrayObject* object = cast_array(self);
    Array result = ordered_copy(object->array, count ? order_of(args[0]) : 'C');
    return new_array(std::move(result), object->descr, subclass_of(self));
  });
}

PyObject* astype(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (delegated(self) || count != 1 || names) return by_slow("astype", self, args, count, names);
    ArrayObject* object = cast_array(self);
    Ref descr = descr_from(args[0]);
    auto format = format_of(descr.get());
    if (!format || format->dtype == DType::kVoid || object->array.dtype() == DType::kVoid) {
      return by_slow("astype", self, args, count, names);
    }
    if (is_complex(object->array.dtype()) && !is_complex(format->dtype) && !is_bool(format->dtype)) slow("warn_complex");
    Array result = ops::astype(object->array, format->dtype);
    after_operation();
    return is_exact_scalar(self) ? new_scalar(std::move(result)) : new_array(std::move(result), nullptr, subclass_of(self));
  });
}

PyObject* reshape(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (delegated(self) || names || !count) return by_slow("reshape", self, args, count, names);
    Dims shape;
    if (count == 1) {
      if (args[0] == Py_None) return by_slow("reshape", self, args, count, names);
      shape = shape_from(args[0]);
    } else {
      for (Py_ssize_t k = 0; k < count; ++k) {
        const Py_ssize_t extent = PyNumber_AsSsize_t(args[k], PyExc_OverflowError);
        if (extent == -1 && PyErr_Occurred()) throw PythonError();
        shape.push_back(extent);
      }
    }
    return reshaped(self, std::move(shape));
  });
}

PyObject* transpose(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (delegated(self)) return by_slow("transpose", self, args, count, nullptr);
    ArrayObject* object = cast_array(self);
    const int rank = object->array.rank();
    if (is_exact_scalar(self)) return Py_NewRef(self);
    if (!count || (count == 1 && args[0] == Py_None)) {
      return new_view(object, partition::permute(object->array.view, reversed_axes(rank)));
    }
    Dims axes;
    if (count == 1) {
      axes = dims_from(args[0]);
    } else {
      for (Py_ssize_t k = 0; k < count; ++k) axes.push_back(dims_from(args[k])[0]);
    }
    if (axes.size() != rank) throw Error(ErrorKind::kValue, "axes don't match array");
    SmallVec<int, 6> order;
    uint64_t seen = 0;
    for (int64_t axis : axes) {
      const int k = normalized_axis(axis, rank);
      if (seen >> k & 1) throw Error(ErrorKind::kValue, "repeated axis in transpose");
      seen |= uint64_t{1} << k;
      order.push_back(k);
    }
    return new_view(object, partition::permute(object->array.view, order));
  });
}

PyObject* array_protocol(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static char dtype_name[] = "dtype", copy_name[] = "copy";
    static char* names[] = {dtype_name, copy_name, nullptr};
    PyObject *dtype = Py_None, *copy_wanted = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", names, &dtype, &copy_wanted)) return nullptr;
    if (copy_wanted == Py_False) {
      throw Error(ErrorKind::kValue, "Unable to avoid copy while creating an array as requested.");
    }
    Ref result = to_numpy(cast_array(self), "gathers.array");
    if (dtype == Py_None) return result.release();
    return PyObject_CallMethod(result.get(), "astype", "O", dtype);
  });
}

// _reduce(row, axis, keepdims) of plain numbers without further options; None where it is something else.
PyObject* reduce(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    ArrayObject* object = cast_array(self);
    const long op = count == 3 ? PyLong_AsLong(args[0]) : 0;
    if (op <= 0 || delegated(self) || object->array.dtype() == DType::kVoid) Py_RETURN_NONE;
    ops::ReduceOptions options;
    if (args[1] != Py_None) {
      if (!PyLong_CheckExact(args[1]) || !object->array.rank()) Py_RETURN_NONE;
      options.axes = Dims{normalized_axis(PyLong_AsSsize_t(args[1]), object->array.rank())};
    }
    options.keepdims = args[2] == Py_True;
    Array result = ops::reduce(static_cast<Opcode>(op), object->array, options);
    after_operation();
    return new_result(std::move(result), subclass_of(self));
  });
}

// The data in NumPy, for our own use: not counted as a gather.
PyObject* gathered(PyObject* self, PyObject*) {
  return guarded([&] { return to_numpy(cast_array(self)).release(); });
}
PyObject* value(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (!is_exact_scalar(self)) throw Error(ErrorKind::kType, "only scalars have a value");
    return Py_NewRef(scalar_value(cast_array(self)));
  });
}

}  // namespace

PyMethodDef array_methods[] = {
    {"item", as_method(item), METH_FASTCALL, "The one element (or that at an index) as a Python number. Waits for it."},
    {"copy", as_method(copy), METH_FASTCALL | METH_KEYWORDS, "A new array with the same values."},
    {"astype", as_method(astype), METH_FASTCALL | METH_KEYWORDS, "The values cast to another dtype, in a new array."},
    {"reshape", as_method(reshape), METH_FASTCALL | METH_KEYWORDS, "The same values in another shape; a view where NumPy's is one."},
    {"transpose", as_method(transpose), METH_FASTCALL, "A view with its axes in another order."},
    {"__array__", as_method(array_protocol), METH_VARARGS | METH_KEYWORDS, "A private copy as a NumPy array. Waits."},
    {"_reduce", as_method(reduce), METH_FASTCALL, nullptr},
    {"_gather", gathered, METH_NOARGS, nullptr},
    {"_value", value, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace tilewise::bind
