// Which instruction set the kernels use: the best that the processor has, less those that a test disables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::ops::simd {

// Name of the set in use: "AVX3", "AVX2", "SSE4", "NEON".
std::string instruction_set();
// Target bits of all sets that are compiled in and that this processor has, best first.
std::vector<int64_t> available_targets();
void set_disabled_targets(int64_t mask);

}  // namespace tilewise::ops::simd
