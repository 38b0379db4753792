#include "runtime/run_program.h"

#include <algorithm>

namespace tilewise {
namespace {

// Orders free axes by the memory order of the first output (else of the first operand), then merges neighbours that
// every operand steps over as one.
void order_axes(const std::vector<Operand>& operands, size_t leader, Dims* extents, SmallVec<int, 6>* order) {
  const Dims& lead = operands[leader].strides;
  for (int k = 0; k < extents->size(); ++k)
    if ((*extents)[k] != 1) order->push_back(k);
  std::stable_sort(order->begin(), order->end(), [&](int a, int b) {
    return std::abs(lead[a]) > std::abs(lead[b]);
  });
}

// Whether neighbouring axes are one for a guard: it is whole on the inner one, or nowhere.
bool joins_axes(const partition::Box& guard, int inner, int64_t extent) {
  return guard.empty() || (guard.lo[inner] == 0 && guard.hi[inner] == extent);
}

// The guard's box over the launch's axes: `order` cut before each axis that follows one of `kept`, and merged.
partition::Box seen_through(const partition::Box& guard, const SmallVec<int, 6>& order, const SmallVec<int, 6>& kept,
                            const Dims& extents) {
  partition::Box box(Dims(kept.size(), 0), Dims(kept.size(), 0));
  if (guard.empty()) return kept.empty() ? partition::Box::nothing(0) : box;
  int j = 0;
  int64_t lo = 0, hi = 1;
  for (int axis : order) {  // within a merged axis all but the outermost are whole
    lo = lo * extents[axis] + guard.lo[axis];
    hi = (hi - 1) * extents[axis] + guard.hi[axis];
    if (axis != kept[j]) continue;
    box.lo[j] = lo;
    box.hi[j++] = hi;
    lo = 0;
    hi = 1;
  }
  return box;
}

}  // namespace

Launch make_launch(const ProgramRun& run, std::span<const Bound> bound, LaunchParts* parts) {
  Launch launch;
  launch.program = run.program.get();
  launch.origin = run.origin;
  launch.params = run.params->data();
  if (run.report) launch.fp_watch = run.report->watch;
  launch.fp_flags = run.report ? run.report->flags.data() : nullptr;
  if (run.report) launch.fp_parts = run.report->parts();
  std::vector<Operand>& operands = parts->operands;
  operands.assign(run.program->accesses.size(), {});
  parts->reductions = run.reductions;
  parts->guards = run.guards;
  const int rank = run.extents.size();
  size_t leader = 0;
  bool have_output = false;
  for (size_t i = 0; i < bound.size(); ++i) {
    const int access = run.accesses[static_cast<int>(i)];
    if (access < 0) {
      parts->reductions[-1 - access].nodes = bound[i].base;
      continue;
    }
    operands[access] = {bound[i].base, bound[i].strides};
    if (!have_output) leader = access;
    have_output |= run.program->accesses[access].write;
  }
  for (Operand& operand : operands)
    if (!operand.base) operand.strides.resize(rank, 0);  // not used in this box

  Dims extents = run.extents;
  if (!run.fixed_axes && !bound.empty()) {
    SmallVec<int, 6> order;
    order_axes(operands, leader, &extents, &order);
    // Merge from the inside out; kept[j] is the innermost axis of each.
    SmallVec<int, 6> kept;
    Dims merged;
    for (int i = order.size() - 1; i >= 0; --i) {
      const int axis = order[i];
      bool joins = !kept.empty();
      for (const Operand& operand : operands)
        joins = joins && (!operand.base || operand.strides[axis] == operand.strides[kept.back()] * merged.back());
      for (const partition::Box& guard : run.guards) joins = joins && joins_axes(guard, order[i + 1], extents[order[i + 1]]);
      if (joins) {
        merged.back() *= extents[axis];
      } else {
        kept.push_back(axis);
        merged.push_back(extents[axis]);
      }
    }
    std::reverse(kept.begin(), kept.end());
    std::reverse(merged.begin(), merged.end());
    for (partition::Box& guard : parts->guards) guard = seen_through(guard, order, kept, extents);
    extents = merged;
    for (Operand& operand : operands) {
      Dims strides;
      for (int axis : kept) strides.push_back(operand.strides[axis]);
      operand.strides = strides;
    }
    launch.origin = Dims(extents.size(), 0);
  }
  launch.extents = extents;
  launch.operands = operands.data();
  launch.reductions = parts->reductions.data();
  launch.guards = parts->guards.data();
  return launch;
}

}  // namespace tilewise
