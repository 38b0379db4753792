// How a store lies on the devices: cuts for each axis of its base shape and an owner for each tile, or replicated.
//
// A tiling is immutable and shared by pointer (TilingPtr); equal tilings have equal hashes, and comparing two
// never costs more than their cuts. Regular cuts and rule-given owners are computed, so a tiling of 10,000 tiles
// is a few numbers. Tiles are numbered in C order of their positions; empty tiles are legal and own nothing.
#pragma once

#include <memory>
#include <optional>

#include "partition/grid.h"
#include "partition/store_form.h"
#include "partition/view.h"

namespace tilewise::partition {

class Tiling;
using TilingPtr = std::shared_ptr<const Tiling>;

inline constexpr int kEveryDevice = -1;  // the owner of a replicated store's only tile

class Tiling {
 public:
  static TilingPtr replicated(const Dims& base_shape, int32_t itemsize);
  static TilingPtr single(const Dims& base_shape, int32_t itemsize, int device);
  // Even cuts along one axis, at multiples of `multiple_of`, one tile for each device 0 .. devices - 1.
  static TilingPtr even(const Dims& base_shape, int32_t itemsize, int axis, int devices, int64_t multiple_of = 1);
  // Any grid: cuts for each axis, owners by tile number.
  static TilingPtr from_cuts(int32_t itemsize, std::vector<Cuts> cuts, Owners owners);
  static TilingPtr from_grid(int32_t itemsize, Grid grid);

  bool is_replicated() const { return replicated_; }
  const StoreForm& form() const { return form_; }
  const Dims& base_shape() const { return form_.shape; }
  int64_t base_itemsize() const { return form_.itemsize; }
  const Grid& grid() const { return grid_; }

  int64_t tile_count() const { return grid_.cell_count(); }
  Box tile_box(int64_t tile) const { return grid_.cell_box(tile); }
  int owner(int64_t tile) const { return replicated_ ? kEveryDevice : grid_.owner(tile); }
  std::vector<int64_t> tiles_overlapping(const Box& box) const { return grid_.overlapping(box); }
  // The non-empty tiles that lie on the device, ascending (the one tile, if replicated).
  std::vector<int64_t> tiles_of(int device) const;

  uint64_t hash() const { return hash_; }
  friend bool operator==(const Tiling& a, const Tiling& b);

  Tiling(StoreForm form, Grid grid, bool replicated);  // use the builders

 private:
  StoreForm form_;
  Grid grid_;
  bool replicated_;
  uint64_t hash_;
};

// The tiling of a new store: as many devices as give each at least `min_tile` elements; cut along axis 0 if it is
// long enough, else along the longest axis. `first` is the device that takes a store of one tile.
TilingPtr default_tiling(const Dims& base_shape, int32_t itemsize, int devices, int64_t min_tile, int first = 0);

// The tiling that a new dense store of the view's shape takes from the view's store, so that equal indices lie on
// the same device. Nothing where the view crosses the cuts in no regular way, or where the largest tile would be
// more than twice the even share.
TilingPtr inherit(const Tiling& tiling, const View& view);

}  // namespace tilewise::partition
