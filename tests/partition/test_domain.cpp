#include "partition/domain.h"

#include <gtest/gtest.h>

#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

void check_covers(const DomainPartition& domain, const Dims& frame, int devices) {
  ASSERT_EQ(domain.frame(), frame);
  int64_t points = 0, owned = 0;
  for (int64_t part = 0; part < domain.part_count(); ++part) {
    points += domain.part_box(part).count();
    ASSERT_GE(domain.owner(part), 0);
    ASSERT_LT(domain.owner(part), devices);
  }
  for (int device = 0; device < devices; ++device)
    for (int64_t part : domain.parts_of(device)) owned += domain.part_box(part).count();
  ASSERT_EQ(points, count_of(frame));
  ASSERT_EQ(owned, points);
}

TEST(DomainPartition, AnyFrameAnyKeyAnyRounding) {
  Random random(30);
  for (int round = 0; round < 20000; ++round) {
    const StoreForm form{{pick(random, 1, 7), pick(random, 1, 7)}, 8};
    const View key = random_view(random, form);
    const int devices = static_cast<int>(pick(random, 1, 5));
    const TilingPtr tiling =
        pick(random, 0, 3) == 0
            ? Tiling::replicated(form.shape, 8)
            : Tiling::from_cuts(8, {random_cuts(random, form.shape[0]), random_cuts(random, form.shape[1])},
                                Owners::cyclic(devices));
    Dims multiples(key.rank());
    for (int64_t& multiple : multiples) multiple = pick(random, 1, 3);
    const DomainPartition domain = DomainPartition::induced(key, *tiling, devices, multiples);
    check_covers(domain, key.shape, devices);
    for (int k = 0; k < key.rank(); ++k)
      for (int64_t i = 1; i < domain.grid().cuts(k).count(); ++i) {
        const int64_t at = domain.grid().cuts(k).cut(i);
        ASSERT_TRUE(at % multiples[k] == 0 || at == key.shape[k]) << key << " axis " << k << " cut " << at;
      }
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(DomainPartition, ByCountTakesTheFirstAxisLongEnough) {
  EXPECT_EQ(DomainPartition::by_count({100, 1000}, 4, 1).part_box(0), Box({0, 0}, {25, 1000}));
  EXPECT_EQ(DomainPartition::by_count({3, 1000}, 4, 1).part_box(0), Box({0, 0}, {3, 250}));
  EXPECT_EQ(DomainPartition::by_count({100, 5}, 4, 1, {32, 1}).part_box(0), Box({0, 0}, {32, 5}));
  EXPECT_EQ(DomainPartition::by_count({100, 9}, 7, 1, {32, 1}).part_box(0), Box({0, 0}, {100, 1}));
  EXPECT_EQ(DomainPartition::by_count({100}, 4, 60).part_count(), 1);
  EXPECT_EQ(DomainPartition::by_count({}, 4, 1).part_count(), 1);
  EXPECT_EQ(DomainPartition::by_count({0, 3}, 4, 1).part_count(), 1);
  EXPECT_EQ(DomainPartition::by_count({10000}, 2, 1, {4096}).part_box(1), Box({4096}, {10000}));
}

TEST(DomainPartition, FollowsTheKey) {
  const TilingPtr u = Tiling::even({400, 50}, 8, 0, 4);
  const View center = region(dense_view({400, 50}, DType::kFloat64, 8), Box({1, 1}, {399, 49}));
  const DomainPartition domain = DomainPartition::induced(center, *u, 4);
  EXPECT_EQ(domain.part_box(1), Box({99, 0}, {199, 48}));
  EXPECT_EQ(domain.owner(1), 1);
  EXPECT_EQ(domain.parts_overlapping(Box({98, 0}, {100, 1})), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(DomainPartition::induced(center, *u, 4, {32, 1}).part_box(0), Box({0, 0}, {96, 48}));
  // One device holds all that the view shows: it computes.
  const DomainPartition row = DomainPartition::induced(region(center, Box({150, 0}, {151, 48})), *u, 4);
  EXPECT_EQ(row.part_count(), 1);
  EXPECT_EQ(row.owner(0), 1);
}

}  // namespace
}  // namespace tilewise::partition
