// How a grid looks through a view: Grid::seen_through.
#include <algorithm>
#include <cstdlib>

#include "partition/arith.h"
#include "partition/grid.h"

namespace tilewise::partition {
namespace {

// The view's linear form within one base axis and what lies inside it: address = at + sum(steps[k] * i[k]).
struct Form {
  int64_t at = 0;
  Dims steps;

  Interval reach(const Dims& shape, int without) const {
    Interval r{at, at};
    for (int k = 0; k < shape.size(); ++k)
      if (k != without) (steps[k] < 0 ? r.lo : r.hi) += steps[k] * (shape[k] - 1);
    return r;
  }
  // Leaves the remainder by `unit`; false if the view wraps there.
  bool reduce(const Dims& shape, int64_t unit) {
    const int64_t row = floor_div(at, unit);
    at -= row * unit;
    for (int k = 0; k < shape.size(); ++k)
      if (shape[k] > 1) steps[k] -= floor_div(at + steps[k], unit) * unit;
    const Interval all = reach(shape, -1);
    return all.lo >= 0 && all.hi < unit;
  }
  // The axis that moves furthest, or -1 if none moves.
  int main_axis(const Dims& shape) const {
    int main = -1;
    int64_t furthest = 0;
    for (int k = 0; k < shape.size(); ++k) {
      const int64_t span = std::abs(steps[k]) * (shape[k] - 1);
      if (span > furthest) {
        furthest = span;
        main = k;
      }
    }
    return main;
  }
};

}  // namespace

std::optional<Grid> Grid::seen_through(const View& view, int64_t itemsize) const {
  if (view.empty()) return std::nullopt;
  Grid seen;
  seen.shape_ = view.shape;
  seen.owners_ = owners_;
  seen.owner_axes_ = owner_axes_;
  for (int64_t extent : view.shape) seen.cuts_.push_back(Cuts::whole(extent));

  Form form{view.offset, view.strides};
  for (int k = 0; k < view.rank(); ++k)
    if (view.shape[k] == 1) form.steps[k] = 0;
  int64_t outer = itemsize * count_of(shape_);  // bytes of what the form is within
  int64_t unit = outer;
  for (int j = 0; j < rank(); ++j) {
    const int64_t around = unit;  // bytes of one step of axis j - 1
    unit /= shape_[j];
    if (cuts_[j].count() == 1) continue;
    if (around != outer && !form.reduce(view.shape, around)) return std::nullopt;
    outer = around;

    const Interval reach = form.reach(view.shape, -1);
    const int64_t first = cuts_[j].find(reach.lo / unit), last = cuts_[j].find(reach.hi / unit);
    int main = -1;
    if (first != last) {
      main = form.main_axis(view.shape);
      const Interval others = form.reach(view.shape, main);
      if (others.hi - others.lo > std::abs(form.steps[main]) || seen.cuts_[main].count() > 1) return std::nullopt;
      seen.cuts_[main] = cuts_[j].scaled(unit).mapped(others.lo, form.steps[main], view.shape[main]);
    }
    for (int i = 0; i < owner_axes_.size(); ++i) {
      if (owner_axes_[i].from != j) continue;
      OwnerAxis& axis = seen.owner_axes_[i];
      axis.from = main;
      if (main < 0) {
        axis.fixed = axis.reversed ? axis.count - 1 - first : first;
        axis.reversed = false;
      } else if (form.steps[main] < 0) {
        axis.reversed = !axis.reversed;
      }
    }
  }
  seen.number_cells();
  return seen;
}

}  // namespace tilewise::partition
