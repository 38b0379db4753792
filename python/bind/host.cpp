#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define NO_IMPORT_ARRAY
#define PY_ARRAY_UNIQUE_SYMBOL tilewise_numpy_api
#include "python/bind/host.h"

#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "ops/copy.h"
#include "ops/create.h"
#include "python/bind/dtypes.h"
#include "python/bind/fp.h"
#include "runtime/session.h"

namespace tilewise::bind {
namespace {

PyArrayObject* numpy(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

// A private copy, handed out as a buffer: it belongs to the NumPy array that the view keeps.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded([&] {
    view->obj = nullptr;
    Ref copy = to_numpy(cast_array(self), "gathers.buffer");
    return PyObject_GetBuffer(copy.get(), view, flags);
  });
}

// NumPy forgets errors of the buffer protocol and tries __array__ next: there an interrupt is raised again.
int get_buffer_or_interrupt(PyObject* self, Py_buffer* view, int flags) {
  const int status = get_buffer(self, view, flags);
  if (status < 0 && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  return status;
}

}  // namespace

PyBufferProcs array_buffer = {get_buffer_or_interrupt, nullptr};

bool is_numpy_array(PyObject* object) { return PyArray_Check(object); }
bool is_numpy_scalar(PyObject* object) { return PyArray_IsScalar(object, Generic); }

Ref to_numpy(const Array& array, PyObject* descr) {
  if (!descr) descr = descr_of(array.dtype());
  npy_intp shape[NPY_MAXDIMS];
  for (int k = 0; k < array.rank(); ++k) shape[k] = array.shape()[k];
  Py_INCREF(descr);
  Ref result = Ref::checked(PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(descr), array.rank(), shape,
                                                 nullptr, nullptr, 0, nullptr));
  ops::to_host(array, PyArray_DATA(numpy(result.get())));
  deliver_fp();
  return result;
}

Ref to_numpy(ArrayObject* array, const char* counter) {
  Ref result = array->host && PyArray_Check(array->host)
                   ? Ref::checked(PyArray_NewCopy(numpy(array->host), NPY_KEEPORDER))
                   : to_numpy(array->array, array->descr);
  if (counter) {
    session::count(counter);
    session::count("gathers.bytes", static_cast<double>(PyArray_NBYTES(numpy(result.get()))));
  }
  return result;
}

std::optional<Array> array_from_numpy(PyObject* object, Ref* descr) {
  PyArrayObject* source = numpy(object);
  auto format = format_of(reinterpret_cast<PyObject*>(PyArray_DESCR(source)));
  if (!format) return std::nullopt;
  Dims shape(PyArray_DIMS(source), PyArray_DIMS(source) + PyArray_NDIM(source));
  Dims strides(PyArray_STRIDES(source), PyArray_STRIDES(source) + PyArray_NDIM(source));
  if (descr) *descr = format->descr;
  return ops::from_host(PyArray_DATA(source), shape, strides, format->dtype, format->itemsize);
}

PyObject* from_numpy(PyObject* object) {
  Ref descr;
  if (auto array = array_from_numpy(object, &descr)) return new_array(std::move(*array), descr.get());
  return new_host_array(Ref::checked(PyArray_NewCopy(numpy(object), NPY_KEEPORDER)).release());
}

Ref numpy_asarray(PyObject* object, PyObject* descr) {
  Py_XINCREF(descr);
  return Ref::checked(PyArray_FromAny(object, reinterpret_cast<PyArray_Descr*>(descr), 0, 0, 0, nullptr));
}

Ref numpy_scalar(const Scalar& value) {
  return Ref::checked(PyArray_Scalar(const_cast<unsigned char*>(value.bytes),
                                     reinterpret_cast<PyArray_Descr*>(descr_of(value.dtype)), nullptr));
}

PyObject* scalar_value(ArrayObject* scalar) {
  if (!scalar->host) {
    if (scalar->array.dtype() == DType::kVoid) {
      Ref copy = to_numpy(scalar->array, scalar->descr);
      scalar->host = Ref::checked(PyObject_GetItem(copy.get(), Ref::steal(PyTuple_New(0)).get())).release();
    } else {
      scalar->host = numpy_scalar(ops::item(scalar->array)).release();
      deliver_fp();
    }
  }
  return scalar->host;
}

std::optional<Scalar> scalar_from_numpy(PyObject* object) {
  Ref descr = Ref::checked(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(object)));
  auto format = format_of(descr.get());
  if (!format || format->dtype == DType::kVoid) return std::nullopt;
  Scalar value;
  value.dtype = format->dtype;
  PyArray_ScalarAsCtype(object, value.bytes);
  return value;
}

}  // namespace tilewise::bind
