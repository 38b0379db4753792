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
#include "runtime/reduce_chain.h"

namespace tilewise {

using partition::Box;
using partition::Cuts;
using partition::DomainPartition;
using partition::Tiling;
using partition::TilingPtr;
using partition::TreeNode;
using partition::View;

namespace {

bool is_cut(const Cuts& cuts) {
  return cuts.extent() > 0 && cuts.interval(cuts.find(0)).size() < cuts.extent();
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

// Whether nodes are joined over all ranks at once (join_everywhere.h): small results that everybody gets, of parts that follow
// each other in the order of the ranks. Among few ranks a message from each to each is sooner there.
bool GroupLowering::joins_everywhere() const {
  if (l_.job.size <= l_.job.few_ranks || everywhere_ || !parts_.grid().owned_in_order()) return false;
  for (int k = 0; k < frame_.size(); ++k)
    if (is_cut(parts_.grid().cuts(k)) && !(reduced_axes_ >> k & 1)) return false;
  for (const Reduced& r : reduced_) {
    const StoreState& result = l_.stores.get(r.store);
    if (r.needed && (result.tiling ? !result.tiling->is_replicated() : result.count() >= l_.min_tile)) return false;
  }
  return true;
}

// Owners of a grid over some axes of the frame, the first of which may be cut in another way: those of the parts.
partition::Owners GroupLowering::node_owners(const std::vector<int>& axes) const {
  if (in_order_) return partition::Owners::cyclic(l_.job.devices());
  const partition::Grid& grid = parts_.grid();
  std::vector<int32_t> owners;
  std::vector<int64_t> at(axes.size(), 0);
  int64_t cells = 1;
  for (int k : axes) cells *= grid.cuts(k).count();
  for (int64_t cell = 0; cell < cells; ++cell) {
    Dims point(frame_.size(), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const Cuts& cuts = grid.cuts(axes[i]);
      point[axes[i]] = std::min(cuts.cut(at[i]), std::max<int64_t>(cuts.extent() - 1, 0));
    }
    owners.push_back(parts_.owner(grid.cell_at(point)));
    for (int i = static_cast<int>(axes.size()) - 1; i >= 0; --i) {
      if (++at[i] < grid.cuts(axes[i]).count()) break;
      at[i] = 0;
    }
  }
  return partition::Owners::listed(owners);
}

void GroupLowering::plan_reductions() {
  if (reduced_.empty()) return;
  const auto axes = stage_axes(reduced_axes_, frame_.size());
  // At most one reduced axis is cut, so that only one stage has nodes to join.
  int cut_axes = 0;
  for (int axis : axes) cut_axes += is_cut(parts_.grid().cuts(axis));
  if (cut_axes > 1) parts_ = DomainPartition::by_count(frame_, l_.job.devices(), l_.min_tile, rounding());
  const int first = axes[0];
  in_order_ = joins_everywhere();
  rows_ = NodeRows(parts_.grid().cuts(first), unit_of(first, frame_.size()), in_order_);

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
    shape.insert(0, rows_.count());
    const int64_t bytes = state_bytes(program_.reductions[r.number], r.type);
    TilingPtr tiling;
    if (everywhere_) {
      tiling = Tiling::replicated(shape, static_cast<int32_t>(bytes));
    } else {
      // The frame's grid, with the reduced axis in front and cut where the nodes of each part begin.
      std::vector<Cuts> cuts{rows_.cuts()};
      std::vector<int> order{first};
      for (int k = 0; k < frame_.size(); ++k)
        if (k != first) {
          cuts.push_back(parts_.grid().cuts(k));
          order.push_back(k);
        }
      tiling = Tiling::from_cuts(static_cast<int32_t>(bytes), std::move(cuts), node_owners(order));
    }
    stage.nodes = l_.temporary(shape, bytes, std::move(tiling));
  }
}

void GroupLowering::add_reduction_outputs(StepTask* task, const Box& box) {
  const int first = stage_axes(reduced_axes_, frame_.size())[0];
  const Cuts& cuts = parts_.grid().cuts(first);
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
      const auto rows = rows_.of(cuts.find(box.lo[first]));
      region.lo.insert(0, rows.lo);
      region.hi.insert(0, rows.hi);
      const View view =
          partition::dense_view(nodes.base_shape, DType::kVoid, static_cast<int32_t>(nodes.base_itemsize));
      task->outputs.push_back({stage.nodes, view, region, false, true});
    }
    task->run->accesses.push_back(-1 - r.number);
  }
}

void GroupLowering::finish_reductions() {
  const int rank = frame_.size();
  const auto axes = stage_axes(reduced_axes_, rank);
  std::vector<ReduceEnd> ends;
  for (size_t i = 0; i < reduced_.size(); ++i) {
    const Reduced& r = reduced_[i];
    Stage& stage = stages_[i];
    if (!r.needed || stage.direct) continue;
    const int first = axes[0];
    ReduceChain chain{program_.reductions[r.number], r.type, stage.weight, frame_, {}, {}, frame_[first], unit_of(first, rank), nullptr};
    for (int k = 0; k < rank; ++k)
      if (k != first) chain.axes.push_back(k);
    chain.nodes = rows_.nodes();
    std::vector<int> left(axes.begin() + 1, axes.end());
    StoreId source = stage.nodes;

    // 2. Parts go on alone while a further axis that is cut has not been reached.
    int cut = -1;
    for (size_t s = 0; s < left.size(); ++s)
      if (is_cut(parts_.grid().cuts(left[s]))) cut = static_cast<int>(s);
    if (cut >= 0 && !everywhere_) source = reduce_parts(&chain, &left, cut, source);

    // 3. Joining, the remaining axes, and the values.
    if (in_order_) {
      ends.push_back({static_cast<int>(i), chain, left, source, cut >= 0 ? axes[cut + 1] : first});
      continue;
    }
    write_result(r, chain, left, source);
    l_.drop_temporary(source);
  }
  if (!ends.empty()) write_everywhere(ends);
}

