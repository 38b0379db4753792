// How the iteration box of a fused group ("frame") is cut over the devices that compute it.
//
// A grid over frame coordinates with an owner for each part, induced from the tiling of the group's key operand or
// even by device count. Every query about one part or one box costs its result, never the number of parts.
// Immutable, a plain value.
#pragma once

#include "partition/grid.h"
#include "partition/tiling.h"

namespace tilewise::partition {

class DomainPartition {
 public:
  DomainPartition() = default;
  explicit DomainPartition(Grid grid) : grid_(std::move(grid)) {}
  // All on one device.
  static DomainPartition single(const Dims& frame, int device);
  // Even cuts of one axis over devices 0 .. devices - 1.
  static DomainPartition even(const Dims& frame, int axis, int devices, int64_t multiple_of = 1);
  // By device count alone: the first axis long enough, counted in multiples, else the longest. `multiples` may be
  // empty (no rounding). As many devices are used as give each part at least min_part elements.
  static DomainPartition by_count(const Dims& frame, int devices, int64_t min_part, const Dims& multiples = {});
  // As the key operand lies: `view` (its shape is the frame's) of a store with this tiling. Cuts that fall inside
  // a multiple move to the nearest one; a replicated key, or one that crosses its cuts in no regular way, gives
  // by_count(frame, devices, 1, multiples).
  static DomainPartition induced(const View& view, const Tiling& tiling, int devices, const Dims& multiples = {});

  const Grid& grid() const { return grid_; }
  const Dims& frame() const { return grid_.shape(); }
  int64_t part_count() const { return grid_.cell_count(); }
  Box part_box(int64_t part) const { return grid_.cell_box(part); }
  int owner(int64_t part) const { return grid_.owner(part); }
  // Ascending, and never an empty part.
  std::vector<int64_t> parts_overlapping(const Box& box) const { return grid_.overlapping(box); }
  std::vector<int64_t> parts_of(int device) const { return grid_.cells_of(device); }

  uint64_t hash() const { return grid_.hash(0); }
  friend bool operator==(const DomainPartition&, const DomainPartition&) = default;

 private:
  Grid grid_;
};

}  // namespace tilewise::partition
