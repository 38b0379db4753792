// Results that take over the memory of an operand that nobody needs any more: x = x + y reads and writes the same lines.
//
// Both must be the same elements of the frame, so that each is read before it is written, by the same task, and nothing
// else may read the operand. Where several devices of one process read each other's tiles, the tasks are not ordered so.
#include <algorithm>

#include "runtime/lower_group.h"

namespace tilewise {

using partition::Box;

bool GroupLowering::lies_free(const Input& in, const Output& out) const {
  if (std::find(taken_.begin(), taken_.end(), in.store) != taken_.end()) return false;
  const StoreState& donor = l_.stores.get(in.store);
  if (!donor.dropped || donor.open > 0 || donor.instances.size() != 1 || !donor.instances[0].whole) return false;
  for (const Input& other : inputs_)
    if (other.store == in.store && (other.snapshot || !(other.view == out.view))) return false;
  return std::none_of(outputs_.begin(), outputs_.end(), [&](const Output& o) { return o.store == in.store; });
}

bool GroupLowering::takes_over(StoreState& store, const Output& out) {
  if (l_.job.devices() != 1 || group_.phases || !(out.box == Box::of(frame_)) || count_of(frame_) != store.count()) return false;
  for (const Input& in : inputs_) {
    const StoreState& donor = l_.stores.get(in.store);
    if (donor.bytes() != store.bytes() || donor.base_itemsize != store.base_itemsize || !lies_free(in, out)) continue;
    store.tiling = l_.whole_tiling(store);
    store.instances = donor.instances;
    store.instances[0].tile = 0;
    store.instances[0].place = partition::InstanceBox(store.form(), Box::of(store.base_shape));
    taken_.push_back(in.store);
    return true;
  }
  return false;
}

// The operands were bound where they lay; from here on the memory is the results'.
void GroupLowering::forget_taken() {
  for (StoreId id : taken_)
    if (l_.stores.contains(id)) l_.stores.get(id).instances.clear();
  taken_.clear();
}

}  // namespace tilewise
