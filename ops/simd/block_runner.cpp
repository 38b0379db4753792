#include "ops/simd/block_runner.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "ops/simd/block_copy.h"

namespace tilewise::ops::simd {

static_assert(std::is_trivially_destructible_v<Runner>, "runners are left in the arena");

BlockRunner::BlockRunner(const Geometry& geometry, Arena& arena, int64_t crossing, Sink* sink)
    : g_(geometry), plan_(*geometry.plan), arena_(arena), sink_(sink) {
  if (!plan_.forms) {
    only_ = new (arena.bytes(sizeof(Runner))) Runner(g_, plan_, arena, crossing, sink);
    return;
  }
  whole_.resize(plan_.program.reductions.size());
  for (const PlannedReduction& p : plan_.reductions) {
    const int size = itemsize(p.dtype);
    whole_[plan_.steps[p.step].slot] = {arena.bytes((g_.block + kMaxQuantum) * size), size};
  }
}

void BlockRunner::walk_along(int axis) {
  if (only_) only_->walk_along(axis);
  else walk_axis_ = axis;
}

void BlockRunner::split_at(int64_t elements) {
  if (only_) only_->split_at(elements);  // with guards, the sink gets whole blocks whatever the pieces
}

// The guards that hold somewhere in the row.
uint64_t BlockRunner::guards_of_row(int64_t row) const {
  uint64_t active = 0;
  Dims at(g_.last + 1);
  for (int k = g_.last - 1; k >= 0; --k) {
    at[k] = row % g_.extents[k];
    row /= g_.extents[k];
  }
  for (int i = 0; i < plan_.program.guard_count; ++i) {
    const partition::Box& guard = g_.launch->guards[i];
    bool holds = !guard.empty();
    for (int k = 0; k < g_.last && holds; ++k) holds = guard.lo[k] <= at[k] && at[k] < guard.hi[k];
    if (holds) active |= uint64_t{1} << i;
  }
  return active;
}

int BlockRunner::form_for(uint64_t active) {
  for (size_t i = 0; i < forms_.size(); ++i)
    if (forms_[i].active == active) return static_cast<int>(i);
  Form form{active};
  const Plan& plan = form_of(plan_, active);
  if (!plan.steps.empty()) {
    form.runner = new (arena_.bytes(sizeof(Runner))) Runner(g_, plan, arena_, 0, this);
    form.runner->walk_along(walk_axis_);
    form.runner->sink_takes_twice();
  }
  forms_.push_back(form);
  return static_cast<int>(forms_.size()) - 1;
}

// The row is cut where a guard begins or ends.
void BlockRunner::find_segments() {
  segments_.clear();
  const auto columns = [&](int i) -> partition::Interval {
    const partition::Box& guard = g_.launch->guards[i];
    if (guard.rank() == 0) return {0, g_.n};
    return {std::max<int64_t>(guard.lo[g_.last], 0), std::min(guard.hi[g_.last], g_.n)};
  };
  for (int64_t at = 0; at < g_.n;) {
    int64_t end = g_.n;
    uint64_t active = 0;
    for (int i = 0; i < plan_.program.guard_count; ++i) {
      if (!(row_guards_ >> i & 1)) continue;
      const partition::Interval held = columns(i);
      if (held.lo <= at && at < held.hi) active |= uint64_t{1} << i;
      if (held.lo > at) end = std::min(end, held.lo);
      else if (held.hi > at) end = std::min(end, held.hi);
    }
    segments_.push_back({at, end, form_for(active)});
    at = end;
  }
}

void BlockRunner::start_guarded_row(int64_t row) {
  const bool first = row_ < 0;
  row_ = row;
  if (g_.batched) return;
  const uint64_t guards = guards_of_row(row);
  if (!first && guards == row_guards_) return;
  row_guards_ = guards;
  find_segments();
}

void BlockRunner::run_piece(int form, const Block& piece) {
  Form& f = forms_[form];
  if (!f.runner) return;
  if (f.row != piece.row) f.runner->start_row(piece.row);
  f.row = piece.row;
  f.runner->run(0, piece, 0);
}

void BlockRunner::run_guarded(const Block& block) {
  block_ = block;
  if (g_.batched) {
    for (int64_t r = 0; r < block.rows;) {
      const uint64_t guards = guards_of_row(block.row + r);
      int64_t end = r + 1;
      while (end < block.rows && guards_of_row(block.row + end) == guards) ++end;
      run_piece(form_for(guards), {block.row + r, end - r, 0, (end - r) * g_.n});
      r = end;
    }
  } else {
    for (const Segment& s : segments_) {
      const int64_t begin = std::max(s.begin, block.column), end = std::min(s.end, block.column + block.count);
      if (begin < end) run_piece(s.form, {block.row, 1, begin, end - begin});
    }
  }
  for (const PlannedReduction& p : plan_.reductions) {
    const int number = plan_.steps[p.step].slot;
    const Whole& whole = whole_[number];
    pad(whole.values, block.count, (block.count + plan_.quantum - 1) / plan_.quantum * plan_.quantum, whole.itemsize);
    sink_->take(number, whole.values, false, block);
  }
}

void BlockRunner::take(int reduction, const char* values, bool scalar, const Block& piece) {
  const auto [whole, size] = whole_[reduction];
  const int64_t at = g_.batched ? (piece.row - block_.row) * g_.n : piece.column - block_.column;
  if (scalar) fill(whole + at * size, values, piece.count, size);
  else std::memcpy(whole + at * size, values, piece.count * size);
}

}  // namespace tilewise::ops::simd
