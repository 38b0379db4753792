// What tasks of gather and scatter do: rows copied between any layouts, positions sorted by range, rows updated in order.
#include <gtest/gtest.h>

#include <numeric>

#include "ops/gather/tasks.h"
#include "ops/op_table.h"
#include "ops/opcode.h"
#include "tests/ops/simd/launch_maker.h"

namespace tilewise::ops {
namespace {

Bound bound(TestArray& array, const Dims& shape) { return {array.base, array.strides, shape}; }
Bound list(std::vector<int64_t>& positions) {
  return {reinterpret_cast<char*>(positions.data()), {8}, {static_cast<int64_t>(positions.size())}};
}

TEST(ListedRows, AreGatheredAndPutFromAnyLayout) {
  std::mt19937 random(3);
  const Layout layouts[] = {Layout::kDense, Layout::kOffset, Layout::kPadded, Layout::kReversed, Layout::kTransposed};
  for (const Dims& rest : {Dims{}, Dims{3}, Dims{1, 4}, Dims{2, 5}})
    for (const Layout from : layouts)
      for (const Layout to : layouts) {
        Dims source{50}, result{30'000};
        for (const int64_t extent : rest) source.push_back(extent), result.push_back(extent);
        TestArray a = make_array(source, 8, from), b = make_array(result, 8, to), c = make_array(source, 8, to);
        fill_values(a.base, source, a.strides, DType::kInt64, random, false);
        std::vector<int64_t> positions(result[0]);
        for (auto& p : positions) p = 100 + static_cast<int64_t>(random() % 50);
        OddOrder cores(3);
        gather_local(bound(a, source), 100, list(positions), bound(b, result), 8, cores);
        RowUpdate update;
        update.itemsize = 8;
        const Bound values = bound(b, result);
        update_local(update, bound(c, source), 100, list(positions), &values, cores);
        for (int64_t i = 0; i < result[0]; ++i)
          for (int64_t j = 0; j < count_of(rest); ++j) {
            int64_t at = j, offset_a = (positions[i] - 100) * a.strides[0], offset_b = i * b.strides[0];
            int64_t offset_c = (positions[i] - 100) * c.strides[0];
            for (int k = rest.size() - 1; k >= 0; --k) {
              offset_a += at % rest[k] * a.strides[k + 1];
              offset_b += at % rest[k] * b.strides[k + 1];
              offset_c += at % rest[k] * c.strides[k + 1];
              at /= rest[k];
            }
            ASSERT_EQ(std::memcmp(a.base + offset_a, b.base + offset_b, 8), 0);
            ASSERT_EQ(std::memcmp(a.base + offset_a, c.base + offset_c, 8), 0);
          }
      }
}

TEST(ListedRows, AreCombinedInTheOrderOfTheList) {
  install();
  std::mt19937 random(5);
  std::vector<int64_t> positions(40'000);
  for (auto& p : positions) p = static_cast<int64_t>(random() % 7);
  std::vector<float> values(positions.size()), want(7, 0.5f), got(7, 0.5f);
  for (auto& v : values) v = static_cast<float>(random() % 1000) / 7;
  for (size_t i = 0; i < values.size(); ++i) want[positions[i]] = want[positions[i]] - values[i];
  RowUpdate update{true, op::subtract, DType::kFloat32, 4};
  const Bound by{reinterpret_cast<char*>(values.data()), {4}, {static_cast<int64_t>(values.size())}};
  OddOrder cores(3);
  update_local(update, {reinterpret_cast<char*>(got.data()), {4}, {7}}, 0, list(positions), &by, cores);
  EXPECT_EQ(got, want);
  got.assign(7, 0.5f);
  want.assign(7, 0.5f);
  for (size_t i = 0; i < values.size(); ++i) want[positions[i]] += values[i];
  update.op = op::add;
  update_local(update, {reinterpret_cast<char*>(got.data()), {4}, {7}}, 0, list(positions), &by, cores);
  EXPECT_EQ(got, want);
}

TEST(ListedRows, AreRoutedInOrder) {
  std::mt19937 random(6);
  for (const std::vector<int64_t>& cuts : {std::vector<int64_t>{0, 10}, {0, 3, 10}, {0, 1, 2, 9, 10}, {0, 4, 8, 10}}) {
    const Ranges ranges(cuts);
    std::vector<int64_t> positions(70'000);
    for (auto& p : positions) p = static_cast<int64_t>(random() % 10);
    OddOrder cores(2);
    const auto counts = count_by_range(positions.data(), positions.size(), ranges, cores);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}), static_cast<int64_t>(positions.size()));
    std::vector<int64_t> number(positions.size()), expected(ranges.count());
    route(positions.data(), positions.size(), ranges, cores, [&](int64_t begin, int64_t end, std::vector<int64_t>& next) {
      for (int64_t i = begin; i < end; ++i) number[i] = next[ranges.of(positions[i])]++;
    });
    for (size_t i = 0; i < positions.size(); ++i) {
      const int range = ranges.of(positions[i]);
      ASSERT_TRUE(cuts[range] <= positions[i] && positions[i] < cuts[range + 1]);
      ASSERT_EQ(number[i], expected[range]++);
    }
  }
}

}  // namespace
}  // namespace tilewise::ops
