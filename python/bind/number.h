// The operators' rows, and calls of a row from Python operands. The fast path of `a + b`.
#pragma once

#include "ops/elementwise.h"
#include "python/bind/object.h"

namespace tilewise::bind {

struct Operator {
  const char* ufunc;  // NumPy's name
  Opcode op = 0;      // 0 where there is no row: the slow path
};

// Looks the opcodes up; once, after the table of rows is installed.
void init_operators();

// a OP b, or a OP= b. Falls back to tilewise._slow for what is no plain operand.
PyObject* binary(const Operator& op, PyObject* a, PyObject* b, bool in_place = false);
PyObject* unary(const Operator& op, PyObject* a);

// Whether the type of `object`, a subclass of ndarray, has an __array_ufunc__ of its own.
bool overrides_ufunc(PyObject* object);

}  // namespace tilewise::bind
