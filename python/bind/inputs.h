// Python operands as the runtime's Inputs.
#pragma once

#include <optional>

#include "ops/elementwise.h"
#include "python/bind/object.h"

namespace tilewise::bind {

// An operand: the Input, and what keeps it alive while the call lasts.
struct Operand {
  Operand() : Operand(own) {}
  // The Input is made in its place among its like: copying what was written a moment ago would wait for it.
  explicit Operand(ops::Input& place) : input(place) {}
  Operand(const Operand&) = delete;

  ops::Input& input;
  ops::Input own;
  std::optional<Array> held;
  bool subclass = false;
};

enum class Convert : uint8_t {
  kOk,
  kHost,     // a dtype that only NumPy holds
  kForeign,  // an object that is no array, number or sequence of such: its own type may know what to do
  kTooBig,   // a Python integer beyond 64 bits
};

// Arrays, scalars of ours and NumPy's, Python numbers. Sequences are kForeign here.
Convert convert_operand(PyObject* object, Operand& operand);
// Also lists and other things that NumPy makes arrays of.
Convert convert_arraylike(PyObject* object, Operand& operand);

// The operand as an array of ours (a weak scalar becomes a 0-d array); throws where it cannot.
Array as_array(PyObject* object);

// An argument `where=`: null for True and None.
const ops::Input* where_argument(PyObject* object, Operand& operand);

}  // namespace tilewise::bind
