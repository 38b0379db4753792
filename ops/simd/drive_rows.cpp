#include "ops/simd/drive_rows.h"

#include <algorithm>

#include "ops/op_table.h"
#include "ops/simd/block_copy.h"
#include "ops/simd/block_runner.h"
#include "ops/simd/fp_status.h"
#include "ops/simd/moment_status.h"
#include "ops/simd/lane_reducer.h"
#include "ops/simd/reduce_sink.h"
#include "partition/tree.h"

namespace tilewise::ops::simd {

namespace {

using partition::kLanes;
using partition::kLaneUnit;

constexpr float kPieceWork = 1 << 20;    // additions worth a piece
constexpr int64_t kLongPiece = 1 << 16;  // elements of a piece of a long row
constexpr int64_t kInline = 1 << 17;     // additions that one thread does at once

// One thread's work on rows, or on a part of a row.
class RowWorker final : public Sink {
 public:
  RowWorker(const Geometry& g, Arena& arena)
      : g_(g), plan_(*g.plan), arena_(arena),
        runner_(g, arena, plan_.phases() > 1 && !g.one_block_rows ? g.n : 0, this) {
    const int count = static_cast<int>(plan_.reductions.size());
    work_ = arena.array<Work>(count);
    by_number_ = arena.array<int>(static_cast<int64_t>(plan_.program.reductions.size()));
    if (count) MomentStatus::of_thread().begin(*g.launch);
    for (int i = 0; i < count; ++i) {
      const PlannedReduction& p = plan_.reductions[i];
      const int number = plan_.steps[p.step].slot;
      const Reduction& r = plan_.program.reductions[number];
      by_number_[number] = i;
      Work& w = *new (&work_[i]) Work;
      w.target = target_of(*g.launch, number, g.n);
      w.join = make_join(p, r);
      w.reducer = LaneReducer::make(arena, p, r);
      w.value_offset = value_offset(r, p.dtype);
      w.tree = new (arena.bytes(sizeof(TreeStack)))
          TreeStack(arena, w.join, (w.target.extent + kLaneUnit - 1) / kLaneUnit, 1);
      if (g.batched) w.states = arena.bytes(g.rows_per_block * p.state_bytes);
    }
    if (count) runner_.split_at(kLanes);
  }

  // Whole rows, [begin, end).
  void rows(int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += g_.rows_per_block) {
      const int64_t rows = std::min(g_.rows_per_block, end - row);
      runner_.start_row(row);
      for (int phase = 0; phase < plan_.phases(); ++phase) {
        if (g_.batched) runner_.run(phase, {row, rows, 0, rows * g_.n}, 0);
        else walk(phase, row, 0, g_.n);
        for (int i = 0; i < static_cast<int>(plan_.reductions.size()); ++i)
          if (in_phase(i, phase)) finish(i, row, rows);
      }
    }
  }

  // Columns [begin, end) of one row; the nodes stay with the trees.
  void part_of_row(int64_t row, int64_t begin, int64_t end) {
    runner_.start_row(row);
    walk(0, row, begin, end);
  }
  const TreeStack& tree(int i) const { return *work_[i].tree; }

  void take(int reduction, const char* values, bool scalar, const Block& block) override {
    Work& w = work_[by_number_[reduction]];
    const PlannedReduction& p = plan_.reductions[by_number_[reduction]];
    if (scalar) {
      const int size = itemsize(p.dtype);
      if (!spread_) spread_ = arena_.bytes(std::max(g_.block, kLaneUnit) * 16);
      fill(spread_, values, block.count, size);
      values = spread_;
    }
    if (g_.batched) w.reducer->rows(values, block.rows, g_.n, w.target.begin, w.states);
    else w.reducer->take(values, block.count);
    note_reduced_flags(*g_.launch, plan_, p);
  }

 private:
  struct Work {
    ReduceTarget target;
    StateJoin join;
    LaneReducer* reducer = nullptr;
    TreeStack* tree = nullptr;
    char* states = nullptr;  // of the rows of a block
    int64_t value_offset = 0;
  };

  bool in_phase(int i, int phase) const {
    const int step = plan_.reductions[i].step;
    return step >= plan_.phase_begin[phase] && step < plan_.phase_begin[phase + 1];
  }

  void walk(int phase, int64_t row, int64_t begin, int64_t end) {
    const int count = static_cast<int>(plan_.reductions.size());
    bool reduces = false;
    for (int i = 0; i < count; ++i) {
      if (!in_phase(i, phase)) continue;
      reduces = true;
      work_[i].tree->clear();
    }
    if (!reduces) return blocks(phase, row, begin, end);
    for (int64_t at = begin; at < end; at += kLaneUnit) {
      const int64_t stop = std::min(at + kLaneUnit, end);
      for (int i = 0; i < count; ++i)
        if (in_phase(i, phase)) work_[i].reducer->begin_unit(work_[i].target.begin + at);
      blocks(phase, row, at, stop);
      for (int i = 0; i < count; ++i) {
        if (!in_phase(i, phase)) continue;
        work_[i].reducer->end_unit(work_[i].tree->next());
        work_[i].tree->push(0, (work_[i].target.begin + at) / kLaneUnit, stop - at);
        note_reduced_flags(*g_.launch, plan_, plan_.reductions[i]);
      }
    }
  }

  void blocks(int phase, int64_t row, int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += g_.block)
      runner_.run(phase, {row, 1, at, std::min(g_.block, end - at)}, at);
  }

