#include "partition/box.h"

#include <gtest/gtest.h>

#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

std::vector<Box> boxes_with_empty(const Dims& shape) {
  std::vector<Box> boxes = all_boxes(shape);
  boxes.push_back(Box::nothing(shape.size()));
  return boxes;
}

TEST(Box, SetOperationsAreThoseOfPoints) {
  for (const Dims& shape : {Dims{}, Dims{5}, Dims{3, 4}, Dims{2, 3, 2}}) {
    const Box all = Box::of(shape);
    for (const Box& a : boxes_with_empty(shape))
      for (const Box& b : boxes_with_empty(shape)) {
        const Box both = intersect(a, b), around = hull(a, b);
        const std::vector<Box> slabs = subtract(a, b);
        ASSERT_LE(slabs.size(), static_cast<size_t>(std::max(1, 2 * shape.size())));
        int64_t common = 0;
        for_each_point(all, [&](const Dims& at) {
          const bool in_a = a.contains(at), in_b = b.contains(at);
          common += in_a && in_b;
          ASSERT_EQ(both.contains(at), in_a && in_b) << a << b;
          ASSERT_TRUE(around.contains(at) || !(in_a || in_b)) << a << b;
          int times = 0;
          for (const Box& slab : slabs) times += slab.contains(at);
          ASSERT_EQ(times, in_a && !in_b) << a << b << at;
        });
        ASSERT_EQ(both.count(), common);
        ASSERT_EQ(both.empty(), common == 0);
        ASSERT_EQ(overlaps(a, b), common > 0);
        ASSERT_EQ(a.contains(b), b.count() == common) << a << b;
      }
  }
}

TEST(Box, SlabsComeAxisByAxisBelowBeforeAbove) {
  const std::vector<Box> slabs = subtract(Box::of({10, 10}), Box({1, 2}, {8, 7}));
  EXPECT_EQ(slabs, (std::vector<Box>{Box({0, 0}, {1, 10}), Box({8, 0}, {10, 10}), Box({1, 0}, {8, 2}),
                                     Box({1, 7}, {8, 10})}));
}

TEST(Box, WithoutAxesIsAPointOrNothing) {
  EXPECT_EQ(Box::of({}).count(), 1);
  EXPECT_FALSE(Box::of({}).empty());
  EXPECT_TRUE(Box::nothing(0).empty());
  EXPECT_EQ(Box::nothing(0).count(), 0);
  EXPECT_TRUE(intersect(Box::of({}), Box::nothing(0)).empty());
  EXPECT_TRUE(subtract(Box::of({}), Box::of({})).empty());
}

TEST(Box, Shifts) { EXPECT_EQ(shifted(Box({1, 2}, {3, 4}), {10, -2}), Box({11, 0}, {13, 2})); }

}  // namespace
}  // namespace tilewise::partition
