#include "ops/interp_ref.h"
#include "ops/interp_simd.h"
#include "ops/simd/combine.h"
#include "ops/simd/drive_rows.h"

namespace tilewise::ops {

namespace {

// The innermost axis that each reduction runs over; -1: they differ. All over the last axis: lanes.
int first_axis(const Reduction& r) { return 63 - __builtin_clzll(r.axes); }

}  // namespace

void run_simd(const Launch& launch, Parallel& parallel) {
  if (count_of(launch.extents) == 0) return;
  const simd::Plan& plan = simd::plan_for(*launch.program);
  const int last = launch.extents.size() - 1;
  bool lanes = true;
  for (const simd::PlannedReduction& p : plan.reductions)
    lanes = lanes && first_axis(plan.program.reductions[plan.steps[p.step].slot]) == last;
  if (!plan.supported || !lanes) return run_reference(launch, parallel);
  simd::drive_rows(simd::make_geometry(plan, launch, -1), parallel);
}

Interpreter simd_interpreter() { return {&run_simd, &simd::combine_simd}; }

}  // namespace tilewise::ops
