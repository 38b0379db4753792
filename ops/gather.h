// Rows of an array by lists of positions: read, written, and combined in place.
//
// `positions` are int64 of one axis, checked by the caller: all in [0, rows). A row is everything behind the first axis.
// Where the lists are long, elements travel in two messages between each pair of devices: positions one way, rows back
// (or with them); the sizes are known from counts that the leader waits for. No array is gathered.
#pragma once

#include "runtime/array.h"
#include "runtime/program.h"

namespace tilewise::ops {

// result[i, ...] = source[positions[i], ...].
Array gather_rows(const Array& source, const Array& positions);
// dst[positions[i], ...] = values[i, ...], in the order of i: of equal positions the last stays. values has dst's type and
// the shape [positions, ...rest of dst]; it may be stretched.
void scatter_rows(const Array& dst, const Array& positions, const Array& values);
// dst[positions[i], ...] = op(dst[positions[i], ...], values[i, ...]), one after the other in the order of i. op has a loop
// of dst's type that gives that type; of one operand: values is null.
void combine_rows(Opcode op, const Array& dst, const Array& positions, const Array* values);

}  // namespace tilewise::ops
