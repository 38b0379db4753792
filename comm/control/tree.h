// The tree of the control channel: ranks numbered like a heap with `fan_out` children each.
#pragma once

#include <vector>

namespace tilewise::comm {

struct Tree {
  int rank = 0;
  int size = 1;
  int fan_out = 8;

  static int parent_of(int rank, int fan_out) { return rank == 0 ? -1 : (rank - 1) / fan_out; }
  int parent() const { return parent_of(rank, fan_out); }

  std::vector<int> children() const {
    std::vector<int> found;
    for (int i = 1; i <= fan_out && rank * fan_out + i < size; ++i) found.push_back(rank * fan_out + i);
    return found;
  }

  // The neighbour through which `to` is reached: the child above it, or else the parent.
  int next_hop(int to) const {
    for (int at = to; at > rank; at = parent_of(at, fan_out))
      if (parent_of(at, fan_out) == rank) return at;
    return parent();
  }

  // Links from the leader to the deepest rank.
  int depth() const {
    int links = 0;
    for (int at = size - 1; at > 0; at = parent_of(at, fan_out)) ++links;
    return links;
  }
};

}  // namespace tilewise::comm
