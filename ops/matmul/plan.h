// How a matrix product is split over devices. A family of runtime/step.h.
//
// Three ways, chosen by the shapes alone, so that the bits depend on the shapes alone. By result: tasks compute tiles of
// the result; a large right operand is fetched panel by panel of the contracted axis, so that no device ever holds it whole.
// By depth, where the contracted axis is long and the result small: each device multiplies sections of fixed extent, and
// the sections' products are added in index order. Results of one task need neither.
#pragma once

#include "runtime/step.h"

namespace tilewise::ops {

uint16_t matmul_family();  // its number

// Extent of a section of the contracted axis where the product is split by depth, else 0.
int64_t section_depth(int64_t rows, int64_t columns, int64_t depth);

}  // namespace tilewise::ops
