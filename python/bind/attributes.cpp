// Attributes of arrays and scalars. Those of arrays that NumPy holds are NumPy's.
#include "ops/copy.h"
#include "python/bind/dtypes.h"
#include "python/bind/host.h"
#include "python/bind/index.h"
#include "python/bind/number.h"
#include "python/bind/object.h"
#include "python/bind/views.h"

namespace tilewise::bind {
namespace {

PyObject* tuple_of(const Dims& dims) {
  Ref result = Ref::checked(PyTuple_New(dims.size()));
  for (int k = 0; k < dims.size(); ++k) {
    PyTuple_SET_ITEM(result.get(), k, Ref::checked(PyLong_FromLongLong(dims[k])).release());
  }
  return result.release();
}

// Whether NumPy answers for this object.
bool delegated(PyObject* self) { return is_array(self) && cast_array(self)->host; }
PyObject* host_attribute(PyObject* self, void* name) {
  Ref value = Ref::checked(PyObject_GetAttrString(cast_array(self)->host, static_cast<const char*>(name)));
  if (is_numpy_array(value.get())) return new_host_array(value.release(), Py_TYPE(self));
  return value.release();
}

// A getter: `body` for what has a store, NumPy's attribute `closure` otherwise.
template <PyObject* (*body)(ArrayObject*)>
PyObject* getter(PyObject* self, void* closure) {
  return guarded([&] { return delegated(self) ? host_attribute(self, closure) : body(cast_array(self)); });
}

PyObject* shape(ArrayObject* self) { return tuple_of(self->array.shape()); }
PyObject* strides(ArrayObject* self) { return tuple_of(self->array.view.strides); }
PyObject* dtype(ArrayObject* self) { return Py_NewRef(descr_of(self)); }
PyObject* ndim(ArrayObject* self) { return PyLong_FromLong(self->array.rank()); }
PyObject* size(ArrayObject* self) { return PyLong_FromLongLong(self->array.view.count()); }
PyObject* item_size(ArrayObject* self) { return PyLong_FromLong(self->array.view.itemsize); }
PyObject* bytes(ArrayObject* self) { return PyLong_FromLongLong(self->array.view.count() * self->array.view.itemsize); }
PyObject* base(ArrayObject* self) { return Py_NewRef(self->base ? self->base : Py_None); }

bool scalar(ArrayObject* self) { return is_exact_scalar(reinterpret_cast<PyObject*>(self)); }

PyObject* transposed(ArrayObject* self) {
  if (self->array.rank() < 2) {
    PyObject* own = reinterpret_cast<PyObject*>(self);
    return scalar(self) ? Py_NewRef(own) : new_view(self, self->array.view);
  }
  return new_view(self, partition::permute(self->array.view, reversed_axes(self->array.rank())));
}
PyObject* matrix_transposed(ArrayObject* self) {
  const int rank = self->array.rank();
  if (rank < 2) throw Error(ErrorKind::kValue, "matrix transpose with ndim < 2 is undefined");
  SmallVec<int, 6> order;
  for (int k = 0; k < rank; ++k) order.push_back(k);
  std::swap(order[rank - 1], order[rank - 2]);
  return new_view(self, partition::permute(self->array.view, order));
}

PyObject* part(ArrayObject* self, bool imaginary) {
  const Array& array = self->array;
  if (scalar(self)) {
    if (!is_complex(array.dtype()) && !imaginary) return Py_NewRef(reinterpret_cast<PyObject*>(self));
    if (is_complex(array.dtype())) {
      auto view = imaginary ? partition::imag_part(array.view) : partition::real_part(array.view);
      return new_scalar(ops::copy(Array{array.store, std::move(view)}));
    }
    return slow("zero_imag", reinterpret_cast<PyObject*>(self)).release();
  }
  if (is_complex(array.dtype())) {
    return new_view(self, imaginary ? partition::imag_part(array.view) : partition::real_part(array.view));
  }
  if (imaginary) return slow("zero_imag", reinterpret_cast<PyObject*>(self)).release();
  return Py_NewRef(reinterpret_cast<PyObject*>(self));
}
PyObject* real(ArrayObject* self) { return part(self, false); }
PyObject* imag(ArrayObject* self) { return part(self, true); }

template <const char* const* name>
PyObject* by_slow(ArrayObject* self) {
  return slow(*name, reinterpret_cast<PyObject*>(self)).release();
}
constexpr const char* kFlags = "flags";
constexpr const char* kFlat = "flat";
constexpr const char* kCtypes = "ctypes";
PyObject* data(ArrayObject* self) { return PyMemoryView_FromObject(reinterpret_cast<PyObject*>(self)); }
PyObject* device(ArrayObject*) { return PyUnicode_FromString("cpu"); }

int set_part(PyObject* self, PyObject* value, bool imaginary) {
  return guarded([&]() -> int {
    ArrayObject* object = cast_array(self);
    if (object->host) return PyObject_SetAttrString(object->host, imaginary ? "imag" : "real", value);
    if (imaginary && !is_complex(object->array.dtype())) {
      throw Error(ErrorKind::kType, "array does not have imaginary part to set");
    }
    auto view = imaginary ? partition::imag_part(object->array.view) : partition::real_part(object->array.view);
    assign_value(Array{object->array.store, std::move(view)}, nullptr, value);
    return 0;
  });
}
int set_real(PyObject* self, PyObject* value, void*) { return set_part(self, value, false); }
int set_imag(PyObject* self, PyObject* value, void*) { return set_part(self, value, true); }

int set_by_slow(PyObject* self, PyObject* value, void* closure) {
  return guarded([&]() -> int {
    if (!value) throw Error(ErrorKind::kType, "cannot delete an attribute of an array");
    slow(static_cast<const char*>(closure), self, value);
    return 0;
  });
}
int set_shape(PyObject* self, PyObject* value, void*) {
  static char name[] = "set_shape";
  return set_by_slow(self, value, name);
}
int set_dtype(PyObject* self, PyObject* value, void*) {
  static char name[] = "set_dtype";
  return set_by_slow(self, value, name);
}
int set_flat(PyObject* self, PyObject* value, void*) {
  static char name[] = "set_flat";
  return set_by_slow(self, value, name);
}

// isinstance(s, numpy.floating) holds for scalars of that kind, though they are no such objects.
PyObject* scalar_class(PyObject* self, void*) {
  return PyObject_GetAttrString(descr_of(cast_array(self)), "type");
}

char* text(const char* name) { return const_cast<char*>(name); }

}  // namespace

#define TW_GET(name, function, set) {name, getter<function>, set, nullptr, text(name)}
#define TW_COMMON                                                                                                     \
  TW_GET("dtype", dtype, set_dtype), TW_GET("ndim", ndim, nullptr), TW_GET("size", size, nullptr),                    \
      TW_GET("itemsize", item_size, nullptr), TW_GET("nbytes", bytes, nullptr), TW_GET("strides", strides, nullptr),  \
      TW_GET("T", transposed, nullptr), TW_GET("flags", by_slow<&kFlags>, nullptr), TW_GET("data", data, nullptr),    \
      TW_GET("device", device, nullptr), TW_GET("flat", by_slow<&kFlat>, set_flat)

PyGetSetDef array_attributes[] = {
    TW_COMMON,
    TW_GET("shape", shape, set_shape),
    TW_GET("mT", matrix_transposed, nullptr),
    TW_GET("real", real, set_real),
    TW_GET("imag", imag, set_imag),
    TW_GET("base", base, nullptr),
    TW_GET("ctypes", by_slow<&kCtypes>, nullptr),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyGetSetDef scalar_attributes[] = {
    TW_COMMON,
    TW_GET("shape", shape, nullptr),
    TW_GET("real", real, nullptr),
    TW_GET("imag", imag, nullptr),
    TW_GET("base", base, nullptr),
    {"__class__", scalar_class, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace tilewise::bind
