// Addresses for work that must go on although there is no memory: few pages, which lie there many times over.
//
// Reading and writing work and mean nothing. A rank that cannot get memory for its part of a step gives the step this, so
// that it still makes every send that others wait for; the results count as failed. Thread-safe.
#pragma once

#include <cstddef>

namespace tilewise::cpu {

// Throws Error(kMemory) where not even addresses are left.
void* map_hollow(size_t bytes);
void unmap_hollow(void* data, size_t bytes);

}  // namespace tilewise::cpu
