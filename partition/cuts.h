// Where one axis is cut: `count()` intervals, in order, that cover [0, extent) without gap. Some may be empty.
//
// Regular cuts are computed, not stored:  cut(i) = clamp(scale * floor((a * i + b) / d) + shift, 0, extent).  The
// form is closed under what views do to an axis (shifts, steps, flips, scaling, rounding to multiples), so the
// cuts that a view inherits stay computed; where the form does not close, the cuts are listed. Immutable, cheap to
// copy (a list is shared), safe to share between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "partition/box.h"

namespace tilewise::partition {

class Cuts {
 public:
  Cuts() = default;  // one empty interval
  // One interval.
  static Cuts whole(int64_t extent);
  // `parts` intervals as even as multiples of `multiple_of` allow.
  static Cuts even(int64_t extent, int64_t parts, int64_t multiple_of = 1);
  // Intervals of `step`, the last one shorter.
  static Cuts every(int64_t extent, int64_t step);
  // Between explicit inner positions (ascending; clamped to the extent).
  static Cuts at(int64_t extent, const std::vector<int64_t>& positions);

  int64_t extent() const { return extent_; }
  int64_t count() const { return count_; }
  bool is_regular() const { return list_ == nullptr; }
  // The start of interval i; cut(count()) is the extent.
  int64_t cut(int64_t i) const;
  Interval interval(int64_t i) const { return {cut(i), cut(i + 1)}; }
  // The interval that holds the coordinate (never an empty one). O(1) if regular, else O(log count).
  int64_t find(int64_t coordinate) const;
  // The longest interval (an upper bound where there are many).
  int64_t largest() const;

  // The cuts of axis v, 0 <= v < extent, whose element v is our coordinate start + step * v (step != 0). A
  // negative step reverses the order of the intervals.
  Cuts mapped(int64_t start, int64_t step, int64_t extent) const;
  // The cuts of our axis merged with an uncut axis of extent `by` inside it.
  Cuts scaled(int64_t by) const;
  // Inner cuts moved to the nearest multiple.
  Cuts rounded(int64_t multiple) const;

  friend bool operator==(const Cuts& a, const Cuts& b);
  uint64_t hash(uint64_t h) const;

 private:
  int64_t raw(int64_t i) const;  // unclamped
  // The regular cuts floor((scale * floor((a i + b) / d) + e) / k) * times, or a list if that form does not close.
  static Cuts divided(Cuts form, int64_t e, int64_t k, int64_t times);
  static Cuts listed(int64_t extent, std::vector<int64_t> positions);

  int64_t extent_ = 0, count_ = 1;
  int64_t a_ = 0, b_ = 0, d_ = 1, scale_ = 1, shift_ = 0;
  std::shared_ptr<const std::vector<int64_t>> list_;  // count + 1 positions, if not regular
};

}  // namespace tilewise::partition
