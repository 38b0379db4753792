#include "partition/tiling.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"

namespace tilewise::partition {
namespace {

std::vector<Cuts> uncut(const Dims& shape) {
  std::vector<Cuts> cuts;
  for (int64_t extent : shape) cuts.push_back(Cuts::whole(extent));
  return cuts;
}

}  // namespace

Tiling::Tiling(StoreForm form, Grid grid, bool replicated)
    : form_(std::move(form)), grid_(std::move(grid)), replicated_(replicated) {
  hash_ = grid_.hash(mix(static_cast<uint64_t>(form_.itemsize) << 1 | replicated_, grid_.rank()));
}

TilingPtr Tiling::replicated(const Dims& base_shape, int32_t itemsize) {
  return std::make_shared<const Tiling>(StoreForm{base_shape, itemsize}, Grid(uncut(base_shape), Owners()), true);
}

TilingPtr Tiling::single(const Dims& base_shape, int32_t itemsize, int device) {
  return from_cuts(itemsize, uncut(base_shape), Owners::single(device));
}

TilingPtr Tiling::even(const Dims& base_shape, int32_t itemsize, int axis, int devices, int64_t multiple_of) {
  std::vector<Cuts> cuts = uncut(base_shape);
  cuts[axis] = Cuts::even(base_shape[axis], devices, multiple_of);
  return from_cuts(itemsize, std::move(cuts), Owners::cyclic(devices));
}

TilingPtr Tiling::from_cuts(int32_t itemsize, std::vector<Cuts> cuts, Owners owners) {
  return from_grid(itemsize, Grid(std::move(cuts), std::move(owners)));
}

TilingPtr Tiling::from_grid(int32_t itemsize, Grid grid) {
  StoreForm form{grid.shape(), itemsize};
  return std::make_shared<const Tiling>(std::move(form), std::move(grid), false);
}

std::vector<int64_t> Tiling::tiles_of(int device) const {
  if (replicated_) return {0};
  return grid_.cells_of(device);
}

bool operator==(const Tiling& a, const Tiling& b) {
  return &a == &b ||
         (a.hash_ == b.hash_ && a.replicated_ == b.replicated_ && a.form_ == b.form_ && a.grid_ == b.grid_);
}

TilingPtr default_tiling(const Dims& base_shape, int32_t itemsize, int devices, int64_t min_tile, int first) {
  const int64_t count = count_of(base_shape);
  const int64_t worth = std::clamp<int64_t>(count / std::max<int64_t>(min_tile, 1), 1, devices);
  if (worth == 1 || base_shape.empty()) return Tiling::single(base_shape, itemsize, first);
  int axis = 0;
  if (base_shape[0] < worth)
    for (int k = 1; k < base_shape.size(); ++k)
      if (base_shape[k] > base_shape[axis]) axis = k;
  return Tiling::even(base_shape, itemsize, axis, static_cast<int>(worth));
}

TilingPtr inherit(const Tiling& tiling, const View& view) {
  if (tiling.is_replicated() || view.empty()) return nullptr;
  std::optional<Grid> seen = tiling.grid().seen_through(view, tiling.base_itemsize());
  if (!seen) return nullptr;
  const int64_t devices = tiling.grid().device_count();
  const int64_t even_share = (view.count() + devices - 1) / devices;
  if (seen->largest_cell() > 2 * even_share) return nullptr;
  return Tiling::from_grid(view.itemsize, std::move(*seen));
}

}  // namespace tilewise::partition
