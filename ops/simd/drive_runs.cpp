#include "ops/simd/drive_runs.h"

#include <algorithm>

#include "ops/simd/block_copy.h"
#include "ops/simd/block_runner.h"
#include "ops/simd/fp_status.h"
#include "ops/simd/moment_status.h"
#include "ops/simd/lane_reducer.h"
#include "ops/simd/reduce_sink.h"
#include "ops/simd/run_reducer.h"
#include "partition/tree.h"

namespace tilewise::ops::simd {

namespace {

using partition::kRunUnit;

constexpr int64_t kChunkBytes = 1 << 14;   // of one row of a chunk of columns: its states stay in the cache
constexpr int64_t kPieceElements = 1 << 16;
constexpr int64_t kInline = 1 << 17;       // additions that one thread does at once

// The box as outer x axis x middle x columns; a row of the Runner is (outer, position, middle).
struct Shape {
  int64_t outer = 1, length = 1, middle = 1, columns = 1;
  int64_t chunk = 1, chunks = 1;  // columns worked on at a time

  int64_t others() const { return outer * middle * columns; }
};

Shape shape_of(const Geometry& g, int axis) {
  Shape s;
  for (int k = 0; k < axis; ++k) s.outer *= g.extents[k];
  s.length = g.extents[axis];
  for (int k = axis + 1; k < g.last; ++k) s.middle *= g.extents[k];
  s.columns = g.n;
  int64_t bytes = kChunkBytes;
  for (const PlannedReduction& p : g.plan->reductions)
    if (g.plan->program.reductions[g.plan->steps[p.step].slot].state == ReduceState::kMoments) bytes = kChunkBytes / 4;
  s.chunk = std::max(g.block, bytes / 4 / g.block * g.block);
  s.chunks = (s.columns + s.chunk - 1) / s.chunk;
  return s;
}

// One thread's work on a chunk of columns and a part of the axis.
class RunWorker final : public Sink {
 public:
  RunWorker(const Geometry& g, const Shape& shape, int axis, Arena& arena)
      : g_(g), plan_(*g.plan), shape_(shape), arena_(arena), runner_(g, arena, 0, this) {
    const int count = static_cast<int>(plan_.reductions.size());
    const int64_t columns = std::min(shape.chunk, shape.columns);
    if (!g.batched) runner_.walk_along(axis);
    work_ = arena.array<Work>(count);
    by_number_ = arena.array<int>(static_cast<int64_t>(plan_.program.reductions.size()));
    if (count) MomentStatus::of_thread().begin(*g.launch);
    for (int i = 0; i < count; ++i) {
      const PlannedReduction& p = plan_.reductions[i];
      const int number = plan_.steps[p.step].slot;
      const Reduction& r = plan_.program.reductions[number];
      by_number_[number] = i;
      Work& w = *new (&work_[i]) Work;
      w.target = target_of(*g.launch, number, shape.length);
      w.join = make_join(p, r);
      w.reducer = RunReducer::make(arena, p, r, columns);
      w.tree = new (arena.bytes(sizeof(TreeStack)))
          TreeStack(arena, w.join, (w.target.extent + kRunUnit - 1) / kRunUnit, columns);
    }
  }

  // Positions [begin, end) of the axis (of the box) at one place of the other axes.
  void work(int64_t outer, int64_t middle, int64_t chunk, int64_t begin, int64_t end) {
    first_column_ = chunk * shape_.chunk;
    columns_ = std::min(shape_.chunk, shape_.columns - first_column_);
    const int count = static_cast<int>(plan_.reductions.size());
    for (int i = 0; i < count; ++i) {
      work_[i].tree->resize(columns_);
      work_[i].tree->clear();
    }
    for (unit_ = begin; unit_ < end; unit_ += kRunUnit) {
      const int64_t stop = std::min(unit_ + kRunUnit, end);
      for (int64_t at = unit_; at < stop; at += g_.rows_per_block) {
        position_ = at;
        const int64_t row = (outer * shape_.length + at) * shape_.middle + middle;
        const int64_t rows = std::min(g_.rows_per_block, stop - at);
        runner_.start_row(row);
        if (g_.batched) runner_.run(0, {row, rows, 0, rows * g_.n}, 0);
        else
          for (int64_t c = 0; c < columns_; c += g_.block)
            runner_.run(0, {row, 1, first_column_ + c, std::min(g_.block, columns_ - c)}, 0);
      }
      for (int i = 0; i < count; ++i) {
        Work& w = work_[i];
        w.reducer->end_unit(w.tree->next(), columns_);
        w.tree->push(0, (w.target.begin + unit_) / kRunUnit, stop - unit_);
        note_reduced_flags(*g_.launch, plan_, plan_.reductions[i]);
      }
    }
  }
  const TreeStack& tree(int i) const { return *work_[i].tree; }

