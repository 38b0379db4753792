// The nodes of a reduction, joined over all ranks: every rank gets the root, in logarithmically many messages.
//
// Rank i begins with the nodes of its own part of the cut axis; parts follow each other in rank order. In the round of
// distance d it sends what it has to rank i - d and gets from rank i + d what that has, so that it then knows a run of ranks
// twice as long (Bruck's order). Nodes that have become complete are joined at once by the fixed tree, so a message holds no
// more nodes than a part can have, and the bits are those of any other order. Runs may overlap at the end: a node known
// twice has the same value.
//
// The plan is a function of the cuts and the ranks; what it costs does not depend on the number of ranks but by its logarithm.
#pragma once

#include <functional>
#include <vector>

#include "comm/transport.h"
#include "partition/box.h"
#include "runtime/reduce_stage.h"

namespace tilewise {

// How a list of nodes becomes a list of larger ones.
struct NodeMerge {
  struct Join {
    int left = 0, right = 0;                           // places in the list; the result takes the left one
    int64_t left_positions = 0, right_positions = 0;
  };
  std::vector<Join> joins;
  std::vector<int> places;  // of the new nodes
};
// `from` covers what `to` covers; nodes may occur twice in it.
NodeMerge merge_nodes(const std::vector<partition::TreeNode>& from, const std::vector<partition::TreeNode>& to, int64_t unit);

struct EverywherePlan {
  struct Round {
    int to = 0, from = 0;                              // ranks
    int64_t sent = 0, received = 0;                    // nodes
    NodeMerge merge;                                   // of ours and then those received
  };
  NodeMerge first;                                     // of the lists of this rank's devices, one after the other
  std::vector<Round> rounds;
};
// `part_of(rank)`: the positions that the rank has, possibly none; `devices`: those of our devices, in order.
EverywherePlan plan_everywhere(int rank, int size, const std::function<partition::Interval(int)>& part_of,
                               const std::vector<partition::Interval>& devices, int64_t extent, int64_t unit);

// One reduction's states: `n` of them a node.
struct EverywhereStates {
  StateArray array;                                    // its n and weight; of one position of the cut axis
  std::vector<char> states;                            // [node][n]; in the end the root's
};
// Runs the plan for several reductions at once; blocks. Throws when a transfer fails.
void run_everywhere(const EverywherePlan& plan, comm::Transport& transport, uint64_t tag, std::vector<EverywhereStates>& all);

}  // namespace tilewise
