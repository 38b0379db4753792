// Programs whose reductions run over different axes first, cut into one program for each axis.
#pragma once

#include <vector>

#include "ops/simd/plan.h"

namespace tilewise::ops::simd {

// The axis over which a reduction's first stage runs.
inline int first_axis(const Reduction& reduction) { return 63 - __builtin_clzll(reduction.axes); }

// One part for each axis, with what its reductions need; stores are in the last, since an output may lie on an operand.
// Empty where all reductions share an axis, and where reduced values are used within the program.
std::vector<PlanPart> parts_by_axis(const Program& program);

}  // namespace tilewise::ops::simd
