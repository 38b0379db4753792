#include "partition/lattice.h"

#include <algorithm>
#include <cstdlib>

#include "partition/affine.h"
#include "partition/arith.h"
#include "runtime/base/error.h"

namespace tilewise::partition {

void Lattice::keep(int axis, int64_t from, int64_t count) {
  const LatticeAxis& a = axes[axis];
  start[a.source] += from * a.multiple;
  address += from * a.step;
  place += from * a.place;
  axes[axis].count = count;
  if (count == 1) axes.erase(axis);
}

Interval Lattice::reach() const {
  Interval r{address, address + 1};
  for (const LatticeAxis& a : axes) (a.step < 0 ? r.lo : r.hi) += a.step * (a.count - 1);
  return r;
}

std::vector<Lattice> LatticeCutter::cut(Lattice whole) {
  for (int k = whole.axes.size() - 1; k >= 0; --k)
    if (whole.axes[k].count == 1) whole.axes.erase(k);
  descend(std::move(whole), 0);
  return std::move(done_);
}

void LatticeCutter::descend(Lattice lattice, int level) {
  const Level& l = levels_[level];
  Motion motion{lattice.address, Dims(lattice.axes.size())};
  for (int k = 0; k < lattice.axes.size(); ++k) motion.moves[k] = lattice.axes[k].step;

  // 1. The box's bounds at this level, as bounds of the address, need no division.
  if (!inside(lattice, motion, l.lo * l.unit, l.hi * l.unit))
    return cut_at_bounds(lattice, motion, level, l.lo * l.unit, l.hi * l.unit);
  if (level + 1 == levels_.size()) {
    lattice.place += lattice.address - l.origin;
    for (LatticeAxis& a : lattice.axes) a.place += a.step;
    done_.push_back(std::move(lattice));
    return;
  }

  // 2. Which step of the level each element is in, if that is affine.
  const int64_t position = floor_div(lattice.address, l.unit);
  const int64_t rest = lattice.address - position * l.unit;
  Interval remainder{rest, rest + 1};
  for (int k = 0; k < lattice.axes.size(); ++k) {
    const int64_t move = floor_div(rest + lattice.axes[k].step, l.unit);
    const int64_t step = lattice.axes[k].step - move * l.unit;
    (step < 0 ? remainder.lo : remainder.hi) += step * (lattice.axes[k].count - 1);
    motion.moves[k] = move;
  }
  if (remainder.lo < 0 || remainder.hi > l.unit) return cut_at_wraps(lattice, level);

  // 3. Go on with what remains.
  lattice.address = rest;
  lattice.place += (position - l.origin) * l.stride;
  for (int k = 0; k < lattice.axes.size(); ++k) {
    lattice.axes[k].step -= motion.moves[k] * l.unit;
    lattice.axes[k].place += motion.moves[k] * l.stride;
  }
  descend(std::move(lattice), level + 1);
}

bool LatticeCutter::inside(const Lattice& lattice, const Motion& motion, int64_t low, int64_t high) const {
  int64_t lowest = motion.at, highest = motion.at;
  for (int k = 0; k < motion.moves.size(); ++k)
    (motion.moves[k] < 0 ? lowest : highest) += motion.moves[k] * (lattice.axes[k].count - 1);
  return lowest >= low && highest < high;
}

// One axis is cut in three: positions where some elements are inside (below), where all are, and some again
// (above). The positions where all are stay together; the others go on one by one, as the rest differs for each.
// The axis with the fewest parts is taken.
void LatticeCutter::cut_at_bounds(const Lattice& lattice, const Motion& motion, int level, int64_t low,
                                  int64_t high) {
  int64_t lowest = motion.at, highest = motion.at;
  for (int k = 0; k < motion.moves.size(); ++k)
    (motion.moves[k] < 0 ? lowest : highest) += motion.moves[k] * (lattice.axes[k].count - 1);
  if (highest < low || lowest >= high) return;
  int best = -1;
  int64_t fewest = 0;
  Interval some, all;
  for (int k = 0; k < motion.moves.size(); ++k) {
    const int64_t move = motion.moves[k], count = lattice.axes[k].count;
    if (move == 0) continue;
    const int64_t span = move * (count - 1);
    const int64_t others_min = lowest - motion.at - std::min<int64_t>(span, 0);
    const int64_t others_max = highest - motion.at - std::max<int64_t>(span, 0);
    const Interval any = axis_range(0, count, motion.at, move, low, high, others_min, others_max);
    Interval every = axis_range(0, count, motion.at, move, low, high, others_max, others_min);
    if (any.empty()) return;
    if (every.empty()) every = {any.hi, any.hi};
    const int64_t parts = any.size() - every.size() + (every.empty() ? 0 : 1);
    if (best < 0 || parts < fewest) {
      best = k;
      fewest = parts;
      some = any;
      all = every;
    }
  }
  TW_CHECK(best >= 0);
  const auto go_on = [&](int64_t from, int64_t count) {
    Lattice part(lattice);
    part.keep(best, from, count);
    descend(std::move(part), level);
  };
  for (int64_t i = some.lo; i < all.lo; ++i) go_on(i, 1);
  if (!all.empty()) go_on(all.lo, all.size());
  for (int64_t i = all.hi; i < some.hi; ++i) go_on(i, 1);
}

// The axis that moves furthest within the level is cut into runs that do not wrap. The other axes make each of its
// positions a stretch of addresses of some width; if that is most of the level, it is better to go through the
// values of the axis that has fewest different ones.
void LatticeCutter::cut_at_wraps(const Lattice& lattice, int level) {
  const int64_t unit = levels_[level].unit;
  int widest = -1, fewest = -1;
  int64_t furthest = 0, fewest_values = 0, below = 0, width = 0;
  const auto remainder = [&](int k) {
    const int64_t up = floor_mod(lattice.axes[k].step, unit);
    return up > unit / 2 ? up - unit : up;
  };
  for (int k = 0; k < lattice.axes.size(); ++k) {
    const int64_t step = remainder(k);
    if (step == 0) continue;
    const int64_t span = std::abs(step) * (lattice.axes[k].count - 1);
    const int64_t values = std::min(lattice.axes[k].count, unit / std::gcd(std::abs(step), unit));
    width += span;
    if (step < 0) below -= span;
    if (span > furthest) {
      furthest = span;
      widest = k;
    }
    if (fewest < 0 || values < fewest_values) {
      fewest = k;
      fewest_values = values;
    }
  }
  TW_CHECK(widest >= 0);
  const int axis = width - furthest < unit / 2 ? widest : fewest;
  const int64_t own = remainder(axis) * (lattice.axes[axis].count - 1);
  cut_runs(lattice, axis, level, own < 0 ? below - own : below, width - std::abs(own));
}

// After the first run the pattern of runs repeats once the axis has come around to the same place in the level:
// whole periods become an axis of their own, so the number of pieces does not grow with them.
void LatticeCutter::cut_runs(const Lattice& lattice, int axis, int level, int64_t below, int64_t width) {
  const int64_t unit = levels_[level].unit;
  const LatticeAxis& a = lattice.axes[axis];
  const int64_t period = unit / std::gcd(std::abs(a.step), unit);
  int64_t from = 0;
  if (a.count > period) {
    // The first run ends where the level's next step begins; it is part of the pattern if it begins with its step.
    const int64_t up = floor_mod(a.step, unit), rest = floor_mod(lattice.address + below, unit);
    const bool upwards = up <= unit / 2;
    const bool whole = upwards ? rest < up : rest >= up;
    const int64_t head = whole ? 0 : upwards ? (unit - 1 - rest) / up + 1 : rest / (unit - up) + 1;
    const int64_t periods = (a.count - std::min(head, a.count)) / period;
    if (periods >= 2) {
      cut_run_range(lattice, axis, level, below, width, 0, head, 1, 0);
      cut_run_range(lattice, axis, level, below, width, head, head + period, periods, period);
      from = head + periods * period;
    }
  }
  cut_run_range(lattice, axis, level, below, width, from, a.count, 1, 0);
}

void LatticeCutter::cut_run_range(const Lattice& lattice, int axis, int level, int64_t below, int64_t width,
                                  int64_t from, int64_t to, int64_t periods, int64_t period) {
  const int64_t unit = levels_[level].unit;
  const LatticeAxis& a = lattice.axes[axis];
  const int64_t up = floor_mod(a.step, unit);
  while (from < to) {
    const int64_t rest = floor_mod(lattice.address + from * a.step + below, unit);
    int64_t run = 1;  // one position alone, if it straddles two steps of the level: its other axes are cut next
    if (rest + width < unit) {
      run = std::max((unit - 1 - width - rest) / up, rest / (unit - up)) + 1;
      run = std::min(run, to - from);
    }
    Lattice part(lattice);
    if (periods > 1) {
      part.axes.insert(axis, {a.source, periods, a.step * period, a.multiple * period, a.place * period});
      part.keep(axis + 1, from, run);
    } else {
      part.keep(axis, from, run);
    }
    descend(std::move(part), level);
    from += run;
  }
}

}  // namespace tilewise::partition
