// One reduction by runs (partition/tree.h): over an axis that is not the innermost, for a chunk of columns. Takes the
// rows of a unit in order and gives the unit's states, one a column. Lives in a thread's arena, one thread.
#pragma once

#include <cstdint>

#include "ops/simd/arena.h"
#include "ops/simd/plan.h"

namespace tilewise::ops::simd {

class RunReducer {
 public:
  // `columns`: of the chunk at most.
  static RunReducer* make(Arena& arena, const PlannedReduction& planned, const Reduction& reduction, int64_t columns);

  // `count` columns of row `position` from `column` on. Rows of a unit come in order; `states` are the unit's, and
  // `first` says that the row is its first.
  virtual void take(char* states, int64_t position, bool first, int64_t column, const char* values, int64_t count) = 0;
  // The same for several rows of dense values, of all columns.
  virtual void take_rows(char* states, int64_t position, bool first, const char* values, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; ++r)
      take(states, position + r, first && r == 0, 0, values + r * columns * size_, columns);
  }
  virtual void end_unit(char* states, int64_t columns) = 0;

 protected:
  explicit RunReducer(const PlannedReduction& planned) : planned_(planned), size_(itemsize(planned.dtype)) {}
  ~RunReducer() = default;

  const PlannedReduction& planned_;
  const int size_;
};

}  // namespace tilewise::ops::simd
