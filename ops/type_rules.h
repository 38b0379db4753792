// Types of elementwise operations as NumPy resolves them (NEP 50): which loop a row runs in for given operands, and
// what a Python scalar becomes there. Pure functions; any thread. They throw NumPy's exceptions with NumPy's texts.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ops/elementwise.h"

namespace tilewise::ops {

// How an operation is computed. `op` is the row asked for, except that comparisons of int64 with uint64 become their
// _mixed rows. The operands' types are op_info(op).operand_type(k, dtype).
struct Loop {
  Opcode op = 0;
  DType dtype = DType::kBool;
  DType result = DType::kBool;
};

// TypeError or UFuncTypeError where there is no loop, or where `casting` forbids what it needs. `dtype` is NumPy's dtype=:
// the type of the result.
Loop resolve_loop(Opcode op, std::span<const Input> inputs, std::optional<DType> dtype = {},
                  Casting casting = Casting::kSameKind);

// np.result_type: arrays and NumPy scalars decide, Python scalars only raise the kind.
DType result_type(std::span<const Input> inputs);

// A constant cast to the type in which it is used, with NumPy's warnings where it does not fit there.
Scalar cast_constant(const Scalar& value, DType dtype);
// A scalar operand as a constant of the type that its loop wants. OverflowError for a Python integer that does not fit.
Scalar scalar_as(const Input& input, DType dtype);

bool can_cast(DType from, DType to, Casting casting);
std::string_view casting_name(Casting casting);

}  // namespace tilewise::ops
