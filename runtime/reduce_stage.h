// Later stages of a reduction: over states that an earlier stage left, dense in memory, by the fixed tree.
//
// A state array is [outer][n][inner]: n states on the axis to be reduced. Each state stands for `weight` positions of the
// axes reduced before (counts matter to kMoments alone).
#pragma once

#include <cstdint>
#include <vector>

#include "partition/tree.h"
#include "runtime/launch.h"

namespace tilewise {

struct StateArray {
  Reduction reduction;
  DType dtype = DType::kFloat64;  // of the values reduced
  int64_t outer = 1, n = 1, inner = 1;
  int64_t weight = 1;
  uint8_t* flags = nullptr;  // of what the joins meet, as an interpreter's combine; OR-ed in by several threads

  int64_t bytes() const { return state_bytes(reduction, dtype); }
};

// Joins n states, each of so many positions, to as many others.
void combine(const StateArray& in, char* into, const char* from, int64_t n, int64_t into_positions, int64_t from_positions);

// Reduces positions [begin, end) of an axis of `extent` in runs of 32, then pairwise. Writes the nodes of that range:
// [node][outer][inner]. `in` holds the positions of the range alone.
void reduce_run_axis(const StateArray& in, int64_t begin, int64_t end, int64_t extent, const char* states, char* nodes,
                     Parallel& parallel);

// Joins nodes that cover a whole axis to its root: states are [node][n], the result is left in the first n.
// The axis has `extent` positions in units of `unit`.
void join_nodes(const StateArray& in, const std::vector<partition::TreeNode>& nodes, int64_t extent, int64_t unit,
                char* states);

// Writes the values that the user sees: the value, the index, or the squared deviations.
void finish_states(const Reduction& reduction, DType dtype, const char* states, char* values, int64_t n);

}  // namespace tilewise
