// Matrix products with NumPy's rules for matmul: stacks broadcast, vectors are promoted.
#pragma once

#include "runtime/array.h"

namespace tilewise::ops {

// ValueError as NumPy's when the core dimensions disagree or an operand is 0-d.
Array matmul(const Array& a, const Array& b, const Array* out = nullptr);

}  // namespace tilewise::ops
