// The fixed tree of reductions: which partial results are joined with which, as a function of the extent alone.
//
// An axis of `extent` positions is split into units of consecutive positions (4,096 on the innermost axis, 32 on
// others). Unit results are joined pairwise by index: node (level, j) joins nodes (level-1, 2j) and (level-1, 2j+1);
// where the right one does not exist the left one passes up unchanged. So the root is the same however the axis is
// cut, as long as no unit is cut. A part [begin, end) owns the maximal nodes that lie in it.
//
// Inside a unit of the innermost axis: lane l (of 128) takes positions l, l+128, l+256, ... in order; then lane l
// joins lane l+64, then l+32, ..., absent lanes being left out. Inside a unit of another axis: positions in order.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewise::partition {

inline constexpr int64_t kLaneUnit = 4096;
inline constexpr int64_t kLanes = 128;
inline constexpr int64_t kRunUnit = 32;

struct TreeNode {
  int level = 0;
  int64_t index = 0;               // among the nodes of its level
  int64_t begin = 0, end = 0;      // positions under it
  bool operator==(const TreeNode&) const = default;
};

// The maximal nodes of the tree over `extent` positions that lie inside [begin, end), in order of position. begin is a
// multiple of `unit`; end too, or the extent. A whole axis gives one node, the root; an empty one none.
std::vector<TreeNode> tree_nodes(int64_t begin, int64_t end, int64_t extent, int64_t unit);

// The order in which nodes that cover the whole axis are joined to the root: each step joins list entry `left` with
// `right` (indices into the list; the result replaces `left`).
struct TreeJoin {
  int left = 0, right = 0;
};
std::vector<TreeJoin> tree_joins(const std::vector<TreeNode>& nodes, int64_t extent, int64_t unit);

}  // namespace tilewise::partition
