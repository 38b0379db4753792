// Drives launches that reduce by runs, over an axis that is not the innermost.
#pragma once

#include "ops/simd/geometry.h"

namespace tilewise::ops::simd {

// `axis`: the innermost reduced axis of every reduction of the plan. The plan has one phase.
void drive_runs(const Geometry& geometry, int axis, Parallel& parallel);

}  // namespace tilewise::ops::simd
