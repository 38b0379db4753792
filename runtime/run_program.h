// From bound operands to a Launch: axes ordered and merged as the interpreters want them.
#pragma once

#include <span>
#include <vector>

#include "runtime/device.h"
#include "runtime/step.h"
#include "runtime/step_builder.h"

namespace tilewise {

// What a launch points to; must live until it has been submitted.
struct LaunchParts {
  std::vector<Operand> operands;
  std::vector<ReduceTarget> reductions;
  std::vector<partition::Box> guards;
};

// The launch of `run` over the operands (inputs first).
Launch make_launch(const ProgramRun& run, std::span<const Bound> bound, LaunchParts* parts);

}  // namespace tilewise
