#include "ops/simd/instruction_set.h"

#include "ops/simd/targets.h"
#include <hwy/highway.h>

namespace tilewise::ops::simd {

std::string instruction_set() {
  const std::vector<int64_t> targets = available_targets();
  return targets.empty() ? "none" : hwy::TargetName(targets.front());
}

std::vector<int64_t> available_targets() {
  std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  hwy::GetChosenTarget().DeInit();  // asking has chosen among all targets, disabled ones too: let the next call choose
  return targets;
}

void set_disabled_targets(int64_t mask) {
  hwy::DisableTargets(mask);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace tilewise::ops::simd
