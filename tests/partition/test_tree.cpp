#include "partition/tree.h"

#include <gtest/gtest.h>

#include <string>

namespace tilewise::partition {
namespace {

// The tree over units [0, units) written as a bracketed text, level by level: the definition itself.
std::string whole_tree(int64_t units) {
  std::vector<std::string> level;
  for (int64_t u = 0; u < units; ++u) level.push_back(std::to_string(u));
  while (level.size() > 1) {
    std::vector<std::string> up;
    for (size_t i = 0; i < level.size(); i += 2)
      up.push_back(i + 1 < level.size() ? "(" + level[i] + "+" + level[i + 1] + ")" : level[i]);
    level = up;
  }
  return level.empty() ? "" : level[0];
}

std::string node_text(const TreeNode& node, int64_t unit) {
  std::vector<std::string> level;
  for (int64_t p = node.begin; p < node.end; p += unit) level.push_back(std::to_string(p / unit));
  while (level.size() > 1) {
    std::vector<std::string> up;
    for (size_t i = 0; i < level.size(); i += 2)
      up.push_back(i + 1 < level.size() ? "(" + level[i] + "+" + level[i + 1] + ")" : level[i]);
    level = up;
  }
  return level[0];
}

TEST(Tree, AnyTwoCutsGiveTheSameTree) {
  const int64_t unit = 4;
  for (int64_t extent = 1; extent <= 70; ++extent) {
    const int64_t units = (extent + unit - 1) / unit;
    for (int64_t a = 0; a <= units; ++a) {
      for (int64_t b = a; b <= units; ++b) {
        std::vector<TreeNode> nodes;
        const int64_t cuts[4] = {0, std::min(a * unit, extent), std::min(b * unit, extent), extent};
        for (int part = 0; part < 3; ++part) {
          if (cuts[part] == cuts[part + 1]) continue;
          for (const TreeNode& node : tree_nodes(cuts[part], cuts[part + 1], extent, unit)) nodes.push_back(node);
        }
        std::vector<std::string> text;
        for (const TreeNode& node : nodes) text.push_back(node_text(node, unit));
        for (const TreeJoin& join : tree_joins(nodes, extent, unit))
          text[join.left] = "(" + text[join.left] + "+" + text[join.right] + ")";
        ASSERT_EQ(text[0], whole_tree(units)) << extent << " " << a << " " << b;
      }
    }
  }
}

TEST(Tree, WholeAxisIsOneNode) {
  for (int64_t extent : {1, 31, 32, 33, 4096, 5000})
    EXPECT_EQ(tree_nodes(0, extent, extent, kRunUnit).size(), 1u);
  EXPECT_TRUE(tree_nodes(0, 0, 0, kRunUnit).empty());
}

}  // namespace
}  // namespace tilewise::partition
