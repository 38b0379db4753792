// The tasks of one part: its box is split where guards begin and end, then into what can be read in place and the rest.
#include <algorithm>

#include "runtime/lower_group.h"

namespace tilewise {

using partition::Box;
using partition::InstanceBox;
using partition::View;

// Splits at guard boxes until in every piece each guard holds everywhere or nowhere.
void GroupLowering::add_elementwise(StepBuilder& step, const Box& box, int device) {
  struct Piece {
    Box box;
    uint64_t active;
  };
  std::vector<Piece> pieces{{box, 0}};
  for (size_t g = 0; g < guards_.size(); ++g) {
    std::vector<Piece> next;
    for (const Piece& piece : pieces) {
      const Box inside = partition::intersect(piece.box, guards_[g]);
      if (inside.empty()) {
        next.push_back(piece);
        continue;
      }
      next.push_back({inside, piece.active | uint64_t{1} << g});
      for (const Box& rest : partition::subtract(piece.box, inside)) next.push_back({rest, piece.active});
    }
    pieces = std::move(next);
  }
  for (const Piece& piece : pieces) add_box(step, piece.box, piece.active, device);
}

// The largest box in which all operands that lie mostly on the device can be read in place.
Box GroupLowering::interior_of(const Box& box, const std::vector<const Input*>& used, int device) const {
  Box inner = box;
  for (const Input* in : used) {
    const StoreState& store = l_.stores.get(in->store);
    if (store.tiling->is_replicated() || in->snapshot) continue;
    Box best = Box::nothing(box.rank());
    for (int64_t tile : store.tiling->tiles_of(device)) {
      Box here = partition::interior(in->view, box, InstanceBox(store.tiling->form(), store.tiling->tile_box(tile)));
      if (!here.empty() && here.count() > best.count()) best = here;
    }
    if (best.empty() || best.count() * 2 < box.count()) continue;  // fetched whole
    // The first stage of a reduction must not be cut.
    bool cuts_reduced = false;
    for (int k = 0; k < box.rank(); ++k)
      cuts_reduced |= (reduced_axes_ >> k & 1) && (best.lo[k] != box.lo[k] || best.hi[k] != box.hi[k]);
    if (!cuts_reduced) inner = partition::intersect(inner, best);
  }
  return inner.empty() || inner.count() * 2 < box.count() ? box : inner;
}

void GroupLowering::add_box(StepBuilder& step, const Box& box, uint64_t active, int device) {
  const auto form = l_.programs.get(program_, active);
  std::vector<const Input*> used;
  for (const Instr& instr : form->code) {
    if (instr.op != kLoad) continue;
    for (const Input& in : inputs_)
      if (in.access == instr.a) used.push_back(&in);
  }
  const Box inner = everywhere_ || l_.job.devices() == 1 ? box : interior_of(box, used, device);
  add_task(step, inner, form, device);
  for (const Box& border : partition::subtract(box, inner)) add_task(step, border, form, device);
}

void GroupLowering::add_task(StepBuilder& step, const Box& box, const std::shared_ptr<const Program>& form, int device) {
  StepTask task;
  task.device = device;
  task.everywhere = everywhere_;
  ProgramRun run;
  run.program = form;
  run.params = params_;
  run.origin = box.lo;
  run.extents = box.shape();
  if (group_.watch && l_.job.rank_of(device) == l_.job.rank) {
    run.report = std::make_shared<FpReport>();
    run.report->program = form;
    run.report->flags.resize(form->code.size());
    run.report->watch = group_.watch;
    run.report->lines = group_.op_lines;
  }
  run.fixed_axes = indexed_ || !reduced_.empty();
  for (const Instr& instr : form->code) {
    if (instr.op == kLoad) {
      for (const Input& in : inputs_) {
        if (in.access != instr.a) continue;
        if (std::find(run.accesses.begin(), run.accesses.end(), in.access) != run.accesses.end()) continue;
        task.inputs.push_back({in.store, in.view, box, in.snapshot, false});
        run.accesses.push_back(in.access);
      }
    }
  }
  for (const Instr& instr : form->code) {
    if (instr.op != kStore) continue;
    for (const Output& out : outputs_) {
      if (out.access != instr.b) continue;
      task.outputs.push_back({out.store, out.view, box, false, false});
      run.accesses.push_back(out.access);
    }
  }
  task.cost = static_cast<double>(box.count()) * static_cast<double>(form->code.size());
  task.run = std::move(run);
  if (!reduced_.empty()) add_reduction_outputs(&task, box);
  if (!task.outputs.empty()) step.add(std::move(task));
}

}  // namespace tilewise
