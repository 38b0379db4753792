// Intervals and boxes of index space: half open, 64-bit, any rank.
//
// A box of rank 0 holds one point, so "nothing" needs a mark of its own there: `none`. Boxes are plain values; an
// empty box may have any bounds, so compare emptiness with empty(), not with ==.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/dims.h"

namespace tilewise::partition {

struct Interval {
  int64_t lo = 0, hi = 0;  // half open

  int64_t size() const { return hi > lo ? hi - lo : 0; }
  bool empty() const { return hi <= lo; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct Box {
  Dims lo, hi;
  bool none = false;  // only ever set at rank 0

  Box() = default;
  Box(const Dims& low, const Dims& high) : lo(low), hi(high) {}
  static Box of(const Dims& shape) { return Box(Dims(shape.size(), 0), shape); }
  static Box nothing(int rank);

  int rank() const { return lo.size(); }
  int64_t extent(int k) const { return hi[k] > lo[k] ? hi[k] - lo[k] : 0; }
  Dims shape() const;
  int64_t count() const;
  bool empty() const;
  bool contains(const Box& other) const;  // an empty box lies in every box
  bool contains(const Dims& point) const;
  friend bool operator==(const Box& a, const Box& b) { return a.lo == b.lo && a.hi == b.hi && a.none == b.none; }
};

std::ostream& operator<<(std::ostream& out, const Box& box);

Box intersect(const Box& a, const Box& b);
bool overlaps(const Box& a, const Box& b);
// The smallest box that holds both; an empty one adds nothing.
Box hull(const Box& a, const Box& b);
Box shifted(const Box& box, const Dims& by);
// a without b: at most 2 * rank disjoint boxes, in a fixed order (axis by axis, below before above).
std::vector<Box> subtract(const Box& a, const Box& b);

}  // namespace tilewise::partition
