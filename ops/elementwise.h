// Elementwise operations on arrays: types, broadcasting and the record.
//
// Every function checks its arguments and throws NumPy's kind of error before anything is recorded. None waits.
#pragma once

#include <optional>
#include <span>

#include "runtime/array.h"
#include "runtime/program.h"

namespace tilewise::ops {

// An operand: an array, or a Python scalar, whose type is weak (NEP 50).
struct Input {
  enum class Kind : uint8_t { kArray, kWeakBool, kWeakInt, kWeakFloat, kWeakComplex, kScalar } kind = Kind::kArray;
  const Array* array = nullptr;
  Scalar value;           // kWeakBool: bool; kWeakInt: int64, or uint64 where it needs it; kWeakFloat: float64;
                          // kWeakComplex: complex128; kScalar: a NumPy scalar with its own dtype

  static Input of(const Array& array) { return {Kind::kArray, &array, {}}; }
};

enum class Casting : uint8_t { kNo, kEquiv, kSafe, kSameKind, kUnsafe };

struct ElementwiseOptions {
  const Array* out = nullptr;      // written in place; otherwise a new array
  const Input* where = nullptr;    // boolean mask, broadcast
  std::optional<DType> dtype;      // of the calculation, as NumPy's dtype=
  Casting casting = Casting::kSameKind;
};

// Applies a row of elementwise.def. Errors: UFuncTypeError where there is no loop, ValueError where shapes do not
// broadcast, OverflowError for a Python integer that does not fit.
void elementwise_into(Array& result, Opcode op, std::span<const Input> inputs, const ElementwiseOptions& options = {});
Array elementwise(Opcode op, std::span<const Input> inputs, const ElementwiseOptions& options = {});

// TypeError for a mask that is not of bools.
void check_mask(const Input& mask);

// The shape all operands broadcast to, or NumPy's ValueError.
Dims broadcast_shape(std::span<const Dims* const> shapes);

}  // namespace tilewise::ops
