// Runs a plan's steps over blocks of a launch's box, for one thread: binds the kernels' operands to registers and
// arrays once, then moves the pointers from block to block.
//
// A block is a part of one row, or several whole rows. Reductions are not its business: it hands the values that they
// take to a Sink, block by block. Its memory is from the thread's arena, within a Scope of the caller's.
#pragma once

#include <cstdint>

#include "ops/simd/arena.h"
#include "ops/simd/geometry.h"

namespace tilewise::ops::simd {

// A block: `count` elements from `column` of row `row`; or `rows` rows, and then column is 0.
struct Block {
  int64_t row = 0, rows = 1;
  int64_t column = 0, count = 0;
};

// Values of a reduction's operand for a block; `scalar`: one element stands for all.
class Sink {
 public:
  virtual void take(int reduction, const char* values, bool scalar, const Block& block) = 0;

 protected:
  ~Sink() = default;
};

// What the processor's flags say since they were last taken, noted for a reduction where its joins may raise warnings.
void note_reduced_flags(const Launch& launch, const Plan& plan, const PlannedReduction& reduction);

class Runner {
 public:
  // `plan`: the geometry's, or a form of it. `crossing`: elements that registers which cross phases must hold.
  Runner(const Geometry& geometry, const Plan& plan, Arena& arena, int64_t crossing, Sink* sink);

  // Before the blocks of a row (or of rows, where batched).
  void start_row(int64_t row);
  // Runs the steps of a phase. `offset`: where the block lies in registers that cross phases.
  void run(int phase, const Block& block, int64_t offset);

  // A reduced value becomes known: one for each row of the block, `stride` bytes apart.
  void set_reduced(uint16_t value, const char* states, int64_t stride, const Block& block);

  // The next block is the same columns one step further on this axis, not the following columns: what to prefetch.
  void walk_along(int axis) { walk_axis_ = axis; }

  // Parts of a block that is cut at the end of whole vectors begin at multiples of this (reductions: their lanes).
  void split_at(int64_t elements) { split_ = elements; }

  // The sink may be given elements a second time, with the same values.
  void sink_takes_twice() { sink_counts_ = false; }

 private:
  static constexpr uint16_t kFixed = 0xffff;
  struct Patch {
    const char** field;
    uint16_t place;
  };
  struct Bound {
    Call call;
    uint8_t seen = 0;          // what the kernel reports
    int64_t scalar_count = 0;  // not 0: all operands are scalars, so many elements are computed
    bool direct = false;       // a load or store that has nothing to do while operands are in place
  };

  int64_t register_size(int r) const;
  char* splat();
  void bind_values();
  void find_conflicts();
  bool may_repeat() const;
  void find_leaders();
  void bind_step(int s);
  void bind_operand(Call& call, int k, uint16_t value);
  void choose_fetchers();
  int wanted_in(const Value& v) const;
  void prefetch(int phase, const Block& block);
  void run_part(int phase, const Block& block, int64_t offset, bool gathered);
  void move_cursors(const Block& block, int64_t offset, bool gathered);
  void run_step(int s, const Block& block, int64_t padded, bool gathered);
  void run_watching(const Step& step, Bound& bound, int64_t count);
  void load(const Step& step, const Block& block, int64_t padded);
  void load_index(const Step& step, const Block& block, int64_t padded);
  void store(const Step& step, const Block& block);
  void move_rows(char* reg, int a, const Block& block, bool out);
  void attribute_flags(const Step& step, const Bound& bound, int64_t count);
  void collect_flags(const Step& step, Bound& bound, int64_t count);
  const char* value_pointer(uint16_t value) const;

  const Geometry& g_;
  const Plan& plan_;
  const Launch& launch_;
  Arena& arena_;
  Sink* sink_;
  uint16_t accesses_ = 0;
  int64_t crossing_ = 0;
  Bound* bound_ = nullptr;        // by step
  uint16_t* homes_ = nullptr;     // by value: the cursor that points to it, kFixed for its register
  char** fixed_ = nullptr;        // by value: register or splat
  uint16_t* travellers_ = nullptr;  // values whose home is a cursor
  int travels_ = 0;
  uint16_t* fetchers_ = nullptr;  // by access: the step that fetches its next block meanwhile, kNone: nobody
  bool* scalar_ = nullptr;        // by value
  bool* forced_ = nullptr;        // by access: gathered since an output overwrites it in between
  char** registers_ = nullptr;
  const char** cursors_ = nullptr;  // by place: accesses, then registers
  const char** row_base_ = nullptr;  // by access: first element of the row
  const char** splat_of_ = nullptr;  // by access: what the scalar in the register was read from
  Patch* patches_ = nullptr;
  int patch_count_ = 0;
  bool* leads_ = nullptr;         // by access: nothing else asks for its elements earlier
  int64_t split_ = 1;
  bool works_hard_ = false;  // the next block is asked for meanwhile
  bool sink_counts_ = true;
  bool repeats_ = false;    // elements may be computed twice: no output lies on an operand
  int walk_axis_ = -1;
  bool moving_ = false;     // registers that cross phases are used at the block's offset
  bool row_scalars_ = false;  // something is one element for a row
  char* splats_ = nullptr;
  char* spread_ = nullptr;  // a scalar repeated, to be stored
  char* between_ = nullptr;  // what the first of a pair makes, when flags are attributed
};

}  // namespace tilewise::ops::simd
