// How products are split over devices: every element once, panels of bounded size, sections that depend on shapes alone.
#include "ops/matmul/plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ops/matmul/gemm.h"
#include "partition/tiling.h"

namespace tilewise::ops {
namespace {

using partition::Box;
using partition::Tiling;
using partition::TilingPtr;

// Collects the tasks of a plan and runs none.
class Collected : public CallPlan {
 public:
  explicit Collected(int devices) : devices_(devices) {}
  int devices() const override { return devices_; }
  int64_t min_tile() const override { return 1; }
  const Tiling& tiling(StoreId store) const override { return *tilings.at(store); }
  void place(StoreId store, TilingPtr tiling) override { tilings[store] = std::move(tiling); }
  StoreId temporary(const Dims&, int64_t, TilingPtr tiling) override {
    tilings[100] = std::move(tiling);
    return 100;
  }
  void add(Task task) override { steps.back().push_back(std::move(task)); }
  void next_step() override { steps.emplace_back(); }

  std::map<StoreId, TilingPtr> tilings;
  std::vector<std::vector<Task>> steps{1};

 private:
  int devices_;
};

Record product(const Dims& a, const Dims& b, const Dims& out, DType dtype) {
  Record record;
  record.kind = RecordKind::kCall;
  record.family = matmul_family();
  record.inputs = {{1, partition::dense_view(a, dtype, itemsize(dtype))},
                   {2, partition::dense_view(b, dtype, itemsize(dtype))}};
  record.outputs = {{3, partition::dense_view(out, dtype, itemsize(dtype))}};
  return record;
}

Collected planned(const Dims& a, const Dims& b, const Dims& out, DType dtype, int devices) {
  Collected plan(devices);
  const int32_t size = itemsize(dtype);
  plan.tilings[1] = partition::default_tiling(a, size, devices, 1);
  plan.tilings[2] = partition::default_tiling(b, size, devices, 1);
  family(matmul_family()).plan(product(a, b, out, dtype), plan);
  EXPECT_TRUE(plan.steps.back().empty());
  plan.steps.pop_back();
  return plan;
}

TEST(MatmulPlan, EveryElementOfTheResultOnceInEachStep) {
  for (int devices : {1, 2, 3, 7}) {
    const Collected plan = planned({50, 40}, {40, 30}, {50, 30}, DType::kFloat64, devices);
    ASSERT_EQ(plan.steps.size(), 1u);
    int64_t elements = 0;
    std::set<int> used;
    for (const Task& task : plan.steps[0]) {
      elements += task.outputs[0].region.count();
      used.insert(task.device);
      EXPECT_EQ(task.inputs[0].region.shape(), (Dims{task.outputs[0].region.extent(0), 40}));
      EXPECT_EQ(task.inputs[1].region, Box::of({40, 30}));
    }
    EXPECT_EQ(elements, 50 * 30);
    EXPECT_EQ(static_cast<int>(used.size()), devices);
  }
}

TEST(MatmulPlan, RowsLieAsTheLargerOperandLies) {
  const Collected plan = planned({700, 400}, {400, 30}, {700, 30}, DType::kFloat32, 7);
  EXPECT_EQ(plan.steps[0].size(), 7u);
  for (const Task& task : plan.steps[0]) {
    const Box rows = plan.tilings.at(1)->tile_box(task.device);
    EXPECT_EQ(task.outputs[0].region.lo[0], rows.lo[0]);
    EXPECT_EQ(task.outputs[0].region.hi[0], rows.hi[0]);
  }
}

TEST(MatmulPlan, PanelsOfTheRightOperandAreBounded) {
  const int64_t n = 40'000;
  const Collected plan = planned({n, n}, {n, n}, {n, n}, DType::kFloat64, 4);
  int64_t next = 0;
  for (const auto& step : plan.steps) {
    for (const Task& task : step) {
      const Box& panel = task.inputs[1].region;
      EXPECT_EQ(panel.lo[0], next);
      EXPECT_EQ(panel.lo[0] % kChunk, 0);
      EXPECT_LE(panel.count() * 8, std::max<int64_t>(64 << 20, n * kChunk * 8));
      EXPECT_EQ(task.inputs[0].region.lo[1], panel.lo[0]);
      EXPECT_EQ(task.inputs[0].region.hi[1], panel.hi[0]);
    }
    next = step.front().inputs[1].region.hi[0];
  }
  EXPECT_EQ(next, n);
}

TEST(MatmulPlan, LongContractionsAreCutTheSameForAnyDevices) {
  const int64_t depth = 2'000'000;
  const int64_t section = section_depth(10, 3, depth);
  ASSERT_GT(section, 0);
  EXPECT_EQ(section % kChunk, 0);
  for (int devices : {1, 2, 5}) {
    const Collected plan = planned({10, depth}, {depth, 3}, {10, 3}, DType::kFloat32, devices);
    ASSERT_EQ(plan.steps.size(), 2u);
    int64_t next = 0;
    for (const Task& task : plan.steps[0]) {
      EXPECT_EQ(task.inputs[0].region.lo[1], next);
      EXPECT_EQ(task.outputs[0].region.lo[0], next / section);
      next = task.inputs[0].region.hi[1];
    }
    EXPECT_EQ(next, depth);
    ASSERT_EQ(plan.steps[1].size(), 1u);
    EXPECT_EQ(plan.steps[1][0].inputs[0].region.count(), (depth + section - 1) / section * 30);
  }
  EXPECT_EQ(section_depth(2048, 2048, 2048), 0);
  EXPECT_EQ(section_depth(10, 3, 1000), 0);
}

TEST(MatmulPlan, StacksAndEmptyResults) {
  const Collected stack = planned({6, 4, 5}, {6, 5, 3}, {6, 4, 3}, DType::kInt64, 3);
  EXPECT_EQ(stack.steps.size(), 1u);
  const Collected nothing = planned({0, 5}, {5, 3}, {0, 3}, DType::kFloat64, 2);
  for (const auto& step : nothing.steps) EXPECT_TRUE(step.empty());
  const Collected no_depth = planned({4, 0}, {0, 3}, {4, 3}, DType::kFloat64, 2);
  int64_t elements = 0;
  for (const auto& step : no_depth.steps)
    for (const Task& task : step) elements += task.outputs[0].region.count();
  EXPECT_EQ(elements, 12);
}

}  // namespace
}  // namespace tilewise::ops
