// Reductions of the reference interpreter: states, how two of them combine, and the fixed tree over one axis
// (partition/tree.h) written down element by element.
#pragma once

#include <cstdint>

#include "partition/tree.h"
#include "runtime/launch.h"

namespace tilewise::ops::ref {

// into[i] = combine(into[i], from[i]) for n states over values of `dtype`; positions count the elements under each.
void combine_states(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n, int64_t into_positions,
                    int64_t from_positions, uint8_t* flags);

// One axis of values in memory: the axis reduced, seen from one place on the others.
struct Line {
  const char* first = nullptr;  // the value at position `begin`
  int64_t stride = 0;           // bytes
  int64_t begin = 0;            // position of the first value in the whole axis
  int64_t extent = 0;           // of the whole axis
  bool lanes = false;           // the axis is the innermost: lanes, not runs
};

// The state of one node of the tree over the line, written to `state`. The node's positions lie in the line.
void reduce_node(const Reduction& reduction, DType dtype, const Line& line, const partition::TreeNode& node, char* state,
                 uint8_t* flags);

// What a state gives to later instructions of the program: the value, the index, or the squared deviations.
const char* reduced_value(const Reduction& reduction, DType dtype, const char* state);

}  // namespace tilewise::ops::ref
