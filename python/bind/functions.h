// Module functions by pybind11, in two files: arrays, and the session.
#pragma once

#include <pybind11/pybind11.h>

namespace tilewise::bind {

void add_functions(pybind11::module_& m);  // functions.cpp
void add_session(pybind11::module_& m);    // session.cpp

}  // namespace tilewise::bind
