// Collective operations on host memory above point-to-point, for every transport.
//
// Every rank calls the same operations with the same tag, one operation at a time per tag; its messages travel
// under that tag, so the caller chooses tags that nothing else uses meanwhile. The calls block without burning a
// core (see Backoff) and throw Error(kRuntime) when a transfer fails. Steps: logarithmic in the number of ranks,
// all_to_all_v excepted.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/transport.h"

namespace tilewise::comm {

// Returns on no rank before all have called.
void barrier(Transport& transport, uint64_t tag);

// Copies root's buffer into every other rank's, along a binomial tree. The buffers are equally long.
void broadcast(Transport& transport, uint64_t tag, int root, BufferView data);

// Every rank's bytes on every rank, by rank; the lengths may differ and need not be known.
std::vector<std::string> all_gather(Transport& transport, uint64_t tag, std::string_view mine);

// Joins all ranks' buffers, which are equally long; every rank gets the result in its own. `combine(left, right)`
// folds `right` into `left`; `left` always comes from lower ranks than `right`, in one fixed tree: the result
// depends on the number of ranks and nothing else.
using Combine = std::function<void(BufferView left, BufferView right)>;
void all_reduce(Transport& transport, uint64_t tag, BufferView data, const Combine& combine);

// Sends sends[r] to rank r and fills receives[r] from rank r, for every r including oneself. Lengths are known on
// both sides; pairs where both are empty exchange nothing.
void all_to_all_v(Transport& transport, uint64_t tag, std::span<const BufferView> sends,
                  std::span<const BufferView> receives);

}  // namespace tilewise::comm
