#include "ops/interp_ref.h"
#include "ops/interp_simd.h"
#include "ops/simd/combine.h"
#include "ops/simd/drive_rows.h"
#include "ops/simd/drive_runs.h"

namespace tilewise::ops {

namespace {

constexpr int kNoReduction = -1, kMixed = -2;

// The axis over which the reductions' first stage runs, where it is the same for all.
int common_axis(const simd::Plan& plan) {
  int axis = kNoReduction;
  for (const simd::PlannedReduction& p : plan.reductions) {
    const uint64_t axes = plan.program.reductions[plan.steps[p.step].slot].axes;
    const int innermost = 63 - __builtin_clzll(axes);
    if (axis != kNoReduction && axis != innermost) return kMixed;
    axis = innermost;
  }
  return axis;
}

}  // namespace

void run_simd(const Launch& launch, Parallel& parallel) {
  if (count_of(launch.extents) == 0) return;
  const simd::Plan& plan = simd::plan_for(*launch.program);
  const int axis = common_axis(plan), last = launch.extents.size() - 1;
  if (!plan.supported || axis == kMixed || (plan.phases() > 1 && axis != last)) return run_reference(launch, parallel);
  if (axis < 0 || axis == last) simd::drive_rows(simd::make_geometry(plan, launch, -1), parallel);
  else simd::drive_runs(simd::make_geometry(plan, launch, axis), axis, parallel);
}

Interpreter simd_interpreter() { return {&run_simd, &simd::combine_simd}; }

}  // namespace tilewise::ops
