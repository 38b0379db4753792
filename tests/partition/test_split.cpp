#include "partition/split.h"

#include <gtest/gtest.h>

#include "partition/halo.h"
#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

// Five views of a store cut in 3 x 3 tiles, over a domain that follows the center.
struct Stencil {
  TilingPtr tiling = Tiling::from_cuts(8, {Cuts::even(300, 3), Cuts::even(300, 3)}, Owners::cyclic(9));
  std::vector<Access> accesses;
  DomainPartition domain;

  Stencil() {
    const View u = dense_view({300, 300}, DType::kFloat64, 8);
    for (const Dims& at : {Dims{1, 1}, Dims{0, 1}, Dims{2, 1}, Dims{1, 0}, Dims{1, 2}})
      accesses.emplace_back(region(u, shifted(Box::of({298, 298}), at)), tiling);
    domain = DomainPartition::induced(accesses[0].view, *tiling, 9);
  }
};

TEST(BorderSplit, StencilInTheMiddle) {
  const Stencil s;
  BorderSplit split(s.domain, s.accesses);
  const PartBoxes& middle = split.of(4);
  EXPECT_EQ(middle.boxes,
            (std::vector<Box>{Box({100, 100}, {198, 198}), Box({99, 99}, {100, 199}), Box({198, 99}, {199, 199}),
                              Box({100, 99}, {198, 100}), Box({100, 198}, {198, 199})}));
  // Inside nothing is fetched; above, the upper neighbour, and at the corners the left and right ones.
  for (int a = 0; a < 5; ++a) EXPECT_FALSE(middle.fetched[a][0]);
  EXPECT_FALSE(middle.fetched[0][1]);
  EXPECT_TRUE(middle.fetched[1][1]);
  EXPECT_FALSE(middle.fetched[2][1]);
  EXPECT_TRUE(middle.fetched[3][3]);
  EXPECT_FALSE(middle.fetched[1][3]);
}

TEST(BorderSplit, AtTheEdgeOfTheStoreThereIsNoSlab) {
  const Stencil s;
  BorderSplit split(s.domain, s.accesses);
  EXPECT_EQ(split.of(0).boxes,
            (std::vector<Box>{Box({0, 0}, {98, 98}), Box({98, 0}, {99, 99}), Box({0, 98}, {98, 99})}));
}

TEST(BorderSplit, AnOperandFromElsewhereLeavesTheInsideToTheOthers) {
  Stencil s;
  const View u = dense_view({300, 300}, DType::kFloat64, 8);
  s.accesses.emplace_back(permute(region(u, Box({1, 1}, {299, 299})), {1, 0}), s.tiling);
  BorderSplit split(s.domain, s.accesses);
  const PartBoxes& corner = split.of(2);  // transposed, its data lies on device 6
  EXPECT_FALSE(corner.boxes[0].empty());
  for (size_t b = 0; b < corner.boxes.size(); ++b) EXPECT_TRUE(corner.fetched[5][b]);
}

TEST(BorderSplit, ReplicatedOperandsAreAtHand) {
  const std::vector<Access> accesses{{dense_view({9, 4}, DType::kFloat64, 8), Tiling::replicated({9, 4}, 8)}};
  const DomainPartition domain = DomainPartition::even({9, 4}, 0, 3);
  BorderSplit split(domain, accesses);
  EXPECT_EQ(split.of(1).boxes, (std::vector<Box>{Box({3, 0}, {6, 4})}));
  EXPECT_FALSE(split.of(1).fetched[0][0]);
}

// Boxes cover their part, and what is not fetched can be read in place.
TEST(BorderSplit, AnyGroup) {
  Random random(50);
  for (int round = 0; round < 5000; ++round) {
    const StoreForm form{{pick(random, 1, 7), pick(random, 1, 7)}, 4};
    const View first = random_view(random, form);
    if (count_of(first.shape) > 200) continue;
    std::vector<Access> accesses;
    const auto tiling = [&](const Dims& shape) {
      std::vector<Cuts> cuts;
      for (int64_t extent : shape) cuts.push_back(random_cuts(random, extent));
      return Tiling::from_cuts(4, std::move(cuts), Owners::cyclic(static_cast<int>(pick(random, 1, 4))));
    };
    accesses.emplace_back(first, tiling(form.shape));
    accesses.emplace_back(dense_view(first.shape, DType::kVoid, 4), tiling(first.shape),
                          random_box(random, first.shape));
    const DomainPartition domain = DomainPartition::induced(accesses[1].view, *accesses[1].tiling, 4);
    BorderSplit split(domain, accesses);
    for (int64_t part = 0; part < domain.part_count(); ++part) {
      const PartBoxes& boxes = split.of(part);
      const Box whole = domain.part_box(part);
      int64_t covered = 0;
      for (size_t b = 0; b < boxes.boxes.size(); ++b) {
        covered += boxes.boxes[b].count();
        ASSERT_TRUE(whole.contains(boxes.boxes[b]));
        for (size_t c = 0; c < b; ++c) ASSERT_FALSE(overlaps(boxes.boxes[b], boxes.boxes[c]));
        for (size_t a = 0; a < accesses.size(); ++a) {
          const Box region = intersect(boxes.boxes[b], accesses[a].guard);
          if (boxes.fetched[a][b] || region.empty()) continue;
          const int64_t tile = home_tile(accesses[a], intersect(whole, accesses[a].guard), domain.owner(part));
          ASSERT_GE(tile, 0);
          ASSERT_TRUE(direct(accesses[a].view, region, dense_tile(accesses[a], tile)));
        }
      }
      ASSERT_EQ(covered, whole.count());
    }
  }
}

}  // namespace
}  // namespace tilewise::partition
