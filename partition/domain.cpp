#include "partition/domain.h"

#include <algorithm>

#include "partition/arith.h"

namespace tilewise::partition {

DomainPartition DomainPartition::single(const Dims& frame, int device) {
  return DomainPartition(Tiling::single(frame, 1, device)->grid());
}

DomainPartition DomainPartition::even(const Dims& frame, int axis, int devices, int64_t multiple_of) {
  return DomainPartition(Tiling::even(frame, 1, axis, devices, multiple_of)->grid());
}

DomainPartition DomainPartition::by_count(const Dims& frame, int devices, int64_t min_part,
                                          const Dims& multiples) {
  const int64_t worth = std::clamp<int64_t>(count_of(frame) / std::max<int64_t>(min_part, 1), 1, devices);
  if (worth == 1 || frame.empty()) return single(frame, 0);
  const auto multiple = [&](int k) { return multiples.empty() ? 1 : std::max<int64_t>(multiples[k], 1); };
  int axis = 0;
  for (int k = 0; k < frame.size(); ++k) {
    const int64_t steps = ceil_div(frame[k], multiple(k));
    if (steps > ceil_div(frame[axis], multiple(axis))) axis = k;
    if (steps < worth) continue;
    axis = k;
    break;
  }
  return even(frame, axis, static_cast<int>(worth), multiple(axis));
}

DomainPartition DomainPartition::induced(const View& view, const Tiling& tiling, int devices,
                                         const Dims& multiples) {
  if (!tiling.is_replicated())
    if (std::optional<Grid> seen = tiling.grid().seen_through(view, tiling.base_itemsize()))
      return DomainPartition(multiples.empty() ? std::move(*seen) : seen->rounded(multiples));
  return by_count(view.shape, devices, 1, multiples);
}

}  // namespace tilewise::partition
