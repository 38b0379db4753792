// The explicit tests of rows whose warnings do not come from the hardware: a quick look at a block of results, and where
// something rare is there, the reference loop's own tests.
#pragma once

#include <cstdint>

#include "ops/simd/plan.h"

namespace tilewise::ops::simd {

// FpKind bits that the step raises for `count` elements; `call` is as it ran, its operands still in place.
uint8_t explicit_fp_flags(const Step& step, const Call& call, int64_t count, uint8_t watch);

}  // namespace tilewise::ops::simd
