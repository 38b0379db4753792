#include "partition/overlap.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

std::set<int64_t> bytes_of(const View& view) {
  std::set<int64_t> bytes;
  for_each_point(Box::of(view.shape), [&](const Dims& at) {
    for (int b = 0; b < view.itemsize; ++b) bytes.insert(view.address(at) + b);
  });
  return bytes;
}

void check(const View& a, const View& b) {
  const std::set<int64_t> in_a = bytes_of(a), in_b = bytes_of(b);
  bool meet = false;
  for (int64_t byte : in_a) meet = meet || in_b.count(byte);
  bool same = meet && a.shape == b.shape && a.itemsize == b.itemsize;
  if (same)
    for_each_point(Box::of(a.shape), [&](const Dims& at) { same = same && a.address(at) == b.address(at); });
  const Overlap expected = same ? Overlap::kSame : meet ? Overlap::kSome : Overlap::kNone;
  ASSERT_EQ(overlap(a, b), expected) << a << b;
  ASSERT_EQ(overlap(b, a), expected) << b << a;
}

TEST(Overlap, AllPairsOfSlices) {
  const View line = dense_view({6}, DType::kInt32, 4);
  std::vector<View> views;
  for (const AxisSlice& s : all_slices(6)) views.push_back(slice(line, 0, s.start, s.step, s.count));
  for (const View& a : views)
    for (const View& b : views) check(a, b);
}

TEST(Overlap, RandomPairsAreExact) {
  Random random(7);
  for (int round = 0; round < 30000; ++round) {
    const StoreForm form{{pick(random, 1, 5), pick(random, 1, 5), pick(random, 1, 3)}, pick(random, 1, 4)};
    const View a = round % 2 ? random_view(random, form) : random_strides(random, form);
    const View b = round % 3 ? random_view(random, form) : random_strides(random, form);
    check(a, b);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Overlap, LargeViewsAreExactAndCheap) {
  const View u = dense_view({40000, 40000}, DType::kFloat64, 8);
  const View center = region(u, Box({1, 1}, {39999, 39999}));
  EXPECT_EQ(overlap(center, region(u, Box({0, 1}, {39998, 39999}))), Overlap::kSome);
  EXPECT_EQ(overlap(region(u, Box({0, 0}, {40000, 20000})), region(u, Box({0, 20000}, {40000, 40000}))),
            Overlap::kNone);
  const View even = slice(u, 1, 0, 2, 20000), odd = slice(u, 1, 1, 2, 20000);
  EXPECT_EQ(overlap(even, odd), Overlap::kNone);
  EXPECT_EQ(overlap(even, even), Overlap::kSame);
  EXPECT_EQ(overlap(u, permute(u, {1, 0})), Overlap::kSome);
  View complex = dense_view({1000, 1000}, DType::kComplex128, 16);
  EXPECT_EQ(overlap(real_part(complex), imag_part(complex)), Overlap::kNone);
  EXPECT_EQ(overlap(reinterpret(u, DType::kInt64, 8), u), Overlap::kSame);
}

TEST(LatticeShift, IsTheShiftOfSlices) {
  const View u = dense_view({7, 9, 8}, DType::kFloat32, 4);
  const Box inner({2, 2, 2}, {5, 7, 6});
  const View center = region(u, inner);
  for_each_point(Box({-2, -2, -2}, {3, 3, 3}), [&](const Dims& d) {
    const std::optional<Dims> shift = lattice_shift(center, region(u, shifted(inner, d)));
    ASSERT_TRUE(shift);
    ASSERT_EQ(*shift, d);
  });
}

TEST(LatticeShift, NegativeStepsAndBroadcasts) {
  const View line = dense_view({10}, DType::kFloat64, 8);
  const View down = slice(line, 0, 8, -2, 4);
  EXPECT_EQ(*lattice_shift(down, slice(line, 0, 6, -2, 4)), Dims{1});
  EXPECT_FALSE(lattice_shift(down, slice(line, 0, 7, -2, 4)));  // between its elements
  EXPECT_FALSE(lattice_shift(down, slice(line, 0, 2, 2, 4)));   // other stride
  const View wide = broadcast_to(slice(line, 0, 0, 1, 8), {5, 8});
  EXPECT_EQ(*lattice_shift(wide, broadcast_to(slice(line, 0, 2, 1, 8), {5, 8})), (Dims{0, 2}));
  EXPECT_FALSE(lattice_shift(line, reinterpret(line, DType::kInt64, 8)));
  EXPECT_EQ(*lattice_shift(line, line), Dims{0});
}

TEST(LatticeShift, RandomShiftsGiveTheAddress) {
  Random random(8);
  int found = 0, missed = 0;
  for (int round = 0; round < 20000; ++round) {
    const StoreForm form{{pick(random, 1, 6), pick(random, 1, 6)}, 2};
    const View whole = random_view(random, form);
    if (whole.empty()) continue;
    const View a = region(whole, random_box(random, whole.shape)),
               b = region(whole, random_box(random, whole.shape));
    const std::optional<Dims> shift = lattice_shift(a, b);
    missed += !shift;
    if (!shift) continue;
    int64_t distance = 0;
    for (int k = 0; k < a.rank(); ++k) distance += (*shift)[k] * a.strides[k];
    ASSERT_EQ(a.offset + distance, b.offset);
    ++found;
  }
  EXPECT_GT(found, 10000);
  EXPECT_LE(missed, found / 1000);
}

}  // namespace
}  // namespace tilewise::partition
