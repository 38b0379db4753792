#include "partition/split.h"

#include <algorithm>

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

namespace {

// Does the common part of two boxes lie within the third?
bool common_part_within(const Box& a, const Box& b, const Box& within) {
  bool contained = !within.none;
  for (int k = 0; k < a.rank(); ++k) {
    const int64_t lo = std::max(a.lo[k], b.lo[k]), hi = std::min(a.hi[k], b.hi[k]);
    if (lo >= hi) return true;
    contained = contained && lo >= within.lo[k] && hi <= within.hi[k];
  }
  return contained || a.none || b.none;
}

}  // namespace

const PartBoxes& BorderSplit::of(int64_t part) {
  const auto at = known_.find(part);
  return at != known_.end() ? at->second : known_.emplace(part, split(part)).first->second;
}

PartBoxes BorderSplit::split(int64_t part) const {
  const Box whole = domain_.part_box(part);
  const int device = domain_.owner(part);
  std::vector<Box> readable;  // in place, of what each access uses
  readable.reserve(accesses_.size());
  Box inner = whole;
  for (const Access& access : accesses_) {
    const Box region = intersect(whole, access.guard);
    readable.push_back(Box::nothing(whole.rank()));
    if (region.empty()) continue;
    const int64_t tile = home_tile(access, region, device);
    if (tile < 0) continue;
    readable.back() = interior(access.view, region, instances_(access, tile));
    // An operand that is mostly elsewhere is fetched for the whole part; it must not take the inner box from
    // others.
    const Box& here = readable.back();
    if (here.count() < region.count() / 2 + 1) continue;
    for (int k = 0; k < whole.rank(); ++k) {
      if (here.lo[k] > region.lo[k]) inner.lo[k] = std::max(inner.lo[k], here.lo[k]);
      if (here.hi[k] < region.hi[k]) inner.hi[k] = std::min(inner.hi[k], here.hi[k]);
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
      // The inside of a view that wraps is not all that is readable; fetching the rest is right too.
      result.fetched.back().push_back(!common_part_within(box, accesses_[a].guard, readable[a]));
    }
  }
  return result;
}

}  // namespace tilewise::partition
