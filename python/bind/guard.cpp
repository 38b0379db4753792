#include "python/bind/guard.h"

#include <pybind11/pybind11.h>

#include <cstring>
#include <new>
#include <string>
#include <unordered_map>

namespace tilewise::bind {
namespace {

// Exceptions that live in Python modules are looked up when first raised.
PyObject* from_module(const char* module, const char* name) {
  PyObject* imported = PyImport_ImportModule(module);
  PyObject* type = imported ? PyObject_GetAttrString(imported, name) : nullptr;
  Py_XDECREF(imported);
  if (!type) {
    PyErr_Clear();
    return PyExc_RuntimeError;
  }
  return type;
}

PyObject* exception_of(ErrorKind kind) {
  static PyObject* axis = nullptr;
  static PyObject* linalg = nullptr;
  static PyObject* ufunc = nullptr;
  switch (kind) {
    case ErrorKind::kType: return PyExc_TypeError;
    case ErrorKind::kValue: return PyExc_ValueError;
    case ErrorKind::kIndex: return PyExc_IndexError;
    case ErrorKind::kMemory: return PyExc_MemoryError;
    case ErrorKind::kOverflow: return PyExc_OverflowError;
    case ErrorKind::kZeroDivision: return PyExc_ZeroDivisionError;
    case ErrorKind::kFloatingPoint: return PyExc_FloatingPointError;
    case ErrorKind::kNotImplemented: return PyExc_NotImplementedError;
    case ErrorKind::kAxis: return axis ? axis : axis = from_module("numpy.exceptions", "AxisError");
    case ErrorKind::kLinAlg: return linalg ? linalg : linalg = from_module("numpy.linalg", "LinAlgError");
    case ErrorKind::kUFuncType: return ufunc ? ufunc : ufunc = from_module("tilewise._errors", "UFuncTypeError");
    case ErrorKind::kRuntime:
    case ErrorKind::kInternal: break;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "an error was reported without saying which");
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (const Error& error) {
    // What came from the environment need not be UTF-8.
    PyObject* text = PyUnicode_DecodeUTF8(error.what(), static_cast<Py_ssize_t>(std::strlen(error.what())), "backslashreplace");
    if (text) PyErr_SetObject(exception_of(error.kind()), text);
    Py_XDECREF(text);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
}

PyObject* slow_function(const char* name) {
  static auto* known = new std::unordered_map<std::string, PyObject*>;
  PyObject*& function = (*known)[name];
  if (!function) {
    Ref module = Ref::checked(PyImport_ImportModule("tilewise._slow"));
    function = Ref::checked(PyObject_GetAttrString(module.get(), name)).release();
  }
  return function;
}

}  // namespace tilewise::bind
