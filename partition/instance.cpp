#include "partition/instance.h"

#include <iterator>

namespace tilewise::partition {

InstanceBox::InstanceBox(const StoreForm& store, const Box& whole, const Box& held, int64_t pitch)
    : form(store), box(whole), clip(held), row_pitch(pitch) {
  const int rank = form.shape.size();
  // The innermost level starts as the bytes of one element, which no box cuts.
  Level level{1, 0, form.itemsize, 0, 1};
  int64_t extent = form.itemsize;  // steps of `level` in the store
  int64_t unit = form.itemsize;    // bytes of the store's index for one step of axis k
  int64_t stride = form.itemsize;  // and of the instance
  SmallVec<Level, 6> inner_first;
  for (int k = rank - 1; k >= 0; --k) {
    const int64_t axis = form.shape[k];
    const bool spans = level.lo == 0 && level.hi == extent && level.origin == 0 && stride == level.stride * extent;
    if (axis == 1) {
      // Nothing to take apart, and no constraint.
    } else if (spans) {
      level.lo = clip.lo[k] * extent;
      level.hi = clip.hi[k] * extent;
      level.origin = box.lo[k] * extent;
      extent *= axis;
    } else {
      inner_first.push_back(level);
      level = {unit, clip.lo[k], clip.hi[k], box.lo[k], stride};
      extent = axis;
    }
    unit *= axis;
    stride = k == rank - 1 && row_pitch > 0 ? row_pitch : stride * box.extent(k);
  }
  inner_first.push_back(level);
  if (clip.empty()) inner_first[0].lo = inner_first[0].hi = 0;  // axes of extent 1 have no level to say so
  levels.assign(std::make_reverse_iterator(inner_first.end()), std::make_reverse_iterator(inner_first.begin()));
}

int64_t InstanceBox::bytes() const {
  if (box.empty()) return 0;
  const int rank = box.rank();
  if (row_pitch == 0 || rank == 0) return box.count() * form.itemsize;
  return box.count() / box.extent(rank - 1) * row_pitch;
}

}  // namespace tilewise::partition
