// direct, interior, preimage and footprint (pieces.h): boxes of a view's index space, level by level.
#include "partition/affine.h"

#include "partition/pieces.h"

namespace tilewise::partition {

bool LinearForm::narrow(int64_t low, int64_t high) {
  const int rank = steps.size();
  const auto [lowest, highest] = reach();
  if (lowest >= high || highest < low) return false;
  if (lowest >= low && highest < high) return true;
  int64_t moved = 0;
  for (int k = 0; k < rank; ++k) {
    if (steps[k] == 0) continue;
    const int64_t span = steps[k] * (box.hi[k] - box.lo[k] - 1);
    const int64_t others_min = lowest - at - std::min<int64_t>(span, 0);
    const int64_t others_max = highest - at - std::max<int64_t>(span, 0);
    const Interval kept = axis_range(box.lo[k], box.hi[k], at, steps[k], low, high, others_min, others_max);
    if (kept.empty()) return false;
    // The bounds of the other axes stay those from before: still right, and each axis is narrowed the same way.
    moved += steps[k] * (kept.lo - box.lo[k]);
    box.lo[k] = kept.lo;
    box.hi[k] = kept.hi;
    if (kept.size() == 1) steps[k] = 0;
  }
  at += moved;
  return true;
}

std::optional<DirectAccess> direct(const View& view, const Box& region, const InstanceBox& instance) {
  DirectAccess access{0, Dims(view.rank())};
  if (region.empty()) return access;
  LinearForm form(view, region);
  LinearForm::Quotient quotient;
  const int last = instance.levels.size() - 1;
  for (int j = 0; j < last; ++j) {
    const Level& level = instance.levels[j];
    if (!form.reduce(level.unit, view.itemsize, &quotient)) return std::nullopt;
    if (quotient.lowest < level.lo || quotient.highest >= level.hi) return std::nullopt;
    access.offset += (quotient.position - level.origin) * level.stride;
    for (int k = 0; k < view.rank(); ++k) access.strides[k] += quotient.moves[k] * level.stride;
  }
  const Level& bytes = instance.levels[last];
  const Interval reach = form.reach();
  if (reach.lo < bytes.lo || reach.hi + view.itemsize > bytes.hi) return std::nullopt;
  for (int k = 0; k < view.rank(); ++k) access.strides[k] += form.steps[k];
  access.offset += form.at - bytes.origin;
  return access;
}

Box preimage(const View& view, const Box& region, const InstanceBox& instance) {
  if (region.empty() || instance.clip.empty()) return Box::nothing(view.rank());
  LinearForm form(view, region);
  LinearForm::Quotient quotient;
  for (int j = 0; j < instance.levels.size(); ++j) {
    const Level& level = instance.levels[j];
    // An item that begins before the box may reach into it.
    if (!form.narrow(level.lo * level.unit - (view.itemsize - 1), level.hi * level.unit))
      return Box::nothing(view.rank());
    if (j + 1 == instance.levels.size() || !form.reduce(level.unit, view.itemsize, &quotient)) break;
  }
  return form.box;
}

Box preimage(const View& view, const Box& region, const StoreForm& form, const Box& base_box) {
  return preimage(view, region, InstanceBox(form, base_box));
}

Box footprint(const View& view, const Box& region, const StoreForm& form) {
  const int rank = form.shape.size();
  if (region.empty()) return Box::nothing(rank);
  Box box = Box::of(form.shape);
  LinearForm linear(view, region);
  LinearForm::Quotient quotient;
  int64_t unit = form.bytes();
  for (int j = 0; j < rank; ++j) {
    unit /= form.shape[j];
    if (linear.reduce(unit, view.itemsize, &quotient)) {
      box.lo[j] = quotient.lowest;
      box.hi[j] = quotient.highest + 1;
      continue;
    }
    // It wraps here: rows lowest to highest in part, and anything inside them.
    const Interval reach = linear.reach();
    box.lo[j] = floor_div(reach.lo, unit);
    box.hi[j] = floor_div(reach.hi + view.itemsize - 1, unit) + 1;
    break;
  }
  return box;
}

namespace {

// Of the boxes that come from shrinking one axis so that low <= at + sum(moves * (i - lo)) < high everywhere, the
// largest. Exact if one axis moves.
bool shrink(Box* box, int64_t at, const Dims& moves, int64_t low, int64_t high) {
  int64_t lowest = at, highest = at;
  for (int k = 0; k < moves.size(); ++k)
    (moves[k] < 0 ? lowest : highest) += moves[k] * (box->hi[k] - box->lo[k] - 1);
  if (lowest >= low && highest < high) return true;
  int best = -1;
  Interval best_range;
  double best_share = 0;
  for (int k = 0; k < moves.size(); ++k) {
    if (moves[k] == 0) continue;
    const int64_t span = moves[k] * (box->hi[k] - box->lo[k] - 1);
    const int64_t others_min = lowest - at - std::min<int64_t>(span, 0);
    const int64_t others_max = highest - at - std::max<int64_t>(span, 0);
    // What holds for all values of the others: their roles as lower and upper bound are exchanged.
    const Interval range = axis_range(box->lo[k], box->hi[k], at, moves[k], low, high, others_max, others_min);
    const double share = static_cast<double>(range.size()) / static_cast<double>(box->extent(k));
    if (share > best_share) {
      best = k;
      best_range = range;
      best_share = share;
    }
  }
  if (best < 0) return false;
  box->lo[best] = best_range.lo;
  box->hi[best] = best_range.hi;
  return true;
}

// Where at most one axis moves at each level, what may lie inside is what does: one pass.
std::optional<Box> separable_interior(const View& view, const Box& region, const InstanceBox& instance) {
  LinearForm form(view, region);
  LinearForm::Quotient quotient;
  const int last = instance.levels.size() - 1;
  for (int j = 0; j < last; ++j) {
    const Level& level = instance.levels[j];
    if (!form.narrow(level.lo * level.unit, level.hi * level.unit)) return Box::nothing(view.rank());
    if (!form.reduce(level.unit, view.itemsize, &quotient)) return std::nullopt;
    if (quotient.lowest < level.lo || quotient.highest >= level.hi) return std::nullopt;
  }
  const int64_t low = instance.levels[last].lo, high = instance.levels[last].hi - view.itemsize + 1;
  if (!form.narrow(low, high)) return Box::nothing(view.rank());
  const Interval reach = form.reach();
  if (reach.lo < low || reach.hi >= high) return std::nullopt;
  return form.box;
}

}  // namespace

Box interior(const View& view, const Box& region, const InstanceBox& instance) {
  if (region.empty() || instance.clip.empty()) return Box::nothing(view.rank());
  if (const std::optional<Box> box = separable_interior(view, region, instance)) return *box;
  Box box = preimage(view, region, instance);
  for (int j = 0; j < instance.levels.size(); ++j) {
    // Taken apart again from the top: the box has shrunk since.
    LinearForm form(view, box);
    LinearForm::Quotient quotient;
    for (int outer = 0; outer < j; ++outer) form.reduce(instance.levels[outer].unit, view.itemsize, &quotient);
    const Level& level = instance.levels[j];
    bool fits;
    if (j + 1 == instance.levels.size()) {
      fits = shrink(&box, form.at, form.steps, level.lo, level.hi - view.itemsize + 1);
    } else {
      fits = form.reduce(level.unit, view.itemsize, &quotient) &&
             shrink(&box, quotient.position, quotient.moves, level.lo, level.hi);
    }
    if (!fits) return largest_box_piece(view, region, instance);
  }
  return box;
}

}  // namespace tilewise::partition
