// The bodies of gather's and scatter's tasks, on one device.
#pragma once

#include "ops/gather/rows.h"
#include "runtime/program.h"

namespace tilewise::ops {

// out[i] = source[positions[i] - first].
void gather_local(const Bound& source, int64_t first, const Bound& positions, const Bound& out, int64_t itemsize, Parallel& parallel);

// What becomes of a row that a position names.
struct RowUpdate {
  bool combines = false;  // else it is replaced
  Opcode op = 0;          // of the combination
  DType dtype = DType::kVoid;
  int64_t itemsize = 0;
};
// For each i in order with first <= positions[i] < first + rows of dst: updates dst's row by values[i] (values: null for an
// operation of one operand). On all cores: each takes a part of the rows and looks at all positions.
void update_local(const RowUpdate& update, const Bound& dst, int64_t first, const Bound& positions, const Bound* values,
                  Parallel& parallel);
// to = from, where a task's output is no place that already holds the values.
void keep_others(const Bound& from, const Bound& to, int64_t itemsize, Parallel& parallel);

}  // namespace tilewise::ops
