// How a launch's box is walked: rows of the innermost axis, cut into blocks, or, where rows are short, blocks of several
// rows. Says for each access whether its elements are used where they lie. Made once a launch; constant.
#pragma once

#include <cstdint>

#include "ops/simd/plan.h"
#include "runtime/base/dims.h"
#include "runtime/launch.h"

namespace tilewise::ops::simd {

enum class Mode : uint8_t {
  kDirect,  // contiguous over a block: read or written in place
  kScalar,  // one element for a whole block
  kGather,  // copied into, or out of, the value's register
  kStatic,  // the same for every block of rows: copied once
};

struct AccessPlace {
  Mode mode;
  int32_t itemsize;
  char* base;
  int64_t inner;  // stride of the innermost axis
};

struct Geometry {
  const Plan* plan = nullptr;
  const Launch* launch = nullptr;
  Dims extents;            // of the box; a 0-d box is one row of one element
  Dims origin;
  int last = 0;            // number of the innermost axis
  int64_t n = 1;           // its extent: the length of a row
  int64_t rows = 1;        // product of the others
  bool batched = false;    // blocks of several rows
  int64_t block = 0;       // elements of a block at most
  int64_t rows_per_block = 1;
  bool one_block_rows = true;  // a row fits a block
  SmallVec<AccessPlace, 8> access;

  int64_t stride(int a, int axis) const {
    const Dims& s = launch->operands[a].strides;
    return axis < s.size() ? s[axis] : 0;
  }
  // Bytes from the box's corner to the first element of a row.
  int64_t row_offset(int a, int64_t row) const;
  int64_t elements() const { return n * rows; }
};

// `row_axis`: rows of a block must follow each other on this axis (a reduction by runs), -1: on any.
Geometry make_geometry(const Plan& plan, const Launch& launch, int row_axis);

}  // namespace tilewise::ops::simd
