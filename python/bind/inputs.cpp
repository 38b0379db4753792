#include "python/bind/inputs.h"

#include <complex>

#include "ops/copy.h"
#include "ops/create.h"
#include "python/bind/dtypes.h"
#include "python/bind/host.h"

namespace tilewise::bind {
namespace {

using Kind = ops::Input::Kind;

Convert convert_integer(PyObject* object, Operand& operand) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  operand.input.kind = Kind::kWeakInt;
  operand.input.value = Scalar::of<int64_t>(DType::kInt64, value);
  if (!overflow) return Convert::kOk;
  if (overflow < 0) return Convert::kTooBig;
  const unsigned long long big = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return Convert::kTooBig;
  }
  operand.input.value = Scalar::of<uint64_t>(DType::kUInt64, big);
  return Convert::kOk;
}

// What is not one of the exact types below.
Convert convert_other(PyObject* object, Operand& operand) {
  if (is_numpy_scalar(object)) {
    auto value = scalar_from_numpy(object);
    if (!value) return Convert::kHost;
    operand.input.kind = Kind::kScalar;
    operand.input.value = *value;
    return Convert::kOk;
  }
  if (is_numpy_array(object)) {
    operand.held = array_from_numpy(object);
    if (!operand.held || operand.held->dtype() == DType::kVoid) return Convert::kHost;
    operand.input.array = &*operand.held;
    return Convert::kOk;
  }
  if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object)) {
    // A subclass of a Python number counts as that number.
    if (PyFloat_Check(object)) {
      operand.input.kind = Kind::kWeakFloat;
      operand.input.value = Scalar::of(DType::kFloat64, PyFloat_AS_DOUBLE(object));
      return Convert::kOk;
    }
    if (PyLong_Check(object)) return convert_integer(object, operand);
  }
  return Convert::kForeign;
}

}  // namespace

Convert convert_operand(PyObject* object, Operand& operand) {
  if (is_exact_array(object) || is_exact_scalar(object)) {
    ArrayObject* array = cast_array(object);
    if (!array->array.store || array->array.dtype() == DType::kVoid) return Convert::kHost;
    operand.input.array = &array->array;
    return Convert::kOk;
  }
  if (PyFloat_CheckExact(object)) {
    operand.input.kind = Kind::kWeakFloat;
    operand.input.value = Scalar::of(DType::kFloat64, PyFloat_AS_DOUBLE(object));
    return Convert::kOk;
  }
  if (PyLong_CheckExact(object)) return convert_integer(object, operand);
  if (PyBool_Check(object)) {
    operand.input.kind = Kind::kWeakBool;
    operand.input.value = Scalar::of<bool>(DType::kBool, object == Py_True);
    return Convert::kOk;
  }
  if (PyComplex_CheckExact(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    operand.input.kind = Kind::kWeakComplex;
    operand.input.value = Scalar::of(DType::kComplex128, std::complex<double>(value.real, value.imag));
    return Convert::kOk;
  }
  if (is_array(object)) {
    ArrayObject* array = cast_array(object);
    if (!array->array.store || array->array.dtype() == DType::kVoid) return Convert::kHost;
    operand.input.array = &array->array;
    operand.subclass = true;
    return Convert::kOk;
  }
  return convert_other(object, operand);
}

Convert convert_arraylike(PyObject* object, Operand& operand) {
  const Convert how = convert_operand(object, operand);
  if (how != Convert::kForeign) return how;
  Ref array = numpy_asarray(object);
  return convert_operand(array.get(), operand);
}

Array as_array(PyObject* object) {
  if (is_stored(object)) return cast_array(object)->array;
  Ref array = is_array(object) ? Ref::borrow(cast_array(object)->host) : numpy_asarray(object);
  if (auto result = array_from_numpy(array.get())) return std::move(*result);
  throw Error(ErrorKind::kNotImplemented, "tiles cannot hold this dtype");
}

const ops::Input* where_argument(PyObject* object, Operand& operand) {
  if (!object || object == Py_None || object == Py_True) return nullptr;
  if (is_exact_scalar(object) && is_stored(object)) {
    operand.held = ops::astype(cast_array(object)->array, DType::kBool);
    operand.input = ops::Input::of(*operand.held);
    return &operand.input;
  }
  // Only arrays keep a type of their own: numbers and lists are true or false.
  const bool typed = is_array(object) || is_numpy_array(object) || PyBool_Check(object);
  Ref mask = typed ? Ref::borrow(object) : numpy_asarray(object, descr_of(DType::kBool));
  if (convert_operand(mask.get(), operand) != Convert::kOk) throw Error(ErrorKind::kType, "where= must be a boolean array");
  return &operand.input;
}

}  // namespace tilewise::bind
