// Scans along an axis in fixed blocks (ops/scan/plan.h): NumPy's accumulate. None waits.
#pragma once

#include "ops/elementwise.h"

namespace tilewise::ops {

// Whether accumulate has a loop whose result can be its next left operand, and computes no errors (integer powers).
bool scannable(Opcode op, const Array& source, std::optional<DType> dtype, const Array* out);

// As numpy's op.accumulate: the types are those of reduce. The axis is normalised; the rank is at least 1. ValueError
// where out has another shape.
Array accumulate(Opcode op, const Array& source, int axis, std::optional<DType> dtype, const Array* out);

}  // namespace tilewise::ops
