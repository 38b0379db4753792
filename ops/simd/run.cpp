#include "ops/interp_ref.h"
#include "ops/interp_simd.h"
#include "ops/simd/combine.h"
#include "ops/simd/drive_rows.h"
#include "ops/simd/drive_runs.h"
#include "ops/simd/plan_parts.h"

namespace tilewise::ops {

namespace {

constexpr int kNoReduction = -1, kMixed = -2;

// The axis over which the reductions' first stage runs, where it is the same for all.
int common_axis(const simd::Plan& plan) {
  int axis = kNoReduction;
  for (const simd::PlannedReduction& p : plan.reductions) {
    const int first = simd::first_axis(plan.program.reductions[plan.steps[p.step].slot]);
    if (axis != kNoReduction && axis != first) return kMixed;
    axis = first;
  }
  return axis;
}

// In phases operands are read again in each phase that uses them: not so where an output that lies on one has been
// written in an earlier phase.
bool rereads_what_it_wrote(const Launch& launch, const simd::Plan& plan) {
  if (plan.phases() == 1) return false;
  for (const simd::Step& step : plan.steps) {
    if (step.kind != simd::StepKind::kStore) continue;
    const int phase = plan.values[step.in[0]].phase;
    for (const simd::Value& v : plan.values)
      if (v.kind == simd::ValueKind::kLoad && v.last_used >= plan.phase_begin[phase + 1] &&
          launch.operands[v.slot].base == launch.operands[step.slot].base)
        return true;
  }
  return false;
}

void run_parts(const Launch& launch, const simd::Plan& plan, Parallel& parallel) {
  std::vector<uint8_t> flags;
  for (const simd::PlanPart& part : plan.parts) {
    Launch one = launch;
    one.program = &part.program;
    const size_t here = part.number.size(), whole = launch.program->code.size();
    flags.assign(here * launch.fp_parts, 0);
    if (launch.fp_flags) one.fp_flags = flags.data();
    run_simd(one, parallel);
    for (size_t i = 0; launch.fp_flags && i < flags.size(); ++i)
      launch.fp_flags[i / here * whole + part.number[i % here]] |= flags[i];
  }
}

}  // namespace

void run_simd(const Launch& launch, Parallel& parallel) {
  if (count_of(launch.extents) == 0) return;
  const simd::Plan& plan = simd::plan_for(*launch.program);
  if (!plan.parts.empty()) return run_parts(launch, plan, parallel);
  const int axis = common_axis(plan), last = launch.extents.size() - 1;
  if (!plan.supported || axis == kMixed || (plan.phases() > 1 && axis != last) || rereads_what_it_wrote(launch, plan))
    return run_reference(launch, parallel);
  if (axis < 0 || axis == last) simd::drive_rows(simd::make_geometry(plan, launch, -1), parallel);
  else simd::drive_runs(simd::make_geometry(plan, launch, axis), axis, parallel);
}

Interpreter simd_interpreter() { return {&run_simd, &simd::combine_simd}; }

}  // namespace tilewise::ops
