#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL tilewise_numpy_api
#include "python/bind/dtypes.h"

#include <numpy/arrayobject.h>

#include "python/bind/object.h"

namespace tilewise::bind {
namespace {

PyObject* descriptors[kNumericDTypes];

constexpr int kTypeNumbers[kNumericDTypes] = {NPY_BOOL,  NPY_INT8,   NPY_INT16,  NPY_INT32,   NPY_INT64,   NPY_UINT8,  NPY_UINT16,
                                              NPY_UINT32, NPY_UINT64, NPY_HALF, NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE};

std::optional<DType> dtype_of_number(int number) {
  switch (number) {
    case NPY_BOOL: return DType::kBool;
    case NPY_BYTE: return DType::kInt8;
    case NPY_SHORT: return DType::kInt16;
    case NPY_INT: return DType::kInt32;
    case NPY_LONG:
    case NPY_LONGLONG: return DType::kInt64;
    case NPY_UBYTE: return DType::kUInt8;
    case NPY_USHORT: return DType::kUInt16;
    case NPY_UINT: return DType::kUInt32;
    case NPY_ULONG:
    case NPY_ULONGLONG: return DType::kUInt64;
    case NPY_HALF: return DType::kFloat16;
    case NPY_FLOAT: return DType::kFloat32;
    case NPY_DOUBLE: return DType::kFloat64;
    case NPY_CFLOAT: return DType::kComplex64;
    case NPY_CDOUBLE: return DType::kComplex128;
    default: return std::nullopt;
  }
}

}  // namespace

void init_dtypes() {
  if (PyArray_ImportNumPyAPI() < 0) throw PythonError();
  for (int k = 0; k < kNumericDTypes; ++k) {
    descriptors[k] = reinterpret_cast<PyObject*>(PyArray_DescrFromType(kTypeNumbers[k]));
  }
}

PyObject* descr_of(DType dtype) { return descriptors[static_cast<int>(dtype)]; }

PyObject* descr_of(const ArrayObject* array) {
  if (array->descr) return array->descr;
  if (array->host) {
    if (PyArray_Check(array->host)) return reinterpret_cast<PyObject*>(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(array->host)));
  }
  return descr_of(array->array.dtype());
}

std::optional<Format> format_of(PyObject* object) {
  auto* descr = reinterpret_cast<PyArray_Descr*>(object);
  if (auto dtype = dtype_of_number(descr->type_num)) {
    if (!PyArray_ISNBO(descr->byteorder)) return std::nullopt;
    return Format{*dtype, itemsize(*dtype), {}};
  }
  const auto size = PyDataType_ELSIZE(descr);
  if (descr->type_num == NPY_VOID && !PyDataType_REFCHK(descr) && size > 0) {
    return Format{DType::kVoid, static_cast<int32_t>(size), Ref::borrow(object)};
  }
  return std::nullopt;
}

Ref descr_from(PyObject* argument) {
  PyArray_Descr* descr = nullptr;
  if (!PyArray_DescrConverter(argument, &descr)) throw PythonError();
  return Ref::steal(reinterpret_cast<PyObject*>(descr));
}

std::optional<DType> numeric_dtype(PyObject* argument) {
  if (!argument || argument == Py_None) return std::nullopt;
  Ref descr = descr_from(argument);
  auto format = format_of(descr.get());
  if (!format || format->dtype == DType::kVoid) {
    throw Error(ErrorKind::kNotImplemented, "tiles hold no numbers of this dtype");
  }
  return format->dtype;
}

}  // namespace tilewise::bind
