// How the nodes of a cut axis lie on the first axis of a temporary store: a run of rows for each interval of the cuts.
//
// Compact: one row a node, in order. In order (see Grid::owned_in_order): every interval has room for the most nodes that one
// can have and uses the first of it, so that where its rows are is computed, not summed up: cost and memory of a rank do not
// depend on the number of ranks.
#pragma once

#include <vector>

#include "partition/cuts.h"
#include "partition/tree.h"

namespace tilewise {

class NodeRows {
 public:
  NodeRows() = default;
  NodeRows(const partition::Cuts& cuts, int64_t unit, bool in_order);

  int64_t count() const;
  partition::Interval of(int64_t interval) const;
  partition::Cuts cuts() const;  // of the rows
  // All of them, compact only.
  const std::vector<partition::TreeNode>& nodes() const { return nodes_; }

 private:
  std::vector<partition::TreeNode> nodes_of(int64_t interval) const;
  partition::Cuts cut_;
  int64_t unit_ = 1;
  int64_t room_ = 0;                       // rows of an interval; 0: compact
  std::vector<partition::TreeNode> nodes_;
  std::vector<int64_t> first_;             // by interval; one more at the end
};

}  // namespace tilewise
