// The reference interpreter: scalar programs in plain C++, instruction by instruction over one row at a time. It is the
// definition that the other interpreters are tested against, and serves where none of them does.
#pragma once

#include "runtime/launch.h"

namespace tilewise::ops {

Interpreter reference_interpreter();

void run_reference(const Launch& launch, Parallel& parallel);
void combine_reference(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n,
                       int64_t into_positions, int64_t from_positions, uint8_t* flags);

}  // namespace tilewise::ops
