#include "partition/instance.h"

#include <gtest/gtest.h>

namespace tilewise::partition {
namespace {

TEST(InstanceBox, AxesMergeWhereTheBoxSpansTheInnerOnes) {
  const StoreForm form{{6, 5, 4}, 8};
  EXPECT_EQ(InstanceBox(form, Box::of(form.shape)).levels.size(), 1);
  EXPECT_EQ(InstanceBox(form, Box({2, 0, 0}, {4, 5, 4})).levels.size(), 1);
  EXPECT_EQ(InstanceBox(form, Box({0, 1, 0}, {6, 3, 4})).levels.size(), 2);
  EXPECT_EQ(InstanceBox(form, Box({0, 0, 1}, {6, 5, 3})).levels.size(), 2);
  EXPECT_EQ(InstanceBox(form, Box({1, 1, 1}, {5, 4, 3})).levels.size(), 3);
}

TEST(InstanceBox, LevelsOfRows) {
  const InstanceBox rows({{6, 5}, 8}, Box({2, 1}, {4, 4}));
  ASSERT_EQ(rows.levels.size(), 2);
  EXPECT_EQ(rows.levels[0].unit, 40);
  EXPECT_EQ(rows.levels[0].stride, 24);
  EXPECT_EQ(rows.levels[0].origin, 2);
  EXPECT_EQ(rows.levels[1].unit, 1);
  EXPECT_EQ(rows.levels[1].lo, 8);
  EXPECT_EQ(rows.levels[1].hi, 32);
  EXPECT_EQ(rows.bytes(), 48);
}

TEST(InstanceBox, PaddedRows) {
  const InstanceBox padded({{6, 5}, 8}, Box::of({6, 5}), 64);
  EXPECT_EQ(padded.levels.size(), 2);
  EXPECT_EQ(padded.levels[0].stride, 64);
  EXPECT_EQ(padded.bytes(), 6 * 64);
}

TEST(InstanceBox, Nothing) {
  EXPECT_EQ(InstanceBox({{0, 5}, 8}, Box::of({0, 5})).bytes(), 0);
  EXPECT_EQ(InstanceBox({{}, 8}, Box::of({})).bytes(), 8);
  EXPECT_EQ(InstanceBox({{}, 8}, Box::nothing(0)).bytes(), 0);
}

}  // namespace
}  // namespace tilewise::partition
