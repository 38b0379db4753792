// Floating-point warnings: NumPy's errstate for the runtime, and what it found for Python.
//
// The runtime asks watched() for each record, keeps the conditions that are not ignored, and knows of them when the work
// has run. They become warnings at the next wait. With 'raise' or 'call' in errstate every operation waits. GIL held.
#pragma once

#include <cstdint>

#include "python/bind/guard.h"

namespace tilewise::bind {

void init_fp();
// FpKind bits that errstate does not ignore at this moment.
uint8_t watched();
// Gives the warnings of finished work; throws if one is an error.
void deliver_fp();
// Waits for all work, then delivers.
void settle_fp();

extern bool fp_raises;  // errstate asks for more than warnings: as of the last watched()
// The end of an operation.
inline void after_operation() {
  if (fp_raises) [[unlikely]] settle_fp();
}

}  // namespace tilewise::bind
