// Errors across the border between C++ and CPython, and an owning reference.
//
// Every entry point that Python calls runs its body inside guarded(): an Error becomes the exception NumPy would raise,
// a PythonError means that Python's own error indicator is already set. Holds the GIL throughout.
#pragma once

#include <Python.h>

#include <utility>

#include "runtime/base/error.h"

namespace tilewise::bind {

// Thrown where a C API call failed: the error indicator says why.
struct PythonError {};

// Sets Python's error indicator from the C++ exception being handled.
void set_python_error() noexcept;

template <class F>
auto guarded(F&& body) noexcept -> decltype(body()) {
  using Result = decltype(body());
  try {
    return body();
  } catch (...) {
    set_python_error();
  }
  if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return static_cast<Result>(-1);
  }
}

// A counted reference to a Python object.
class Ref {
 public:
  Ref() = default;
  static Ref steal(PyObject* object) {
    Ref r;
    r.object_ = object;
    return r;
  }
  static Ref borrow(PyObject* object) { return steal(Py_XNewRef(object)); }
  // Takes over a new reference, or throws if the call that gave it failed.
  static Ref checked(PyObject* object) {
    if (!object) throw PythonError();
    return steal(object);
  }
  Ref(const Ref& other) : object_(Py_XNewRef(other.object_)) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

inline void check(int status) {
  if (status < 0) throw PythonError();
}

// tilewise._slow.NAME, imported when first wanted: what is rare is written in Python. Borrowed; kept for the process.
PyObject* slow_function(const char* name);
// Calls it; a failure throws.
template <class... Args>
Ref slow(const char* name, Args*... args) {
  return Ref::checked(PyObject_CallFunctionObjArgs(slow_function(name), static_cast<PyObject*>(args)..., nullptr));
}

// A C function with keywords, as the slot type that method tables want.
template <class F>
PyCFunction as_method(F* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace tilewise::bind
