// tilewise._core: the types (by CPython's API) and the functions (by pybind11) behind the Python package.
#include <pybind11/pybind11.h>

#include "ops/op_table.h"
#include "python/bind/dtypes.h"
#include "python/bind/fp.h"
#include "python/bind/functions.h"
#include "python/bind/number.h"
#include "python/bind/object.h"
#include "python/bind/ufunc.h"

namespace py = pybind11;

PYBIND11_MODULE(_core, m) {
  namespace bind = tilewise::bind;
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const bind::PythonError&) {
      bind::set_python_error();
    } catch (const tilewise::Error&) {
      bind::set_python_error();
    }
  });
  tilewise::ops::install();
  bind::guarded([&]() -> int {
    bind::init_dtypes();
    bind::init_fp();
    bind::init_operators();
    bind::init_object_types(m.ptr());
    bind::init_ufunc_type(m.ptr());
    return 0;
  });
  if (PyErr_Occurred()) throw py::error_already_set();
  bind::add_functions(m);
  bind::add_random(m);
  bind::add_session(m);
}
