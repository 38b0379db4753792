#include "partition/halo.h"

#include <algorithm>

namespace tilewise::partition {

bool Margins::empty() const {
  for (int k = 0; k < below.size(); ++k)
    if (below[k] > 0 || above[k] > 0) return false;
  return true;
}

Margins margins(const std::vector<Access>& accesses, const Box& part, const Box& tile_box, double most) {
  const int rank = tile_box.rank();
  Margins result{Dims(rank), Dims(rank)};
  for (const Access& access : accesses) {
    const Box used = footprint(access.view, intersect(part, access.guard), access.tiling->form());
    if (used.empty()) continue;
    for (int k = 0; k < rank; ++k) {
      result.below[k] = std::max(result.below[k], tile_box.lo[k] - used.lo[k]);
      result.above[k] = std::max(result.above[k], used.hi[k] - tile_box.hi[k]);
    }
  }
  for (int k = 0; k < rank; ++k) {
    const auto bound = static_cast<int64_t>(static_cast<double>(tile_box.extent(k)) * most);
    if (result.below[k] <= bound && result.above[k] <= bound) continue;
    result.below[k] = result.above[k] = 0;
  }
  return result;
}

Box with_margins(const Box& tile_box, const Margins& margins, const Dims& base_shape) {
  Box box(tile_box);
  for (int k = 0; k < box.rank(); ++k) {
    box.lo[k] = std::max<int64_t>(0, box.lo[k] - margins.below[k]);
    box.hi[k] = std::min(base_shape[k], box.hi[k] + margins.above[k]);
  }
  return box;
}

}  // namespace tilewise::partition
