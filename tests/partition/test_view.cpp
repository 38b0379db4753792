#include "partition/view.h"

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

std::vector<int64_t> addresses(const View& view) {
  std::vector<int64_t> list;
  for_each_point(Box::of(view.shape), [&](const Dims& at) { list.push_back(view.address(at)); });
  return list;
}

View dense(const Dims& shape) { return dense_view(shape, DType::kFloat64, 8); }

TEST(View, ReshapeExactlyWhereStridesExist) {
  Random random(11);
  int without_copy = 0, with_copy = 0;
  for (int round = 0; round < 20000; ++round) {
    const StoreForm form{{pick(random, 1, 4), pick(random, 1, 4), pick(random, 1, 4)}, 1};
    const View view = round % 2 ? random_view(random, form) : random_strides(random, form);
    if (view.count() > 200) continue;
    const std::vector<int64_t> list = addresses(view);
    for (int rank : {0, 1, 2, 3})
      for (const Dims& shape : all_shapes(rank, 1, 8)) {
        if (count_of(shape) != view.count()) continue;
        // The strides that the new shape would need, from its elements next to the first.
        View needed{shape, Dims(rank), view.offset, view.dtype, view.itemsize};
        int64_t step = 1;
        for (int k = rank - 1; k >= 0; --k) {
          if (shape[k] > 1) needed.strides[k] = list[step] - list[0];
          step *= shape[k];
        }
        const std::optional<View> got = reshape(view, shape);
        ASSERT_EQ(got.has_value(), addresses(needed) == list) << view << shape;
        if (got) {
          ASSERT_EQ(addresses(*got), list) << view << shape;
        }
        ++(got ? without_copy : with_copy);
      }
  }
  EXPECT_GT(without_copy, 1000);
  EXPECT_GT(with_copy, 1000);
}

TEST(View, ReshapeOfNothing) {
  const View empty = slice(dense({3, 4}), 1, 0, 2, 0);
  EXPECT_EQ(reshape(empty, {0, 5})->shape, (Dims{0, 5}));
  EXPECT_EQ(reshape(dense({1}), {})->rank(), 0);
  EXPECT_EQ(reshape(dense({}), {1, 1})->rank(), 2);
}

TEST(View, SlicesAndRegions) {
  const View u = dense({4, 6});
  const View s = slice(u, 1, 5, -2, 3);
  EXPECT_EQ(s.shape, (Dims{4, 3}));
  EXPECT_EQ(s.strides, (Dims{48, -16}));
  EXPECT_EQ(s.offset, 40);
  EXPECT_EQ(region(s, Box({1, 1}, {3, 3})), slice(slice(u, 0, 1, 1, 2), 1, 3, -2, 2));
  EXPECT_EQ(flip(flip(u, 0), 0), u);
  EXPECT_EQ(permute(u, {1, 0}).shape, (Dims{6, 4}));
  EXPECT_EQ(squeeze(newaxis(u, 1), 1), u);
  EXPECT_EQ(newaxis(u, 2).shape, (Dims{4, 6, 1}));
}

TEST(View, RangesAndContiguity) {
  const View u = dense({4, 6});
  EXPECT_EQ(u.range(), (Interval{0, 192}));
  EXPECT_EQ(flip(u, 0).range(), (Interval{0, 192}));
  EXPECT_TRUE(u.is_c_contiguous());
  EXPECT_FALSE(permute(u, {1, 0}).is_c_contiguous());
  EXPECT_TRUE(slice(u, 0, 1, 1, 2).is_c_contiguous());
  EXPECT_FALSE(slice(u, 1, 0, 1, 5).is_c_contiguous());
  EXPECT_TRUE(slice(u, 0, 2, 7, 1).is_c_contiguous());  // the stride of one row does not matter
  EXPECT_TRUE(slice(u, 1, 0, 3, 0).is_c_contiguous());  // nor those of nothing
  EXPECT_TRUE(dense({}).is_c_contiguous());
  EXPECT_EQ(permute(u, {1, 0}).memory_order(), (SmallVec<int, 6>{1, 0}));
  EXPECT_EQ(flip(u, 0).memory_order(), (SmallVec<int, 6>{0, 1}));
  EXPECT_EQ(broadcast_to(dense({3}), {2, 2, 3}).memory_order(), (SmallVec<int, 6>{2, 0, 1}));
}

