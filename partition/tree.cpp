#include "partition/tree.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace tilewise::partition {

std::vector<TreeNode> tree_nodes(int64_t begin, int64_t end, int64_t extent, int64_t unit) {
  TW_CHECK(begin % unit == 0 && (end % unit == 0 || end == extent) && end <= extent, begin, " ", end, " ", extent);
  std::vector<TreeNode> nodes;
  const int64_t units = (extent + unit - 1) / unit;
  const int64_t last = (end + unit - 1) / unit;
  for (int64_t u = begin / unit; u < last;) {
    // The largest node that starts at u and ends inside: a clipped last node counts as whole.
    int level = 0;
    auto width_end = [&](int k) { return std::min(((u >> k) + 1) << k, units); };
    while (u % (int64_t{2} << level) == 0 && width_end(level + 1) <= last && width_end(level) < units) ++level;
    const int64_t stop = width_end(level);
    nodes.push_back({level, u >> level, u * unit, std::min(stop * unit, extent)});
    u = stop;
  }
  return nodes;
}

std::vector<TreeJoin> tree_joins(const std::vector<TreeNode>& nodes, int64_t extent, int64_t unit) {
  struct Live {
    int entry;
    int level;
    int64_t index;
  };
  std::vector<Live> live;
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) live.push_back({i, nodes[i].level, nodes[i].index});
  std::vector<TreeJoin> joins;
  int64_t width = (extent + unit - 1) / unit;  // nodes of the current level
  for (int level = 0; live.size() > 1; ++level, width = (width + 1) / 2) {
    std::vector<Live> up;
    for (size_t i = 0; i < live.size(); ++i) {
      Live node = live[i];
      if (node.level == level) {
        if (node.index % 2 == 0 && node.index + 1 < width) {
          TW_CHECK(i + 1 < live.size() && live[i + 1].index == node.index + 1 && live[i + 1].level == level,
                   "the nodes do not cover the axis");
          joins.push_back({node.entry, live[++i].entry});
        }
        node.level = level + 1;
        node.index /= 2;
      }
      up.push_back(node);
    }
    live = std::move(up);
  }
  return joins;
}

}  // namespace tilewise::partition
