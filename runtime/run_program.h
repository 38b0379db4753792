// From bound operands to a Launch: axes ordered and merged as the interpreters want them.
#pragma once

#include <span>
#include <vector>

#include "runtime/device.h"
#include "runtime/step.h"
#include "runtime/step_builder.h"

namespace tilewise {

// The launch of `run` over the operands (inputs first). `operands` and `reductions` receive what the launch points to and
// must live until it has been submitted.
Launch make_launch(const ProgramRun& run, std::span<const Bound> bound, std::vector<Operand>* operands,
                   std::vector<ReduceTarget>* reductions);

}  // namespace tilewise