TEST(View, Broadcasts) {
  const View column = newaxis(dense({3}), 1);
  const View wide = broadcast_to(column, {2, 3, 4});
  EXPECT_EQ(wide.strides, (Dims{0, 8, 0}));
  EXPECT_EQ(broadcast_to(dense({1}), {0}).shape, Dims{0});
  EXPECT_EQ(broadcast_to(dense({1, 3}), {1, 3}).strides, (Dims{0, 8}));
  EXPECT_THROW(broadcast_to(dense({3}), {4}), Error);
  EXPECT_THROW(broadcast_to(dense({2, 3}), {3}), Error);
  EXPECT_THROW(broadcast_to(dense({0}), {3}), Error);
}

TEST(View, DiagonalsOfAnyOffset) {
  const View u = dense({3, 4, 5});
  for (int64_t k = -6; k <= 6; ++k) {
    const View line = diagonal(u, k, 2, 0);  // first axis: 2, second: 0
    ASSERT_EQ(line.rank(), 2);
    ASSERT_EQ(line.shape[0], 4);
    const int64_t row = k < 0 ? -k : 0, column = k > 0 ? k : 0;
    ASSERT_EQ(line.shape[1], std::max<int64_t>(0, std::min(5 - row, 3 - column)));
    for (int64_t i = 0; i < line.shape[1]; ++i)
      ASSERT_EQ(line.address({2, i}), u.address({column + i, 2, row + i}));
  }
}

TEST(View, PartsOfComplexNumbers) {
  const View z = dense_view({3}, DType::kComplex64, 8);
  EXPECT_EQ(imag_part(z), (View{{3}, {8}, 4, DType::kFloat32, 4}));
  EXPECT_EQ(real_part(z), (View{{3}, {8}, 0, DType::kFloat32, 4}));
  EXPECT_EQ(real_part(dense({3})), dense({3}));
}

TEST(View, Reinterpretation) {
  const View u = dense({2, 3});
  EXPECT_EQ(reinterpret(u, DType::kInt64, 8).strides, u.strides);
  EXPECT_EQ(reinterpret(u, DType::kUInt8, 1).shape, (Dims{2, 24}));
}

TEST(View, ReinterpretationErrors) {
  const View u = dense({2, 3});
  EXPECT_THROW(reinterpret(dense({}), DType::kFloat32, 4), Error);
  EXPECT_THROW(reinterpret(permute(u, {1, 0}), DType::kFloat32, 4), Error);
  EXPECT_THROW(reinterpret(u, DType::kComplex128, 16), Error);  // 24 bytes a row
  EXPECT_THROW(reinterpret(u, DType::kVoid, 3), Error);
  EXPECT_EQ(reinterpret(dense({2, 4}), DType::kComplex128, 16).shape, (Dims{2, 2}));
  EXPECT_EQ(reinterpret(slice(u, 1, 2, -1, 1), DType::kFloat32, 4).shape,
            (Dims{2, 2}));  // one element: any stride
}

TEST(View, EqualViewsHashAlike) {
  const View a = slice(dense({4, 6}), 1, 1, 2, 2), b = slice(dense({4, 6}), 1, 1, 2, 2);
  EXPECT_EQ(a, b);
  EXPECT_EQ(hash(a), hash(b));
  EXPECT_NE(hash(a), hash(slice(dense({4, 6}), 1, 1, 2, 3)));
  EXPECT_NE(hash(a), hash(reinterpret(a, DType::kInt64, 8)));
}

TEST(View, ManyAxes) {
  const View u = dense(Dims(64, 1));
  EXPECT_EQ(broadcast_to(u, Dims(64, 1)).count(), 1);
  EXPECT_TRUE(reshape(u, {1}));
}

}  // namespace
}  // namespace tilewise::partition
