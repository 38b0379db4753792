// What is left of a reduction once every part has its nodes: joining them, reducing further axes, and the values.
//
// Plain data that tasks take with them. States are [nodes or 1][the box's axes in order].
#pragma once

#include <memory>
#include <vector>

#include "runtime/reduce_stage.h"

namespace tilewise {

struct FpReport;  // step_builder.h

struct ReduceWork {
  std::vector<char> states;
  Dims shape;                    // by entry of ReduceChain::axes
};

struct ReduceChain {
  Reduction reduction;
  DType type;
  int64_t weight;                // positions that a state stands for once its nodes are joined
  Dims frame;                    // extents of the whole frame, by axis
  std::vector<int> axes;         // of the box in memory order, behind the node axis
  std::vector<partition::TreeNode> nodes;  // to be joined first, of an axis of
  int64_t extent = 1, unit = 1;
  std::shared_ptr<FpReport> report;  // what joins meet; null: nobody asks

  uint8_t* flags() const;
  // For joining nodes of `row` states each.
  StateArray joined(int64_t row) const { return {reduction, type, 1, row, 1, weight / extent, flags()}; }
  // Reduces the axis of the work whole.
  void reduce_whole(ReduceWork* work, int axis, Parallel& parallel);
};

// The joined states reduced over the axes that are left, then as values.
void finish_chain(ReduceChain chain, const std::vector<int>& left, ReduceWork work, char* values, Parallel& parallel);

// A reduction whose nodes are joined over all ranks.
struct ReduceEnd {
  int number = 0;                // of the reduction in its group
  ReduceChain chain;
  std::vector<int> left;         // axes to reduce after that
  uint64_t nodes = 0;            // the store of the nodes
  int axis = 0;                  // that they are of
};

}  // namespace tilewise