// What the joins of a later stage meet is told as what the reduction itself meets.
std::shared_ptr<FpReport> GroupLowering::joins_report(const ReduceChain& chain, int device) const {
  const bool ours = l_.job.rank_of(device) == l_.job.rank;
  const bool moments = chain.reduction.state == ReduceState::kMoments;
  if (!group_.watch || !ours || (chain.reduction.state != ReduceState::kPlain && !moments)) return nullptr;
  auto program = std::make_shared<Program>();
  program->push({kReduce, chain.type, kNone, kNone, kNone}, chain.type);
  auto report = std::make_shared<FpReport>();
  report->program = std::move(program);
  report->flags.resize(moments ? kMomentParts : 1);
  report->watch = group_.watch;
  report->lines = group_.op_lines;
  return report;
}

// Each part reduces its own states over left[0 .. cut - 1] whole and left[cut] to nodes. Returns the store of those.
StoreId GroupLowering::reduce_parts(ReduceChain* given, std::vector<int>* left, int cut, StoreId source) {
  ReduceChain& chain = *given;
  const int axis = (*left)[cut];
  const Cuts& cuts = parts_.grid().cuts(axis);
  const NodeRows rows(cuts, partition::kRunUnit, in_order_);
  const StoreState& from = l_.stores.get(source);
  const auto bytes = static_cast<int32_t>(from.base_itemsize);
  const std::vector<int> whole(left->begin(), left->begin() + cut);
  std::vector<int> kept;
  for (int k : chain.axes)
    if (k != axis && std::find(whole.begin(), whole.end(), k) == whole.end()) kept.push_back(k);
  Dims shape{rows.count()};
  for (int k : kept) shape.push_back(frame_[k]);
  // Parts differ on the cut axis alone (other reduced axes are whole), or on kept axes too.
  std::vector<Cuts> grid{rows.cuts()};
  std::vector<int> order{axis};
  for (int k : kept) {
    grid.push_back(parts_.grid().cuts(k));
    order.push_back(k);
  }
  const StoreId target = l_.temporary(shape, bytes, Tiling::from_cuts(bytes, std::move(grid), node_owners(order)));

  StepBuilder step(l_.job, l_.stores, l_.counters);
  const View from_view = partition::dense_view(from.base_shape, DType::kVoid, bytes);
  const View to_view = partition::dense_view(shape, DType::kVoid, bytes);
  std::vector<int64_t> ours;
  for (int d = 0; d < l_.job.devices_per_rank(); ++d)
    for (int64_t part : parts_.parts_of(l_.job.first_device(l_.job.rank) + d)) ours.push_back(part);
  for (int64_t part : ours) {
    const Box box = parts_.part_box(part);
    StepTask task;
    task.device = parts_.owner(part);
    const auto written = rows.of(cuts.find(box.lo[axis]));
    Box in(Dims{0}, Dims{1}), out(Dims{written.lo}, Dims{written.hi});
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
    task.report = chain.report = joins_report(chain, task.device);
    task.body = [chain, whole, axis, interval, extents, extent = frame_[axis], bytes](
                    std::span<const Bound> ins, std::span<const Bound> outs, Parallel& parallel) {
      ReduceChain c = chain;
      ReduceWork work{std::vector<char>(ins[0].base, ins[0].base + count_of(extents) * bytes), extents};
      for (int k : whole) c.reduce_whole(&work, k, parallel);
      const auto place = static_cast<int>(std::find(c.axes.begin(), c.axes.end(), axis) - c.axes.begin());
      StateArray array{c.reduction, c.type, 1, work.shape[place], 1, c.weight, c.flags()};
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
  chain.nodes = rows.nodes();
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
    ReduceChain reported = chain;
    task.report = reported.report = joins_report(chain, device);
    task.body = [chain = std::move(reported), left, extents, bytes](std::span<const Bound> ins, std::span<const Bound> outs,
                                              Parallel& parallel) {
      const int64_t row = count_of(extents);
      const auto nodes = static_cast<int64_t>(chain.nodes.size());
      std::vector<char> states(ins[0].base, ins[0].base + nodes * row * bytes);
      if (nodes > 1) join_nodes(chain.joined(row), chain.nodes, chain.extent, chain.unit, states.data());
      states.resize(row * bytes);
      finish_chain(chain, left, {std::move(states), extents}, outs[0].base, parallel);
    };
    step.add(std::move(task));
  };
  if (shared) {
    for (int rank = 0; rank < l_.job.size; ++rank) add(Box::of(view.shape), l_.job.first_device(rank));
  } else {
    // Ours, and those that read nodes of ours.
    std::vector<int64_t> parts;
    auto add_all = [&](const std::vector<int64_t>& more) { parts.insert(parts.end(), more.begin(), more.end()); };
    for (int d = 0; d < l_.job.devices_per_rank(); ++d) add_all(targets.parts_of(l_.job.first_device(l_.job.rank) + d));
    for (const Instance& nodes : from.instances) {
      Box box(Dims{}, Dims{});
      for (int k : kept) {
        const auto axis = 1 + static_cast<int>(std::find(chain.axes.begin(), chain.axes.end(), k) - chain.axes.begin());
        box.lo.push_back(nodes.place.box.lo[axis]);
        box.hi.push_back(nodes.place.box.hi[axis]);
      }
      add_all(targets.parts_overlapping(box));
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    for (int64_t part : parts)
      if (const Box box = targets.part_box(part); !box.empty()) add(box, targets.owner(part));
  }
  step.issue(l_.next_tag++);
}

}  // namespace tilewise