  void take(int reduction, const char* values, bool scalar, const Block& block) override {
    Work& w = work_[by_number_[reduction]];
    const int size = itemsize(plan_.reductions[by_number_[reduction]].dtype);
    if (scalar) {
      if (!spread_) spread_ = arena_.bytes((g_.block + kMaxQuantum) * 16);
      fill(spread_, values, block.count, size);
      values = spread_;
    }
    const bool first = position_ == unit_;
    const int64_t at = w.target.begin + position_;
    if (g_.batched) w.reducer->take_rows(w.tree->next(), at, first, values, block.rows, g_.n);
    else w.reducer->take(w.tree->next(), at, first, block.column - first_column_, values, block.count);
    note_reduced_flags(*g_.launch, plan_, plan_.reductions[by_number_[reduction]]);
  }

 private:
  struct Work {
    ReduceTarget target;
    StateJoin join;
    RunReducer* reducer = nullptr;
    TreeStack* tree = nullptr;
  };

  const Geometry& g_;
  const Plan& plan_;
  const Shape& shape_;
  Arena& arena_;
  BlockRunner runner_;
  Work* work_ = nullptr;
  int* by_number_ = nullptr;
  char* spread_ = nullptr;
  int64_t first_column_ = 0, columns_ = 0, unit_ = 0, position_ = 0;
};

// Writes the nodes of one chunk at one place: [node][outer, middle, columns].
void write_nodes(const TreeStack& tree, const ReduceTarget& target, int64_t state_bytes, const Shape& s, int64_t outer,
                 int64_t middle, int64_t chunk) {
  if (!target.nodes) return;
  const int64_t place = (outer * s.middle + middle) * s.columns + chunk * s.chunk;
  for (int k = 0; k < tree.size(); ++k)
    std::memcpy(static_cast<char*>(target.nodes) + (k * s.others() + place) * state_bytes, tree[k].state,
                tree.state_width() * state_bytes);
}

struct Place {
  int64_t outer, middle, chunk;
};
Place place_of(const Shape& s, int64_t number) {
  return {number / s.chunks / s.middle, number / s.chunks % s.middle, number % s.chunks};
}

}  // namespace

void drive_runs(const Geometry& g, int axis, Parallel& parallel) {
  const Plan& plan = *g.plan;
  const Shape s = shape_of(g, axis);
  const int reductions = static_cast<int>(plan.reductions.size());
  const auto target = [&](int i) { return target_of(*g.launch, plan.steps[plan.reductions[i].step].slot, s.length); };
  const int64_t begin = target(0).begin, places = s.outer * s.middle * s.chunks;
  const float work = (plan.cost + 1) * static_cast<float>(g.elements());
  const bool alone = work < kInline || parallel.width() == 1;
  const int64_t elements = s.length * std::min(s.chunk, s.columns);
  const int64_t wanted = alone || places >= 8 * parallel.width() ? 1 : std::max<int64_t>(elements / kPieceElements, 1);
  const AxisPieces cut(begin, begin + s.length, kRunUnit, wanted);

  if (cut.count() == 1) {
    // Each place is one thread's. Small places are taken several at a time.
    const int64_t together = alone ? places : std::max<int64_t>(kPieceElements / std::max<int64_t>(elements, 1), 1);
    for_pieces(parallel, (places + together - 1) / together, [&](int64_t piece) {
      Arena& arena = Arena::of_thread();
      const Arena::Scope scope(arena);
      RunWorker worker(g, s, axis, arena);
      for (int64_t n = piece * together; n < std::min((piece + 1) * together, places); ++n) {
        const Place p = place_of(s, n);
        worker.work(p.outer, p.middle, p.chunk, 0, s.length);
        for (int i = 0; i < reductions; ++i)
          write_nodes(worker.tree(i), target(i), plan.reductions[i].state_bytes, s, p.outer, p.middle, p.chunk);
      }
    });
    return;
  }

  std::vector<PieceNodes> made(places * cut.count() * reductions);
  for_pieces(parallel, places * cut.count(), [&](int64_t piece) {
    Arena& arena = Arena::of_thread();
    const Arena::Scope scope(arena);
    RunWorker worker(g, s, axis, arena);
    const Place p = place_of(s, piece / cut.count());
    const int64_t part = piece % cut.count();
    worker.work(p.outer, p.middle, p.chunk, cut.piece_begin(part) - begin, cut.piece_end(part) - begin);
    for (int i = 0; i < reductions; ++i) made[piece * reductions + i].take(worker.tree(i), plan.reductions[i].state_bytes);
  });
  Arena& arena = Arena::of_thread();
  if (g.launch->fp_flags) take_fp_status();
  MomentStatus::of_thread().begin(*g.launch);
  for (int i = 0; i < reductions; ++i) {
    const PlannedReduction& planned = plan.reductions[i];
    const StateJoin join = make_join(planned, plan.program.reductions[plan.steps[planned.step].slot]);
    for (int64_t n = 0; n < places; ++n) {
      const Arena::Scope scope(arena);
      const Place p = place_of(s, n);
      TreeStack tree(arena, join, (target(i).extent + kRunUnit - 1) / kRunUnit, std::min(s.chunk, s.columns - p.chunk * s.chunk));
      for (int64_t part = 0; part < cut.count(); ++part)
        made[(n * cut.count() + part) * reductions + i].push_to(tree, planned.state_bytes);
      note_reduced_flags(*g.launch, plan, planned);
      write_nodes(tree, target(i), planned.state_bytes, s, p.outer, p.middle, p.chunk);
    }
  }
}

}  // namespace tilewise::ops::simd
