// Drives launches row by row: elementwise programs, reductions over the innermost axis, and programs in phases.
#pragma once

#include "ops/simd/geometry.h"

namespace tilewise::ops::simd {

void drive_rows(const Geometry& geometry, Parallel& parallel);

}  // namespace tilewise::ops::simd
