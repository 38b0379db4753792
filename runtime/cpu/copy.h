// The copy kernel: affine pieces from one place in host memory to another.
//
// A piece is brought into a plain form first (axes sorted by the target's strides and merged), then done by one of three
// loops: rows of contiguous bytes, one strided axis, or tiles of two axes where source and target run along different
// ones. The work is shared at the grain of about 128 KiB. Source and target must not overlap. Targets may have any
// strides but zero, sources any.
#pragma once

#include <span>

#include "runtime/device.h"

namespace tilewise::cpu {

void copy_pieces(char* to, const char* from, std::span<const CopyPiece> pieces, Parallel& parallel);

// Rough nanoseconds on one core.
double copy_cost(std::span<const CopyPiece> pieces);

}  // namespace tilewise::cpu
