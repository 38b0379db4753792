// Module functions by pybind11, in three files: arrays, random numbers, and the session.
#pragma once

#include <pybind11/pybind11.h>

namespace tilewise::bind {

void add_functions(pybind11::module_& m);  // functions.cpp
void add_random(pybind11::module_& m);     // random.cpp
void add_session(pybind11::module_& m);    // session.cpp

}  // namespace tilewise::bind
