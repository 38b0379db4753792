// Tasks of a scan: the same bits from one box as from several with totals, alone as on several cores.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "ops/op_table.h"
#include "ops/opcode.h"
#include "ops/scan/kernel.h"
#include "ops/scan/plan.h"
#include "runtime/serial.h"

namespace tilewise::ops {
namespace {

class Threads final : public Parallel {
 public:
  int width() const override { return 3; }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
    for (std::thread& thread : threads) thread.join();
  }
};

Bound bound(std::vector<double>& values, int64_t first, const Dims& shape) {
  return {reinterpret_cast<char*>(values.data() + first), c_strides(shape, 8), shape};
}

std::vector<double> sample(int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = 1.0 / static_cast<double>(i % 977 + 1);
  return values;
}

TEST(ScanPart, BitsDoNotDependOnCutsOrCores) {
  install();
  const int64_t n = 9 * kScanBlock + 17, cut = 4 * kScanBlock;
  const ScanForm form{op::add, 0, true};
  std::vector<double> x = sample(n), alone(x.size()), together(x.size()), parts(x.size()), totals(4);
  SerialParallel one;
  Threads many;
  scan_part(form, DType::kFloat64, bound(x, 0, {n}), nullptr, bound(alone, 0, {n}), one);
  scan_part(form, DType::kFloat64, bound(x, 0, {n}), nullptr, bound(together, 0, {n}), many);
  scan_totals(form, DType::kFloat64, bound(x, 0, {cut}), bound(totals, 0, {4}), many);
  const Bound before = bound(totals, 0, {4});
  scan_part(form, DType::kFloat64, bound(x, 0, {cut}), nullptr, bound(parts, 0, {cut}), many);
  scan_part(form, DType::kFloat64, bound(x, cut, {n - cut}), &before, bound(parts, cut, {n - cut}), many);
  EXPECT_EQ(alone, together);
  EXPECT_EQ(alone, parts);
  double sum = 0;
  for (int64_t i = 0; i < kScanBlock; ++i) {
    sum += x[static_cast<size_t>(i)];
    ASSERT_EQ(alone[static_cast<size_t>(i)], sum);
  }
}

TEST(ScanPart, RowsAreLines) {
  install();
  const int64_t n = 2 * kScanBlock + 5, w = 300;
  std::vector<double> x = sample(n * w), rows(x.size()), line(static_cast<size_t>(n)), out(line.size());
  SerialParallel one;
  scan_part({op::add, 0, true}, DType::kFloat64, bound(x, 0, {n, w}), nullptr, bound(rows, 0, {n, w}), one);
  for (int64_t j : {int64_t{0}, int64_t{255}, int64_t{256}, w - 1}) {
    for (int64_t i = 0; i < n; ++i) line[static_cast<size_t>(i)] = x[static_cast<size_t>(i * w + j)];
    scan_part({op::add, 0, true}, DType::kFloat64, bound(line, 0, {n}), nullptr, bound(out, 0, {n}), one);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(rows[static_cast<size_t>(i * w + j)], out[static_cast<size_t>(i)]);
  }
}

}  // namespace
}  // namespace tilewise::ops
