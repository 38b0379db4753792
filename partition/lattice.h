// Affine sets of a view's elements, cut until each lies affinely inside an instance. Internal to partition.
//
// A lattice starts as the whole region and goes down the levels of an instance. At each level it is cut where it
// leaves the box, and where it wraps from one step of the level to the next; a cut axis may become two (whole
// periods of rows, and positions in a row). What arrives below the last level is one piece.
#pragma once

#include <vector>

#include "partition/instance.h"

namespace tilewise::partition {

struct LatticeAxis {
  int source;  // the view's axis; the view's rank stands for the units of an item
  int64_t count;
  int64_t step;      // of the address, within the current level
  int64_t multiple;  // of the view's index
  int64_t place;     // bytes in the instance, as far as the levels above decide
};

struct Lattice {
  SmallVec<LatticeAxis, 6> axes;
  Dims start;         // view index of the first element
  int64_t address;    // of the first element, within the current level
  int64_t place = 0;  // of the first element in the instance

  // Keeps positions [from, from + count) of an axis. A single position is no axis any more.
  void keep(int axis, int64_t from, int64_t count);
  Interval reach() const;  // the addresses of first bytes, [lowest, highest + 1)
};

class LatticeCutter {
 public:
  explicit LatticeCutter(const InstanceBox& instance) : levels_(instance.levels) {}
  // Elements' bytes must not straddle base elements (see pieces.cpp).
  std::vector<Lattice> cut(Lattice whole);

 private:
  void descend(Lattice lattice, int level);
  // Steps, or moves between steps of a level, by axis; `at` that of the first element.
  struct Motion {
    int64_t at;
    Dims moves;
  };
  bool inside(const Lattice& lattice, const Motion& motion, int64_t low, int64_t high) const;
  void cut_at_bounds(const Lattice& lattice, const Motion& motion, int level, int64_t low, int64_t high);
  void cut_at_wraps(const Lattice& lattice, int level);
  void cut_runs(const Lattice& lattice, int axis, int level, int64_t below, int64_t width);
  // Runs of positions [from, to) of an axis of `lattice`; each position stands for `periods` of them, `period`
  // apart.
  void cut_run_range(const Lattice& lattice, int axis, int level, int64_t below, int64_t width, int64_t from,
                     int64_t to, int64_t periods, int64_t period);

  const SmallVec<Level, 6>& levels_;
  std::vector<Lattice> done_;
};

}  // namespace tilewise::partition
