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

}  // namespace

Launch make_launch(const ProgramRun& run, std::span<const Bound> bound, std::vector<Operand>* operands,
                   std::vector<ReduceTarget>* reductions) {
  Launch launch;
  launch.program = run.program.get();
  launch.origin = run.origin;
  launch.params = run.params->data();
  if (run.report) launch.fp_watch = run.report->watch;
  launch.fp_flags = run.report ? run.report->flags.data() : nullptr;
  operands->assign(run.program->accesses.size(), {});
  *reductions = run.reductions;
  const int rank = run.extents.size();
  size_t leader = 0;
  bool have_output = false;
  for (size_t i = 0; i < bound.size(); ++i) {
    const int access = run.accesses[static_cast<int>(i)];
    if (access < 0) {
      (*reductions)[-1 - access].nodes = bound[i].base;
      continue;
    }
    (*operands)[access] = {bound[i].base, bound[i].strides};
    if (!have_output) leader = access;
    have_output |= run.program->accesses[access].write;
  }
  for (Operand& operand : *operands)
    if (!operand.base) operand.strides.resize(rank, 0);  // not used in this box

  Dims extents = run.extents;
  if (!run.fixed_axes && !bound.empty()) {
    SmallVec<int, 6> order;
    order_axes(*operands, leader, &extents, &order);
    // Merge from the inside out.
    SmallVec<int, 6> kept;
    Dims merged;
    for (int i = order.size() - 1; i >= 0; --i) {
      const int axis = order[i];
      bool joins = !kept.empty();
      for (const Operand& operand : *operands)
        joins = joins && (!operand.base || operand.strides[axis] == operand.strides[kept.back()] * merged.back());
      if (joins) {
        merged.back() *= extents[axis];
      } else {
        kept.push_back(axis);
        merged.push_back(extents[axis]);
      }
    }
    std::reverse(kept.begin(), kept.end());
    std::reverse(merged.begin(), merged.end());
    extents = merged;
    for (Operand& operand : *operands) {
      Dims strides;
      for (int axis : kept) strides.push_back(operand.strides[axis]);
      operand.strides = strides;
    }
    launch.origin = Dims(extents.size(), 0);
  }
  launch.extents = extents;
  launch.operands = operands->data();
  launch.reductions = reductions->data();
  return launch;
}

}  // namespace tilewise
