// One reduction over the innermost axis, unit by unit (partition/tree.h): takes the values of a unit block by block and
// gives the unit's state. One for each way that states combine; lives in a thread's arena, one thread.
#pragma once

#include <cstdint>

#include "ops/simd/arena.h"
#include "ops/simd/plan.h"
#include "ops/simd/tree_stack.h"

namespace tilewise::ops::simd {

class LaneReducer {
 public:
  static LaneReducer* make(Arena& arena, const PlannedReduction& planned, const Reduction& reduction);

  virtual void begin_unit(int64_t position) = 0;
  // The next values of the unit; all but the last call of a unit bring a multiple of 128.
  virtual void take(const char* values, int64_t count) = 0;
  virtual void end_unit(char* state) = 0;
  // Rows that are units of their own, one state each; `position` of their first values.
  virtual void rows(const char* values, int64_t rows, int64_t n, int64_t position, char* states);

 protected:
  explicit LaneReducer(const PlannedReduction& planned) : planned_(planned), size_(itemsize(planned.dtype)) {}
  ~LaneReducer() = default;

  const PlannedReduction& planned_;
  const int size_;
};

StateJoin make_join(const PlannedReduction& planned, const Reduction& reduction);
// Where a reduction's value stands in its state.
int64_t value_offset(const Reduction& reduction, DType dtype);

}  // namespace tilewise::ops::simd