  // The reduction is complete for the rows: its nodes are written, its value becomes known.
  void finish(int i, int64_t row, int64_t rows) {
    const Work& w = work_[i];
    const PlannedReduction& p = plan_.reductions[i];
    char* nodes = static_cast<char*>(w.target.nodes);
    if (nodes && g_.batched) std::memcpy(nodes + row * p.state_bytes, w.states, rows * p.state_bytes);
    if (nodes && !g_.batched)
      for (int k = 0; k < w.tree->size(); ++k)
        std::memcpy(nodes + (k * g_.rows + row) * p.state_bytes, (*w.tree)[k].state, p.state_bytes);
    if (plan_.phases() == 1) return;
    const char* states = g_.batched ? w.states : (*w.tree)[0].state;
    runner_.set_reduced(plan_.steps[p.step].value, states + w.value_offset, p.state_bytes, {row, rows, 0, rows * g_.n});
  }

  const Geometry& g_;
  const Plan& plan_;
  Arena& arena_;
  BlockRunner runner_;
  Work* work_ = nullptr;
  int* by_number_ = nullptr;
  char* spread_ = nullptr;
};

// Elements for one piece, so that it is worth handing over.
int64_t piece_elements(const Plan& plan) {
  const float cost = std::max(plan.cost, 1.0f) + static_cast<float>(plan.program.accesses.size());
  return std::clamp<int64_t>(static_cast<int64_t>(kPieceWork / cost), 1 << 14, 1 << 17);
}

// Long rows: each is cut along the tree, and its pieces' nodes are joined at the end.
void drive_long_rows(const Geometry& g, Parallel& parallel) {
  const Plan& plan = *g.plan;
  const int reductions = static_cast<int>(plan.reductions.size());
  int64_t begin = 0;
  for (const PlannedReduction& p : plan.reductions) begin = target_of(*g.launch, plan.steps[p.step].slot, g.n).begin;
  const AxisPieces cut(begin, begin + g.n, kLaneUnit, std::max<int64_t>(g.n / kLongPiece, 1));
  std::vector<PieceNodes> made(g.rows * cut.count() * reductions);
  for_pieces(parallel, g.rows * cut.count(), [&](int64_t piece) {
    Arena& arena = Arena::of_thread();
    const Arena::Scope scope(arena);
    RowWorker worker(g, arena);
    const int64_t row = piece / cut.count(), part = piece % cut.count();
    worker.part_of_row(row, cut.piece_begin(part) - begin, cut.piece_end(part) - begin);
    for (int i = 0; i < reductions; ++i) made[piece * reductions + i].take(worker.tree(i), plan.reductions[i].state_bytes);
  });
  Arena& arena = Arena::of_thread();
  if (g.launch->fp_flags) take_fp_status();
  MomentStatus::of_thread().begin(*g.launch);
  for (int i = 0; i < reductions; ++i) {
    const PlannedReduction& p = plan.reductions[i];
    const int number = plan.steps[p.step].slot;
    const ReduceTarget target = target_of(*g.launch, number, g.n);
    if (!target.nodes) continue;
    const StateJoin join = make_join(p, plan.program.reductions[number]);
    for (int64_t row = 0; row < g.rows; ++row) {
      const Arena::Scope scope(arena);
      TreeStack tree(arena, join, (target.extent + kLaneUnit - 1) / kLaneUnit, 1);
      for (int64_t part = 0; part < cut.count(); ++part)
        made[(row * cut.count() + part) * reductions + i].push_to(tree, p.state_bytes);
      note_reduced_flags(*g.launch, plan, p);
      for (int k = 0; k < tree.size(); ++k)
        std::memcpy(static_cast<char*>(target.nodes) + (k * g.rows + row) * p.state_bytes, tree[k].state, p.state_bytes);
    }
  }
}

// Long rows without reductions are cut anywhere, at whole blocks.
void drive_columns(const Geometry& g, Parallel& parallel, int64_t grain) {
  grain = (grain + g.block - 1) / g.block * g.block;
  const int64_t parts = (g.n + grain - 1) / grain;
  for_pieces(parallel, g.rows * parts, [&](int64_t piece) {
    Arena& arena = Arena::of_thread();
    const Arena::Scope scope(arena);
    RowWorker worker(g, arena);
    const int64_t begin = piece % parts * grain;
    worker.part_of_row(piece / parts, begin, std::min(begin + grain, g.n));
  });
}

}  // namespace

void drive_rows(const Geometry& g, Parallel& parallel) {
  const Plan& plan = *g.plan;
  const float work = (plan.cost + 1) * static_cast<float>(g.elements());
  const bool alone = work < kInline || parallel.width() == 1;
  // Several pieces a core, where there is so much work.
  const int64_t share = g.elements() / (4 * parallel.width());
  const int64_t grain = std::min(piece_elements(plan), std::max<int64_t>(share, 1 << 12));
  const bool cut_rows = plan.phases() == 1 && !alone && g.n >= 2 * grain && !g.batched;
  if (cut_rows && plan.reductions.empty()) return drive_columns(g, parallel, grain);
  if (cut_rows && g.n > 2 * kLongPiece) return drive_long_rows(g, parallel);
  int64_t rows = alone ? g.rows : std::max<int64_t>(grain / std::max<int64_t>(g.n, 1), 1);
  rows = (rows + g.rows_per_block - 1) / g.rows_per_block * g.rows_per_block;
  for_pieces(parallel, (g.rows + rows - 1) / rows, [&](int64_t piece) {
    Arena& arena = Arena::of_thread();
    const Arena::Scope scope(arena);
    RowWorker worker(g, arena);
    worker.rows(piece * rows, std::min((piece + 1) * rows, g.rows));
  });
}

}  // namespace tilewise::ops::simd
