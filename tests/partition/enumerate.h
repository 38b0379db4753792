// Small worlds to try everything in: all shapes, boxes, slices and grids, and random views, with the truth by
// counting.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "partition/box.h"
#include "partition/store_form.h"
#include "partition/tiling.h"
#include "partition/view.h"

namespace tilewise::partition {

// All shapes of the given rank with extents lowest .. highest.
std::vector<Dims> all_shapes(int rank, int64_t lowest, int64_t highest);
// All non-empty boxes within a shape.
std::vector<Box> all_boxes(const Dims& shape);
// All ways to cut an extent: every set of inner positions.
std::vector<Cuts> all_cuts(int64_t extent);
// One axis as NumPy's slices leave it: start, step, count.
struct AxisSlice {
  int64_t start, step, count;
};
std::vector<AxisSlice> all_slices(int64_t extent);  // steps -2 .. 2 without 0, one empty slice
// Calls f(index) for each point of the box, in C order.
template <class F>
void for_each_point(const Box& box, F&& f) {
  if (box.empty()) return;
  Dims at(box.lo);
  for (;;) {
    f(static_cast<const Dims&>(at));
    int k = box.rank() - 1;
    for (; k >= 0; --k) {
      if (++at[k] < box.hi[k]) break;
      at[k] = box.lo[k];
    }
    if (k < 0) return;
  }
}

using Random = std::mt19937;
inline int64_t pick(Random& random, int64_t lo, int64_t hi) {  // lo .. hi, both included
  return lo + static_cast<int64_t>(random() % static_cast<uint64_t>(hi - lo + 1));
}
Box random_box(Random& random, const Dims& shape);
Cuts random_cuts(Random& random, int64_t extent);
// Chains of slices, flips, permutations, reshapes, diagonals, broadcasts, windows and reinterpretations.
View random_view(Random& random, const StoreForm& form);
// Any strides at all that stay within the store.
View random_strides(Random& random, const StoreForm& form);
// Base coordinates of a store's byte.
Dims coordinates(const StoreForm& form, int64_t byte);

}  // namespace tilewise::partition
