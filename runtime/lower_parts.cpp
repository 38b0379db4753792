// The tasks of one part of the domain: what can be read in place, and the borders; each with the guards that cut it.
#include <algorithm>

#include "runtime/lower_group.h"

namespace tilewise {

using partition::Box;
using partition::InstanceBox;
using partition::View;

// Interpreters cut rows at guards, which pays while rows are long, or few; many short ones run faster in boxes of their
// own. A reduction's box stays whole.
bool GroupLowering::splits_at_guards(const Box& box) const {
  if (!reduced_.empty() || guards_.empty() || outputs_.empty()) return false;
  int row = -1;
  const Dims& strides = outputs_[0].view.strides;
  for (int k = 0; k < box.rank(); ++k)
    if (box.extent(k) > 1 && (row < 0 || std::abs(strides[k]) <= std::abs(strides[row]))) row = k;
  return row >= 0 && box.extent(row) < kGuardedRow && box.count() / box.extent(row) > kGuardedRows;
}

void GroupLowering::add_part(StepBuilder& step, const Box& part, int device) {
  Box box = part;
  if (reduced_.empty()) {  // only where something is written
    box = Box::nothing(part.rank());
    for (const Output& out : outputs_) box = partition::hull(box, partition::intersect(part, out.box));
    if (box.empty()) return;
  }
  const Box inner = interior_of(box, device);
  add_box(step, inner, device);
  for (const Box& border : partition::subtract(box, inner)) add_box(step, border, device);
}

// One task, or one for each piece in which every guard holds everywhere or nowhere.
void GroupLowering::add_box(StepBuilder& step, const Box& box, int device) {
  if (!splits_at_guards(box)) return add_task(step, box, device);
  std::vector<Box> pieces{box};
  for (const Box& guard : guards_) {
    std::vector<Box> next;
    for (const Box& piece : pieces) {
      const Box inside = partition::intersect(piece, guard);
      if (inside.empty()) {
        next.push_back(piece);
        continue;
      }
      next.push_back(inside);
      for (Box& rest : partition::subtract(piece, inside)) next.push_back(std::move(rest));
    }
    pieces = std::move(next);
  }
  for (const Box& piece : pieces) add_task(step, piece, device);
}

std::shared_ptr<const Program> GroupLowering::form_for(const Box& box) const {
  uint64_t active = 0, partly = 0;
  for (size_t g = 0; g < guards_.size(); ++g) {
    if (guards_[g].contains(box)) active |= uint64_t{1} << g;
    else if (partition::overlaps(guards_[g], box)) partly |= uint64_t{1} << g;
  }
  return l_.programs.get(program_, active, partly);
}

// The largest box in which all operands that lie mostly on the device can be read in place.
Box GroupLowering::interior_of(const Box& box, int device) const {
  if (everywhere_ || l_.job.devices() == 1) return box;
  const auto form = form_for(box);
  Box inner = box;
  for (const Instr& instr : form->code) {
    if (instr.op != kLoad) continue;
    const auto in = std::find_if(inputs_.begin(), inputs_.end(), [&](const Input& i) { return i.access == instr.a; });
    const StoreState& store = l_.stores.get(in->store);
    if (store.tiling->is_replicated() || in->snapshot) continue;
    const Box used = partition::intersect(box, in->box);  // read nowhere else
    Box best = Box::nothing(box.rank());
    for (int64_t tile : store.tiling->tiles_of(device)) {
      Box here = partition::interior(in->view, used, InstanceBox(store.tiling->form(), store.tiling->tile_box(tile)));
      if (!here.empty() && here.count() > best.count()) best = here;
    }
    if (best.empty() || best.count() * 2 < used.count()) continue;  // fetched whole
    // The axis of a reduction's first stage must not be cut: each task writes all of its part's nodes there.
    const int first = reduced_axes_ ? 63 - __builtin_clzll(reduced_axes_) : -1;
    if (first >= 0 && (best.lo[first] != used.lo[first] || best.hi[first] != used.hi[first])) continue;
    for (int k = 0; k < box.rank(); ++k) {
      if (best.lo[k] != used.lo[k]) inner.lo[k] = std::max(inner.lo[k], best.lo[k]);
      if (best.hi[k] != used.hi[k]) inner.hi[k] = std::min(inner.hi[k], best.hi[k]);
    }
  }
  return inner.empty() || inner.count() * 2 < box.count() ? box : inner;
}

void GroupLowering::add_task(StepBuilder& step, const Box& box, int device) {
  const auto form = form_for(box);
  StepTask task;
  task.device = device;
  task.everywhere = everywhere_;
  ProgramRun run;
  run.program = form;
  run.params = params_;
  run.origin = box.lo;
  run.extents = box.shape();
  if (form->guard_count > 0) {
    const Dims back = [&] {
      Dims by(box.rank());
      for (int k = 0; k < box.rank(); ++k) by[k] = -box.lo[k];
      return by;
    }();
    for (const Box& guard : guards_) run.guards.push_back(partition::shifted(partition::intersect(guard, box), back));
  }
  if (group_.watch && l_.job.rank_of(device) == l_.job.rank) {
    run.report = std::make_shared<FpReport>();
    run.report->program = form;
    bool moments = false;
    for (const Reduction& r : form->reductions) moments = moments || r.state == ReduceState::kMoments;
    run.report->flags.resize(form->code.size() * (moments ? kMomentParts : 1));
    run.report->watch = group_.watch;
    run.report->lines = group_.op_lines;
  }
  run.fixed_axes = indexed_ || !reduced_.empty();
  for (const Instr& instr : form->code) {
    if (instr.op == kLoad) {
      for (const Input& in : inputs_) {
        if (in.access != instr.a) continue;
        if (std::find(run.accesses.begin(), run.accesses.end(), in.access) != run.accesses.end()) continue;
        task.inputs.push_back({in.store, in.view, partition::intersect(box, in.box), in.snapshot, false});
        run.accesses.push_back(in.access);
      }
    }
  }
  for (const Instr& instr : form->code) {
    if (instr.op != kStore) continue;
    for (const Output& out : outputs_) {
      if (out.access != instr.b) continue;
      task.outputs.push_back({out.store, out.view, partition::intersect(box, out.box), false, false});
      run.accesses.push_back(out.access);
    }
  }
  task.cost = static_cast<double>(box.count()) * static_cast<double>(form->code.size());
  task.run = std::move(run);
  if (!reduced_.empty()) add_reduction_outputs(&task, box);
  if (!task.outputs.empty()) step.add(std::move(task));
}

}  // namespace tilewise
