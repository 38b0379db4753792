#include "partition/split.h"

#include <algorithm>
#include <optional>

namespace tilewise::partition {

InstanceBox dense_tile(const Access& access, int64_t tile) {
  return InstanceBox(access.tiling->form(), access.tiling->tile_box(tile));
}

int64_t home_tile(const Access& access, const Box& region, int device) {
  const Tiling& tiling = *access.tiling;
  if (tiling.is_replicated()) return 0;
  const std::vector<int64_t> tiles = tiling.tiles_of(device);
  if (tiles.size() == 1) return tiles[0];
  int64_t best = -1, most = -1;
  for (int64_t tile : tiles) {
    const int64_t held = preimage(access.view, region, tiling.form(), tiling.tile_box(tile)).count();
    if (held > most) {
      best = tile;
      most = held;
    }
  }
  return best;
}

const PartBoxes& BorderSplit::of(int64_t part) {
  const auto at = known_.find(part);
  return at != known_.end() ? at->second : known_.emplace(part, split(part)).first->second;
}

PartBoxes BorderSplit::split(int64_t part) const {
  const Box whole = domain_.part_box(part);
  const int device = domain_.owner(part);
  std::vector<std::optional<InstanceBox>> homes;
  Box inner = whole;
  for (const Access& access : accesses_) {
    const Box region = intersect(whole, access.guard);
    homes.emplace_back();
    if (region.empty()) continue;
    const int64_t tile = home_tile(access, region, device);
    if (tile < 0) continue;
    homes.back() = instances_(access, tile);
    if (access.tiling->is_replicated()) continue;
    const Box readable = interior(access.view, region, *homes.back());
    // An operand that is mostly elsewhere is fetched for the whole part; it must not take the inner box from others.
    if (readable.count() < region.count() / 2 + 1) continue;
    for (int k = 0; k < whole.rank(); ++k) {
      if (readable.lo[k] > region.lo[k]) inner.lo[k] = std::max(inner.lo[k], readable.lo[k]);
      if (readable.hi[k] < region.hi[k]) inner.hi[k] = std::min(inner.hi[k], readable.hi[k]);
    }
  }
  PartBoxes result;
  if (inner.empty()) {
    result.boxes = {Box::nothing(whole.rank()), whole};
  } else {
    result.boxes = subtract(whole, inner);
    result.boxes.insert(result.boxes.begin(), inner);
  }
  for (size_t a = 0; a < accesses_.size(); ++a) {
    result.fetched.emplace_back();
    for (const Box& box : result.boxes) {
      const Box region = intersect(box, accesses_[a].guard);
      const bool in_place = region.empty() || (homes[a] && direct(accesses_[a].view, region, *homes[a]));
      result.fetched.back().push_back(!in_place);
    }
  }
  return result;
}

}  // namespace tilewise::partition
