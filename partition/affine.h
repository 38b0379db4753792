// The core of pieces.h: a view's linear form taken apart along the levels of an instance. Internal to partition.
#pragma once

#include <algorithm>

#include "partition/arith.h"
#include "partition/instance.h"
#include "partition/view.h"

namespace tilewise::partition {

// A region of a view, seen from inside one level: element i has the address at + sum(steps[k] * (i[k] - box.lo[k])).
// Axes of extent 1 have step 0.
struct LinearForm {
  int64_t at = 0;
  Dims steps;
  Box box;

  LinearForm(const View& view, const Box& region);
  // The lowest and highest address; hi itself is one.
  Interval reach() const;
  // Keeps what may have low <= address < high, as a box: exact if one axis moves. False if nothing is left.
  bool narrow(int64_t low, int64_t high);
  // address = unit * (position + sum(moves[k] * i[k])) + remainder, where the remainder is this form, reduced, and
  // nothing wraps (with `item` bytes at each address). False, and unchanged, if something wraps.
  struct Quotient {
    int64_t position = 0, lowest = 0, highest = 0;
    Dims moves;
  };
  bool reduce(int64_t unit, int64_t item, Quotient* quotient);
};

inline LinearForm::LinearForm(const View& view, const Box& region)
    : at(view.offset), steps(view.strides), box(region) {
  for (int k = 0; k < steps.size(); ++k) {
    at += steps[k] * region.lo[k];
    if (region.hi[k] - region.lo[k] <= 1) steps[k] = 0;
  }
}

inline Interval LinearForm::reach() const {
  Interval r{at, at};
  for (int k = 0; k < steps.size(); ++k) (steps[k] < 0 ? r.lo : r.hi) += steps[k] * (box.hi[k] - box.lo[k] - 1);
  return r;
}

inline bool LinearForm::reduce(int64_t unit, int64_t item, Quotient* quotient) {
  const int rank = steps.size();
  const int64_t position = at >= 0 && at < unit ? 0 : floor_div(at, unit);
  const int64_t rest = at - position * unit;
  int64_t lowest = rest, highest = rest;
  quotient->position = quotient->lowest = quotient->highest = position;
  quotient->moves.resize(rank);
  Dims reduced(steps);
  for (int k = 0; k < rank; ++k) {
    const int64_t next = rest + steps[k];
    const int64_t move = next >= 0 && next < unit ? 0 : floor_div(next, unit);
    const int64_t far = box.hi[k] - box.lo[k] - 1;
    reduced[k] -= move * unit;
    quotient->moves[k] = move;
    (reduced[k] < 0 ? lowest : highest) += reduced[k] * far;
    (move < 0 ? quotient->lowest : quotient->highest) += move * far;
  }
  if (lowest < 0 || highest + item > unit) return false;
  steps = reduced;
  at = rest;
  return true;
}

// The largest of the pieces that is a box of the view's index space (pieces.cpp): interior() for views that wrap.
Box largest_box_piece(const View& view, const Box& region, const InstanceBox& instance);

// Shrinks the range of one axis: the i in [lo, hi) for which low <= at + move * (i - lo) < high can hold while the
// other axes add between `others_min` and `others_max`.
inline Interval axis_range(int64_t lo, int64_t hi, int64_t at, int64_t move, int64_t low, int64_t high,
                           int64_t others_min, int64_t others_max) {
  if (move < 0) {  // mirror: low <= x < high  <=>  -high < -x <= -low
    const int64_t new_low = 1 - high, new_high = 1 - low;
    return axis_range(lo, hi, -at, -move, new_low, new_high, -others_max, -others_min);
  }
  const int64_t from = ceil_div(low - at - others_max, move), to = ceil_div(high - at - others_min, move);
  return {std::max(lo, lo + from), std::min(hi, lo + to)};
}

}  // namespace tilewise::partition
