// Runs the blocks of a launch's box for one thread: by one Runner, or, where the program has guards, by one for each set
// of guards that hold together.
//
// A block of a program with guards is cut where guards begin and end: along the row, or, in blocks of several rows that
// no guard cuts, between rows. The pieces' values for reductions are put together, so that the sink sees whole blocks and
// its results do not depend on the guards. Memory is from the thread's arena, within a Scope of the caller's.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/simd/arena.h"
#include "ops/simd/geometry.h"
#include "ops/simd/runner.h"

namespace tilewise::ops::simd {

class BlockRunner final : private Sink {
 public:
  BlockRunner(const Geometry& geometry, Arena& arena, int64_t crossing, Sink* sink);
  BlockRunner(const BlockRunner&) = delete;

  // As in Runner.
  void start_row(int64_t row) {
    if (only_) only_->start_row(row);
    else start_guarded_row(row);
  }
  void run(int phase, const Block& block, int64_t offset) {
    if (only_) only_->run(phase, block, offset);
    else run_guarded(block);
  }
  void set_reduced(uint16_t value, const char* states, int64_t stride, const Block& block) {
    only_->set_reduced(value, states, stride, block);
  }
  void walk_along(int axis);
  void split_at(int64_t elements);

 private:
  struct Form {
    uint64_t active = 0;
    Runner* runner = nullptr;  // null: nothing is done there
    int64_t row = -1;          // that it was started for
  };
  struct Segment {
    int64_t begin = 0, end = 0;  // columns
    int form = 0;
  };

  struct Whole {  // a reduction's operand over the block
    char* values = nullptr;
    int itemsize = 0;
  };

  void take(int reduction, const char* values, bool scalar, const Block& piece) override;
  void start_guarded_row(int64_t row);
  void run_guarded(const Block& block);
  void run_piece(int form, const Block& piece);
  uint64_t guards_of_row(int64_t row) const;
  void find_segments();
  int form_for(uint64_t active);

  const Geometry& g_;
  const Plan& plan_;
  Arena& arena_;
  Sink* sink_;
  Runner* only_ = nullptr;
  int walk_axis_ = -1;
  int64_t row_ = -1;
  uint64_t row_guards_ = 0;           // guards that hold somewhere in the row
  Block block_;                       // that is being run
  std::vector<Whole> whole_;          // by reduction
  std::vector<Form> forms_;
  std::vector<Segment> segments_;     // of the row
};

}  // namespace tilewise::ops::simd
