// Do two views of the same store share bytes, and do they differ by a shift? What hazards and halos are decided
// on.
#pragma once

#include <optional>

#include "partition/view.h"

namespace tilewise::partition {

enum class Overlap {
  kNone,  // no byte in common
  kSame,  // the same elements at the same indices (types may differ, sizes not): safe to read and write in place
  kSome,  // anything else, and what is undecided within a bound on the work
};
Overlap overlap(const View& a, const View& b);

// The vector d such that b's element i is element i + d of a's lattice (a continued beyond its shape). For views
// of the same dtype whose strides agree on axes longer than 1; nothing if there is none (or if none is found,
// which takes strides that no slices of a dense store have). Where several vectors fit, the one by which the two
// overlap, else the shortest. d is 0 on axes that do not move.
std::optional<Dims> lattice_shift(const View& a, const View& b);

}  // namespace tilewise::partition
