#include "comm/control/tree.h"

#include <gtest/gtest.h>

namespace tilewise::comm {

namespace {

TEST(Tree, ParentsAndChildrenAgreeAndEveryRankIsReached) {
  for (int fan_out : {1, 2, 3, 8}) {
    for (int size = 1; size <= 30; ++size) {
      int edges = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Tree tree{rank, size, fan_out};
        for (int child : tree.children()) {
          EXPECT_EQ((Tree{child, size, fan_out}.parent()), rank);
          ++edges;
        }
      }
      EXPECT_EQ(edges, size - 1);
    }
  }
}

TEST(Tree, HopsLeadFromAnyRankToAnyOther) {
  for (int fan_out : {1, 2, 3, 8}) {
    for (int from = 0; from < 30; ++from) {
      for (int to = 0; to < 30; ++to) {
        int at = from, hops = 0;
        while (at != to && hops++ < 100) at = Tree{at, 30, fan_out}.next_hop(to);
        EXPECT_LE(hops, 2 * Tree({0, 30, fan_out}).depth());
      }
    }
  }
}

TEST(Tree, ThousandsOfRanksAreFewLinksDeep) {
  EXPECT_EQ(Tree({0, 9, 8}).depth(), 1);
  EXPECT_EQ(Tree({0, 4096, 8}).depth(), 4);
}

}  // namespace

}  // namespace tilewise::comm
