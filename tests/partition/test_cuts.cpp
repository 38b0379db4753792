#include "partition/cuts.h"

#include <gtest/gtest.h>

#include "partition/arith.h"
#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

// Intervals cover the extent in order, and find() gives the one that holds a coordinate.
void check_sound(const Cuts& cuts) {
  int64_t next = 0, longest = 0;
  for (int64_t i = 0; i < cuts.count(); ++i) {
    const Interval interval = cuts.interval(i);
    ASSERT_EQ(interval.lo, next);
    ASSERT_LE(interval.lo, interval.hi);
    for (int64_t x = interval.lo; x < interval.hi; ++x) ASSERT_EQ(cuts.find(x), i) << "coordinate " << x;
    next = interval.hi;
    longest = std::max(longest, interval.size());
  }
  ASSERT_EQ(next, cuts.extent());
  ASSERT_EQ(cuts.largest(), longest);
}

TEST(Cuts, EvenIsAsEvenAsMultiplesAllow) {
  for (int64_t extent = 0; extent <= 20; ++extent)
    for (int64_t parts = 1; parts <= 9; ++parts)
      for (int64_t multiple = 1; multiple <= 4; ++multiple) {
        const Cuts cuts = Cuts::even(extent, parts, multiple);
        check_sound(cuts);
        ASSERT_EQ(cuts.count(), parts);
        const int64_t blocks = ceil_div(extent, multiple);
        for (int64_t i = 1; i < parts; ++i) ASSERT_TRUE(cuts.cut(i) % multiple == 0 || cuts.cut(i) == extent);
        ASSERT_LE(cuts.largest(), ceil_div(blocks, parts) * multiple);
      }
}

TEST(Cuts, EveryAndListed) {
  for (int64_t extent = 0; extent <= 12; ++extent) {
    for (int64_t step = 1; step <= 5; ++step) check_sound(Cuts::every(extent, step));
    if (extent <= 6)
      for (const Cuts& cuts : all_cuts(extent)) check_sound(cuts);
  }
  check_sound(Cuts::at(5, {0, 0, 3, 3, 9}));
  EXPECT_EQ(Cuts::at(5, {0, 0, 3, 3, 9}).count(), 6);
}

TEST(Cuts, ThousandsAreComputed) {
  const Cuts cuts = Cuts::even(int64_t{1} << 40, 10000).mapped(1, 1, (int64_t{1} << 40) - 2);
  EXPECT_TRUE(cuts.is_regular());
  for (int64_t i = 0; i < 10000; i += 99) {
    const Interval interval = cuts.interval(i);
    EXPECT_EQ(cuts.find(interval.lo), i);
    EXPECT_EQ(cuts.find(interval.hi - 1), i);
  }
  EXPECT_EQ(cuts.cut(1), (int64_t{1} << 40) / 10000 - 1);
}

// Element v of the new axis is old coordinate start + step * v: it must keep its interval.
void check_mapped(const Cuts& cuts, int64_t start, int64_t step, int64_t extent) {
  const Cuts mapped = cuts.mapped(start, step, extent);
  check_sound(mapped);
  ASSERT_EQ(mapped.count(), cuts.count());
  for (int64_t v = 0; v < extent; ++v) {
    const int64_t old = cuts.find(start + step * v);
    ASSERT_EQ(mapped.find(v), step > 0 ? old : cuts.count() - 1 - old)
        << "start " << start << " step " << step << " at " << v;
  }
}

TEST(Cuts, MappedKeepsEachElementsInterval) {
  Random random(5);
  for (int round = 0; round < 4000; ++round) {
    Cuts cuts = random_cuts(random, pick(random, 1, 30));
    for (int chain = 0; chain < 3; ++chain) {
      int64_t step = pick(random, 1, 4) * (pick(random, 0, 1) ? 1 : -1);
      const int64_t start = pick(random, 0, cuts.extent() - 1);
      const int64_t most = step > 0 ? (cuts.extent() - 1 - start) / step + 1 : start / -step + 1;
      const int64_t extent = pick(random, 1, most);
      check_mapped(cuts, start, step, extent);
      if (HasFatalFailure()) FAIL() << "round " << round;
      cuts = cuts.mapped(start, step, extent);
    }
  }
}

TEST(Cuts, ScaledAndRounded) {
  Random random(6);
  for (int round = 0; round < 4000; ++round) {
    const Cuts cuts = random_cuts(random, pick(random, 0, 30));
    const int64_t by = pick(random, 1, 5);
    const Cuts scaled = cuts.scaled(by);
    check_sound(scaled);
    for (int64_t i = 0; i <= cuts.count(); ++i) ASSERT_EQ(scaled.cut(i), cuts.cut(i) * by);
    const Cuts rounded = cuts.rounded(by);
    check_sound(rounded);
    for (int64_t i = 1; i < cuts.count(); ++i) {
      const int64_t at = rounded.cut(i);
      ASSERT_TRUE(at % by == 0 || at == cuts.extent());
      ASSERT_LE(std::abs(at - cuts.cut(i)), by / 2);
    }
  }
}

TEST(Cuts, CommonChainsStayComputed) {
  const Cuts cuts = Cuts::even(1000003, 7);
  EXPECT_TRUE(cuts.mapped(1, 1, 1000001).is_regular());
  EXPECT_TRUE(cuts.mapped(1000002, -1, 1000003).is_regular());
  EXPECT_TRUE(cuts.mapped(0, 2, 500002).is_regular());
  EXPECT_TRUE(cuts.mapped(5, 3, 300000).mapped(299999, -2, 150000).is_regular());
  EXPECT_TRUE(cuts.scaled(800).mapped(808, 1600, 500000).is_regular());
  EXPECT_TRUE(cuts.rounded(4096).is_regular());
}

TEST(Cuts, EqualityAndHash) {
  EXPECT_EQ(Cuts::even(10, 3), Cuts::even(10, 3));
  EXPECT_EQ(Cuts::even(10, 3).hash(1), Cuts::even(10, 3).hash(1));
  EXPECT_FALSE(Cuts::even(10, 3) == Cuts::even(10, 4));
  EXPECT_EQ(Cuts::at(10, {3}), Cuts::at(10, {3}));
  EXPECT_FALSE(Cuts::at(10, {3}) == Cuts::at(10, {4}));
}

}  // namespace
}  // namespace tilewise::partition
