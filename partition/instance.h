// An instance's place in its store's index space: which box of the store it holds, and how the box lies in memory.
//
// The memory is a dense C-order block of the box, base itemsize bytes an element; rows (runs along the last axis)
// may be `row_pitch` bytes apart. `levels` is the same box prepared for address arithmetic: the store's linear
// byte address is taken apart level by level, outer to inner, and neighbouring axes are one level wherever the box
// spans the inner one. A plain value; owns no memory.
#pragma once

#include "partition/box.h"
#include "partition/store_form.h"

namespace tilewise::partition {

// position = address / unit; what remains goes to the next level. The last level counts bytes (unit 1).
struct Level {
  int64_t unit;    // bytes of the store's index for one step
  int64_t lo, hi;  // the box, in steps
  int64_t origin;  // the step that lies at the instance's start
  int64_t stride;  // bytes of the instance for one step
};

struct InstanceBox {
  InstanceBox() = default;
  // row_pitch 0: dense rows.
  InstanceBox(const StoreForm& form, const Box& box, int64_t row_pitch = 0)
      : InstanceBox(form, box, box, row_pitch) {}
  // Only the elements in `clip`, a part of what the instance holds in `box`, count as held: a tile without
  // margins.
  InstanceBox(const StoreForm& form, const Box& box, const Box& clip, int64_t row_pitch);

  int64_t bytes() const;

  StoreForm form;
  Box box;   // the memory's
  Box clip;  // what counts as held; equals box as a rule
  int64_t row_pitch = 0;
  SmallVec<Level, 6> levels;
};

}  // namespace tilewise::partition
