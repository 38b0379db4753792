// Reductions of a group, in stages. See lower_group.h; the tree is in partition/tree.h.
//
//   1. The group's own pass reduces the innermost reduced axis. Each part writes its nodes, one row of states a node, to a
//      temporary store whose first axis counts nodes (one node where the axis is not cut).
//   2. Where a further reduced axis is cut, each part goes on alone down to the nodes of that axis.
//   3. Nodes are joined to the root, the remaining axes reduced, and the values written: by every rank for a small result, by
//      the owners of its parts for a large one.
//
// A reduction with one stage, whose axis is not cut, writes its result in the first pass.
#include <algorithm>

#include "runtime/lower_group.h"
#include "runtime/reduce_stage.h"

namespace tilewise {

using partition::Box;
using partition::Cuts;
using partition::DomainPartition;
using partition::Tiling;
using partition::TilingPtr;
using partition::TreeNode;
using partition::View;

namespace {

// The nodes of an axis cut by `cuts`, and where each interval's begin.
struct NodeTable {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> first;  // by interval; one more at the end
};

NodeTable node_table(const Cuts& cuts, int64_t unit) {
  NodeTable table;
  for (int64_t i = 0; i < cuts.count(); ++i) {
    table.first.push_back(static_cast<int64_t>(table.nodes.size()));
    const auto interval = cuts.interval(i);
    if (interval.empty()) continue;
    for (const TreeNode& node : partition::tree_nodes(interval.lo, interval.hi, cuts.extent(), unit))
      table.nodes.push_back(node);
  }
  table.first.push_back(static_cast<int64_t>(table.nodes.size()));
  return table;
}

bool is_cut(const Cuts& cuts) {
  for (int64_t i = 0; i < cuts.count(); ++i)
    if (cuts.interval(i).size() == cuts.extent()) return false;
  return cuts.extent() > 0;
}

Dims without(Dims dims, int axis) {
  dims.erase(axis);
  return dims;
}

}  // namespace

// Reduced axes, inner to outer.
static SmallVec<int, 6> stage_axes(uint64_t axes, int rank) {
  SmallVec<int, 6> list;
  for (int k = rank - 1; k >= 0; --k)
    if (axes >> k & 1) list.push_back(k);
  return list;
}

static int64_t unit_of(int axis, int rank) {
  return axis == rank - 1 ? partition::kLaneUnit : partition::kRunUnit;
}

// No block of the tree is cut.
Dims GroupLowering::rounding() const {
  Dims multiples(frame_.size(), 1);
  for (int axis : stage_axes(reduced_axes_, frame_.size()))
    multiples[axis] = group_.phases ? std::max<int64_t>(frame_[axis], 1) : unit_of(axis, frame_.size());
  return multiples;
}

void GroupLowering::plan_reductions() {
  if (reduced_.empty()) return;
  const auto axes = stage_axes(reduced_axes_, frame_.size());
  // At most one reduced axis is cut, so that only one stage has nodes to join.
  int cut_axes = 0;
  for (int axis : axes) cut_axes += is_cut(parts_.grid().cuts(axis));
  if (cut_axes > 1) parts_ = DomainPartition::by_count(frame_, l_.job.devices(), l_.min_tile, rounding());
  const int first = axes[0];
  const NodeTable table = node_table(parts_.grid().cuts(first), unit_of(first, frame_.size()));

  for (Reduced& r : reduced_) {
    stages_.emplace_back();
    Stage& stage = stages_.back();
    if (!r.needed) continue;
    StoreState& result = l_.stores.get(r.store);
    stage.weight = frame_[first];
    const bool plain = program_.reductions[r.number].state == ReduceState::kPlain;
    const bool cut = is_cut(parts_.grid().cuts(first));
    const bool small = result.count() < l_.min_tile;
    if (plain && axes.size() == 1 && !cut && (everywhere_ || !small || l_.job.devices() == 1)) {
      stage.direct = true;
      if (!result.tiling) {
        TilingPtr tiling = follow_frame(result, r.view);
        if (tiling)
          l_.place(result, std::move(tiling));
        else
          l_.ensure_placed(result);
      }
      continue;
    }
    Dims shape = without(frame_, first);
    shape.insert(0, static_cast<int64_t>(table.nodes.size()));
    const int64_t bytes = state_bytes(program_.reductions[r.number], r.type);
    TilingPtr tiling;
    if (everywhere_) {
      tiling = Tiling::replicated(shape, static_cast<int32_t>(bytes));
    } else {
      // The frame's grid, with the reduced axis in front and cut where the nodes of each part begin.
      std::vector<int64_t> inner(table.first.begin() + 1, table.first.end() - 1);
      std::vector<Cuts> cuts{Cuts::at(shape[0], inner)};
      std::vector<int> order{first};
      for (int k = 0; k < frame_.size(); ++k)
        if (k != first) {
          cuts.push_back(parts_.grid().cuts(k));
          order.push_back(k);
        }
      std::vector<int32_t> owners;
      std::vector<int64_t> at(order.size(), 0);
      for (int64_t cell = 0; cell < parts_.part_count(); ++cell) {
        int64_t number = 0;  // of the part in the frame's own order
        for (int k = 0; k < frame_.size(); ++k) {
          const auto i = std::find(order.begin(), order.end(), k) - order.begin();
          number = number * parts_.grid().cuts(k).count() + at[i];
        }
        owners.push_back(parts_.owner(number));
        for (int i = static_cast<int>(order.size()) - 1; i >= 0; --i) {
          if (++at[i] < parts_.grid().cuts(order[i]).count()) break;
          at[i] = 0;
        }
      }
      tiling = Tiling::from_cuts(static_cast<int32_t>(bytes), std::move(cuts), partition::Owners::listed(owners));
    }
    stage.nodes = l_.temporary(shape, bytes, std::move(tiling));
  }
}

void GroupLowering::add_reduction_outputs(StepTask* task, const Box& box, int device) {
  (void)device;
  const int first = stage_axes(reduced_axes_, frame_.size())[0];
  const Cuts& cuts = parts_.grid().cuts(first);
  const NodeTable table = node_table(cuts, unit_of(first, frame_.size()));
  task->run->reductions.resize(program_.reductions.size());
  for (size_t i = 0; i < reduced_.size(); ++i) {
    const Reduced& r = reduced_[i];
    const Stage& stage = stages_[i];
    ReduceTarget& target = task->run->reductions[r.number];
    target.begin = box.lo[first];
    target.end = box.hi[first];
    target.extent = frame_[first];
    if (!r.needed) continue;
    Box region(without(box.lo, first), without(box.hi, first));
    if (stage.direct) {
      View view = r.view;
      view.shape = without(frame_, first);
      view.strides = without(view.strides, first);
      task->outputs.push_back({r.store, view, region, false, true});
    } else {
      const StoreState& nodes = l_.stores.get(stage.nodes);
      const int64_t interval = cuts.find(box.lo[first]);
      region.lo.insert(0, table.first[interval]);
      region.hi.insert(0, table.first[interval + 1]);
      const View view =
          partition::dense_view(nodes.base_shape, DType::kVoid, static_cast<int32_t>(nodes.base_itemsize));
      task->outputs.push_back({stage.nodes, view, region, false, true});
    }
    task->run->accesses.push_back(-1 - r.number);
  }
}

// What a later task does with states [nodes or 1][rest of the frame's box]: joins, then reduces axis after axis.
struct ReduceChain {
  Reduction reduction;
  DType type;
  int64_t weight;
  Dims frame;                    // extents of the whole frame, by axis
  std::vector<int> axes;         // of the box in memory order, behind the node axis
  std::vector<TreeNode> nodes;   // to be joined first, of an axis of
  int64_t extent = 1, unit = 1;
};

namespace {

struct Work {
  std::vector<char> states;
  Dims shape;                    // by entry of ReduceChain::axes
};

// Reduces the axis whole.
void reduce_whole(ReduceChain* chain, Work* work, int axis, Parallel& parallel) {
  const auto at = static_cast<int>(std::find(chain->axes.begin(), chain->axes.end(), axis) - chain->axes.begin());
  StateArray in{chain->reduction, chain->type, 1, work->shape[at], 1, chain->weight};
  for (int i = 0; i < at; ++i) in.outer *= work->shape[i];
  for (int i = at + 1; i < work->shape.size(); ++i) in.inner *= work->shape[i];
  std::vector<char> out(in.outer * in.inner * in.bytes());
  reduce_run_axis(in, 0, in.n, in.n, work->states.data(), out.data(), parallel);
  chain->weight *= in.n;
  work->states = std::move(out);
  work->shape.erase(at);
  chain->axes.erase(chain->axes.begin() + at);
}

}  // namespace

void GroupLowering::finish_reductions() {
  const int rank = frame_.size();
  const auto axes = stage_axes(reduced_axes_, rank);
  for (size_t i = 0; i < reduced_.size(); ++i) {
    const Reduced& r = reduced_[i];
    Stage& stage = stages_[i];
    if (!r.needed || stage.direct) continue;
    const int first = axes[0];
    ReduceChain chain{program_.reductions[r.number], r.type, stage.weight, frame_, {}, {}, frame_[first], unit_of(first, rank)};
    for (int k = 0; k < rank; ++k)
      if (k != first) chain.axes.push_back(k);
    chain.nodes = node_table(parts_.grid().cuts(first), chain.unit).nodes;
    std::vector<int> left(axes.begin() + 1, axes.end());
    StoreId source = stage.nodes;

    // 2. Parts go on alone while a further axis that is cut has not been reached.
    int cut = -1;
    for (size_t s = 0; s < left.size(); ++s)
      if (is_cut(parts_.grid().cuts(left[s]))) cut = static_cast<int>(s);
    if (cut >= 0 && !everywhere_) source = reduce_parts(&chain, &left, cut, source);

    // 3. Joining, the remaining axes, and the values.
    write_result(r, chain, left, source);
    l_.drop_temporary(source);
  }
}

// Each part reduces its own states over left[0 .. cut - 1] whole and left[cut] to nodes. Returns the store of those.
StoreId GroupLowering::reduce_parts(ReduceChain* given, std::vector<int>* left, int cut, StoreId source) {
  ReduceChain& chain = *given;
  const int axis = (*left)[cut];
  const Cuts& cuts = parts_.grid().cuts(axis);
  const NodeTable table = node_table(cuts, partition::kRunUnit);
  const StoreState& from = l_.stores.get(source);
  const auto bytes = static_cast<int32_t>(from.base_itemsize);
  const std::vector<int> whole(left->begin(), left->begin() + cut);
  std::vector<int> kept;
  for (int k : chain.axes)
    if (k != axis && std::find(whole.begin(), whole.end(), k) == whole.end()) kept.push_back(k);
  Dims shape{static_cast<int64_t>(table.nodes.size())};
  for (int k : kept) shape.push_back(frame_[k]);
  // Parts differ on the cut axis alone (other reduced axes are whole), or on kept axes too.
  std::vector<Cuts> grid{Cuts::at(shape[0], std::vector<int64_t>(table.first.begin() + 1, table.first.end() - 1))};
  for (int k : kept) grid.push_back(parts_.grid().cuts(k));
  std::vector<int32_t> owners;
  std::vector<int64_t> at(grid.size(), 0);
  int64_t cells = 1;
  for (const Cuts& c : grid) cells *= c.count();
  for (int64_t cell = 0; cell < cells; ++cell) {
    Dims point(frame_.size(), 0);
    point[axis] = std::min(cuts.cut(at[0]), cuts.extent() - 1);
    for (size_t g = 1; g < grid.size(); ++g)
      point[kept[g - 1]] = std::min(grid[g].cut(at[g]), std::max<int64_t>(grid[g].extent() - 1, 0));
    owners.push_back(parts_.owner(parts_.grid().cell_at(point)));
    for (int g = static_cast<int>(grid.size()) - 1; g >= 0; --g) {
      if (++at[g] < grid[g].count()) break;
      at[g] = 0;
    }
  }
  const StoreId target =
      l_.temporary(shape, bytes, Tiling::from_cuts(bytes, std::move(grid), partition::Owners::listed(owners)));

  StepBuilder step(l_.job, l_.stores, l_.counters);
  const View from_view = partition::dense_view(from.base_shape, DType::kVoid, bytes);
  const View to_view = partition::dense_view(shape, DType::kVoid, bytes);
  for (int64_t part = 0; part < parts_.part_count(); ++part) {
    const Box box = parts_.part_box(part);
    if (box.empty() || l_.job.rank_of(parts_.owner(part)) != l_.job.rank) continue;
    StepTask task;
    task.device = parts_.owner(part);
    Box in(Dims{0}, Dims{1}), out(Dims{table.first[cuts.find(box.lo[axis])]}, Dims{table.first[cuts.find(box.lo[axis]) + 1]});
    Dims extents;
    for (int k : chain.axes) {
      in.lo.push_back(box.lo[k]);
      in.hi.push_back(box.hi[k]);
      extents.push_back(box.extent(k));
    }
    for (int k : kept) {
      out.lo.push_back(box.lo[k]);
      out.hi.push_back(box.hi[k]);
    }
    task.inputs.push_back({source, from_view, in, false, true});
    task.outputs.push_back({target, to_view, out, false, true});
    task.cost = static_cast<double>(in.count());
    const auto interval = partition::Interval{box.lo[axis], box.hi[axis]};
    task.body = [chain, whole, axis, interval, extents, extent = frame_[axis], bytes](
                    std::span<const Bound> ins, std::span<const Bound> outs, Parallel& parallel) {
      ReduceChain c = chain;
      Work work{std::vector<char>(ins[0].base, ins[0].base + count_of(extents) * bytes), extents};
      for (int k : whole) reduce_whole(&c, &work, k, parallel);
      const auto place = static_cast<int>(std::find(c.axes.begin(), c.axes.end(), axis) - c.axes.begin());
      StateArray array{c.reduction, c.type, 1, work.shape[place], 1, c.weight};
      for (int i = 0; i < place; ++i) array.outer *= work.shape[i];
      for (int i = place + 1; i < work.shape.size(); ++i) array.inner *= work.shape[i];
      reduce_run_axis(array, interval.lo, interval.hi, extent, work.states.data(), outs[0].base, parallel);
    };
    step.add(std::move(task));
  }
  step.issue(l_.next_tag++);
  l_.drop_temporary(source);
  for (int k : whole) chain.weight *= frame_[k];
  chain.weight *= frame_[axis];
  chain.axes = kept;
  chain.nodes = table.nodes;
  chain.extent = frame_[axis];
  chain.unit = partition::kRunUnit;
  left->erase(left->begin(), left->begin() + cut + 1);
  return target;
}

void GroupLowering::write_result(const Reduced& r, const ReduceChain& chain, const std::vector<int>& left,
                                 StoreId source) {
  StoreState& result = l_.stores.get(r.store);
  const StoreState& from = l_.stores.get(source);
  const auto bytes = static_cast<int32_t>(from.base_itemsize);
  std::vector<int> kept;
  for (int k : chain.axes)
    if (std::find(left.begin(), left.end(), k) == left.end()) kept.push_back(k);
  View view = r.view;
  view.shape = Dims();
  view.strides = Dims();
  for (int k : kept) {
    view.shape.push_back(frame_[k]);
    view.strides.push_back(r.view.strides[k]);
  }
  l_.ensure_placed(result);
  const bool shared = result.tiling->is_replicated();
  const DomainPartition targets = shared ? DomainPartition::single(view.shape, l_.job.first_device(l_.job.rank))
                                         : DomainPartition::induced(view, *result.tiling, l_.job.devices());

  StepBuilder step(l_.job, l_.stores, l_.counters);
  const View from_view = partition::dense_view(from.base_shape, DType::kVoid, bytes);
  auto add = [&](const Box& box, int device) {
    StepTask task;
    task.device = device;
    task.everywhere = shared;
    Box in(Dims{0}, Dims{from.base_shape[0]});
    Dims extents;
    for (int k : chain.axes) {
      const auto at = std::find(kept.begin(), kept.end(), k) - kept.begin();
      const bool is_kept = at < static_cast<int64_t>(kept.size());
      in.lo.push_back(is_kept ? box.lo[static_cast<int>(at)] : 0);
      in.hi.push_back(is_kept ? box.hi[static_cast<int>(at)] : frame_[k]);
      extents.push_back(in.hi.back() - in.lo.back());
    }
    task.inputs.push_back({source, from_view, in, false, true});
    task.outputs.push_back({r.store, view, box, false, true});
    task.cost = static_cast<double>(in.count()) * 4;
    task.body = [chain, left, extents, bytes](std::span<const Bound> ins, std::span<const Bound> outs,
                                              Parallel& parallel) {
      ReduceChain c = chain;
      const int64_t row = count_of(extents);
      const auto nodes = static_cast<int64_t>(c.nodes.size());
      Work work{std::vector<char>(ins[0].base, ins[0].base + nodes * row * bytes), extents};
      StateArray array{c.reduction, c.type, 1, row, 1, c.weight};
      if (nodes > 1) {
        array.weight = c.weight / c.extent;  // of one position of the joined axis
        join_nodes(array, c.nodes, c.extent, c.unit, work.states.data());
      }
      work.states.resize(row * bytes);
      for (int k : left) reduce_whole(&c, &work, k, parallel);
      finish_states(c.reduction, c.type, work.states.data(), outs[0].base, count_of(work.shape));
    };
    step.add(std::move(task));
  };
  if (shared) {
    for (int rank = 0; rank < l_.job.size; ++rank) add(Box::of(view.shape), l_.job.first_device(rank));
  } else {
    for (int64_t part = 0; part < targets.part_count(); ++part)
      if (const Box box = targets.part_box(part); !box.empty()) add(box, targets.owner(part));
  }
  step.issue(l_.next_tag++);
}

}  // namespace tilewise
