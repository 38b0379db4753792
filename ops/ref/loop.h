// The reference loops: one function for each row and loop dtype, over dense buffers. Each element is computed alone.
//
// Other interpreters may call them for rows that they have no better code for: a loop may write over an operand of
// the result's size. Constant after start; any thread.
#pragma once

#include <cstdint>

#include "runtime/program.h"

namespace tilewise::ops::ref {

// out[i] = row(in[0][i], in[1][i], in[2][i]); what it raises is OR-ed into *flags (FpKind) unless that is null.
using Loop = void (*)(const void* const* in, void* out, int64_t n, uint8_t* flags);

// Null where the row has no loop for the dtype.
Loop find_loop(Opcode op, DType dtype);

// out[i] = convert(in[i]), NumPy's astype.
Loop find_cast(DType from, DType to);

struct LoopTable {
  Loop loop[256][kNumericDTypes] = {};
};

// The families: each is compiled in a file of its own, ops/ref/<family>.cpp, and adds its rows' loops to the table.
#define TW_FAMILIES(X) X(arith) X(compare) X(quotient) X(logic) X(floats) X(power) X(trig)
#define TW_DECLARE(family) void add_##family(LoopTable& table);
TW_FAMILIES(TW_DECLARE)
#undef TW_DECLARE

}  // namespace tilewise::ops::ref
