// How a scan is split over devices. A family of runtime/step.h.
//
// The scanned axis is in fixed blocks of kScanBlock positions. A block is scanned from its start; the totals of the
// blocks before it are joined in index order and that is joined in from the left. So the bits do not depend on cuts,
// which fall between blocks. Where the axis is cut, a first step computes the blocks' totals (a read of the source), which
// travel; the second scans. Operations that are not associative are one block, on one device a line.
#pragma once

#include "runtime/step.h"

namespace tilewise::ops {

struct ScanForm {
  Opcode op = 0;
  uint8_t axis = 0;
  bool blocks = true;  // false: the whole axis is one block
};

uint16_t scan_family();  // its number

// out = the running combination of x along the axis; totals: of the blocks before the box's first, or null.
void scan_part(const ScanForm& form, DType dtype, const Bound& x, const Bound* totals, const Bound& out,
               Parallel& parallel);
// totals[..., b, ...] = the combination of block b of x.
void scan_totals(const ScanForm& form, DType dtype, const Bound& x, const Bound& totals, Parallel& parallel);

}  // namespace tilewise::ops
