// The blocked SIMD interpreter: runs scalar programs on the processor's vector units and the device's cores.
//
// Same results as the reference interpreter, bit for bit where a row is exact; whatever the split, the alignment and the
// instruction set (rows that are not portable: within their bound). Thread-safe.
#pragma once

#include "runtime/launch.h"

namespace tilewise::ops {

void run_simd(const Launch& launch, Parallel& parallel);
Interpreter simd_interpreter();

}  // namespace tilewise::ops
