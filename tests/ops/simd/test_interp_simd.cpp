// The SIMD interpreter as a whole: random programs over random layouts against the reference, with the same bits for
// every number of cores and every instruction set; outputs that lie on operands; no contraction of a*b + c.
#include <gtest/gtest.h>

#include "ops/interp_ref.h"
#include "ops/interp_simd.h"
#include "ops/op_table.h"
#include "ops/opcode.h"
#include "ops/simd/instruction_set.h"
#include "ops/simd/plan.h"
#include "runtime/base/error.h"
#include "tests/ops/simd/launch_maker.h"

namespace tilewise::ops {
namespace {

class InterpSimd : public testing::Test {
 protected:
  static void SetUpTestSuite() { install(); }
  void TearDown() override { simd::disable_targets(0); }
};

// A random program of exact rows over some dtypes, all its results stored or reduced.
TestLaunch random_launch(std::mt19937& random) {
  TestLaunch test;
  Program& p = test.program;
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const Dims shapes[] = {{1}, {5}, {1000}, {70000}, {3, 1000}, {200, 3}, {65, 64}, {2, 3, 5}, {4, 5, 300}, {300, 300}};
  test.extents = shapes[pick(10)];
  const int rank = test.extents.size();
  const DType types[] = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool, DType::kComplex128};
  std::vector<uint16_t> values;
  const auto access = [&](DType t, bool write) {
    p.accesses.push_back({t, itemsize(t), write});
    test.layouts.push_back(static_cast<Layout>(pick(6)));
    test.broadcasts.push_back(write || pick(3) ? 0 : static_cast<uint64_t>(pick(1 << rank)));
    return static_cast<uint16_t>(p.accesses.size() - 1);
  };
  const int loads = 1 + pick(3);
  for (int i = 0; i < loads; ++i) {
    const DType t = types[pick(7)];
    values.push_back(p.push({kLoad, t, access(t, false), kNone, kNone}, t));
  }
  test.params.push_back(Scalar::of(DType::kFloat64, 0.75));
  p.params.push_back(DType::kFloat64);
  values.push_back(p.push({kParam, DType::kFloat64, 0, kNone, kNone}, DType::kFloat64));
  values.push_back(p.push({kIndex, DType::kInt64, static_cast<uint16_t>(pick(rank)), kNone, kNone}, DType::kInt64));
  const auto as = [&](uint16_t v, DType t) {
    return p.type[v] == t ? v : p.push({kCast, p.type[v], v, kNone, static_cast<uint16_t>(t)}, t);
  };
  const Opcode rows[] = {op::add, op::subtract, op::multiply, op::maximum, op::less, op::equal, op::where, op::negative, op::absolute, op::logical_and};
  const int instructions = 1 + pick(12);
  for (int i = 0; i < instructions; ++i) {
    const Opcode op = rows[pick(10)];
    const OpInfo& info = op_info(op);
    DType t = types[pick(7)];
    while (!info.has_loop(t)) t = types[pick(7)];
    uint16_t in[3] = {kNone, kNone, kNone};
    for (int k = 0; k < info.arity; ++k) in[k] = as(values[pick(static_cast<int>(values.size()))], info.operand_type(k, t));
    values.push_back(p.push({op, t, in[0], in[1], in[2]}, info.result_type(t)));
  }
  const int stores = 1 + pick(3);
  for (int i = 0; i < stores; ++i) {
    const uint16_t v = i == 0 ? values.back() : values[pick(static_cast<int>(values.size()))];
    const uint16_t to = access(p.type[v], true);
    p.push({kStore, p.type[v], v, to, kNone}, p.type[v]);
  }
  if (pick(2)) {
    const uint64_t axes = uint64_t{1} << pick(rank);
    const uint16_t v = as(values.back(), pick(2) ? DType::kFloat64 : DType::kInt64);
    p.reductions = {{ReduceState::kPlain, op::add, axes}, {ReduceState::kPlain, op::maximum, axes}};
    for (uint16_t r = 0; r < 2; ++r) p.push({kReduce, p.type[v], v, r, kNone}, p.type[v]);
  }
  verify(p);
  return test;
}

void expect_same(const TestLaunch& test, const Outcome& got, const Outcome& want, const std::string& what) {
  ASSERT_EQ(difference(test, got, want), "") << what;
  int64_t where = -1;
  for (const Instr& in : test.program.code) {
    if (in.op != kReduce) continue;
    ASSERT_TRUE(same_values(in.dtype, got.nodes[in.b], want.nodes[in.b], 0, &where))
        << what << ": reduction " << in.b << " state " << where << "\n" << print(test.program);
  }
}

TEST_F(InterpSimd, RandomProgramsAgreeWithTheReference) {
  std::mt19937 random(3);
  const std::vector<int64_t> targets = simd::available_targets();
  for (int round = 0; round < 400; ++round) {
    TestLaunch test = random_launch(random);
    test.flags = round % 3 == 0 && test.program.reductions.empty();
    test.origin = Dims(test.extents.size(), round % 5);
    OddOrder one(1);
    const unsigned seed = static_cast<unsigned>(round);
    const Outcome want = run(test, seed, &run_reference, one);
    for (const int width : {1, 2, 7}) {
      OddOrder cores(width);
      expect_same(test, run(test, seed, &run_simd, cores), want, str("round ", round, " on ", width, " cores, ", test.extents));
    }
    int64_t disabled = 0;
    for (size_t t = 0; t + 1 < targets.size() && round % 8 == 0; ++t) {
      disabled |= targets[t];
      simd::disable_targets(disabled);
      OddOrder cores(2);
      expect_same(test, run(test, seed, &run_simd, cores), want, str("round ", round, " with ", simd::instruction_set()));
    }
    if (disabled) simd::disable_targets(0);
    if (HasFatalFailure()) return;
  }
}

// x and the output are one array: x = x * 2; then y = x_old + x_new needs the old values after the new are there.
TEST_F(InterpSimd, OutputsMayLieOnOperands) {
  for (const int64_t n : {1, 7, 64, 1000, 5000, 100000}) {
    Program p;
    const DType t = DType::kFloat32;
    p.accesses = {{t, 4, false}, {t, 4, true}, {t, 4, true}};
    const uint16_t x = p.push({kLoad, t, 0, kNone, kNone}, t);
    const uint16_t twice = p.push({op::add, t, x, x, kNone}, t);
    p.push({kStore, t, twice, 1, kNone}, t);
    const uint16_t sum = p.push({op::add, t, twice, x, kNone}, t);
    p.push({kStore, t, sum, 2, kNone}, t);
    std::vector<float> a(n), b(n);
    for (int64_t i = 0; i < n; ++i) a[i] = static_cast<float>(i);
    Operand operands[3] = {{reinterpret_cast<char*>(a.data()), {4}}, {reinterpret_cast<char*>(a.data()), {4}}, {reinterpret_cast<char*>(b.data()), {4}}};
    Launch launch;
    launch.program = &p;
    launch.extents = {n};
    launch.origin = {0};
    launch.operands = operands;
    OddOrder cores(3);
    run_simd(launch, cores);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(a[i], static_cast<float>(2 * i));
      ASSERT_EQ(b[i], static_cast<float>(i) + static_cast<float>(2 * i));
    }
  }
}

// In phases, over the operand: its old values are wanted in a later phase than the one that writes.
TEST_F(InterpSimd, OutputsMayLieOnOperandsInPhases) {
  const DType t = DType::kFloat32;
  for (const int64_t n : {5, 100, 3000, 9000}) {
    Program p;
    p.accesses = {{t, 4, false}, {t, 4, true}, {t, 4, true}};
    p.reductions = {{ReduceState::kPlain, op::maximum, 2}, {ReduceState::kPlain, op::add, 2}};
    const uint16_t x = p.push({kLoad, t, 0, kNone, kNone}, t);
    const uint16_t m = p.push({kReduce, t, x, 0, kNone}, t);
    const uint16_t d = p.push({op::subtract, t, x, m, kNone}, t);
    p.push({kStore, t, d, 1, kNone}, t);
    const uint16_t s = p.push({kReduce, t, d, 1, kNone}, t);
    const uint16_t q = p.push({op::divide, t, x, s, kNone}, t);
    p.push({kStore, t, q, 2, kNone}, t);
    std::vector<float> results[2];
    for (int which = 0; which < 2; ++which) {
      std::vector<float> a(3 * n), b(3 * n);
      for (int64_t i = 0; i < 3 * n; ++i) a[i] = static_cast<float>(i * 37 % 101);
      char *pa = reinterpret_cast<char*>(a.data()), *pb = reinterpret_cast<char*>(b.data());
      Operand operands[3] = {{pa, {4 * n, 4}}, {pa, {4 * n, 4}}, {pb, {4 * n, 4}}};
      ReduceTarget targets[2];
      Launch launch;
      launch.program = &p;
      launch.extents = {3, n};
      launch.origin = {0, 0};
      launch.operands = operands;
      launch.reductions = targets;
      OddOrder cores(2);
      (which ? run_simd : run_reference)(launch, cores);
      results[which] = a;
      results[which].insert(results[which].end(), b.begin(), b.end());
    }
    ASSERT_EQ(results[0], results[1]) << n;
  }
}

// |z| < 2 is computed without the root where that decides: the same answers and warnings on and around the circle.
TEST_F(InterpSimd, ComparesAbsoluteValues) {
  for (const DType t : {DType::kComplex64, DType::kComplex128})
    for (const Opcode comparison : {op::less, op::less_equal, op::greater, op::greater_equal})
      for (const bool flags : {false, true})
        for (const double bound : {2.0, 0.0, -1.0, 1e-300, 1e300})
          for (const int64_t n : {1, 1000}) {
            TestLaunch test;
            Program& p = test.program;
            p.accesses = {{t, itemsize(t), false}, {DType::kBool, 1, true}};
            const DType real = real_of(t);
            p.params = {real};
            test.params = {real == DType::kFloat32 ? Scalar::of(real, static_cast<float>(bound)) : Scalar::of(real, bound)};
            const uint16_t z = p.push({kLoad, t, 0, kNone, kNone}, t);
            const uint16_t r = p.push({kParam, real, 0, kNone, kNone}, real);
            const uint16_t a = p.push({op::absolute, t, z, kNone, kNone}, real);
            const uint16_t c = p.push({comparison, real, a, r, kNone}, DType::kBool);
            p.push({kStore, DType::kBool, c, 1, kNone}, DType::kBool);
            test.extents = {n};
            test.flags = flags;
            OddOrder one(1);
            for (unsigned seed = 0; seed < 20; ++seed) {
              const Outcome want = run(test, seed, &run_reference, one);
              int64_t disabled = 0;
              for (const int64_t target : simd::available_targets()) {
                simd::disable_targets(disabled);
                expect_same(test, run(test, seed, &run_simd, one), want, str("seed ", seed, " on ", simd::instruction_set()));
                disabled |= target;
              }
              simd::disable_targets(0);
            }
          }
}

// (1 + e) * (1 - e) - 1 is -e^2 when contracted, 0 when not.
TEST_F(InterpSimd, DoesNotContract) {
  const DType t = DType::kFloat64;
  Program p;
  p.accesses = {{t, 8, false}, {t, 8, false}, {t, 8, false}, {t, 8, true}};
  for (uint16_t a = 0; a < 3; ++a) p.push({kLoad, t, a, kNone, kNone}, t);
  const uint16_t product = p.push({op::multiply, t, 0, 1, kNone}, t);
  const uint16_t r = p.push({op::add, t, product, 2, kNone}, t);
  p.push({kStore, t, r, 3, kNone}, t);
  const double e = 0x1p-30;
  int64_t disabled = 0;
  for (const int64_t target : simd::available_targets()) {
    simd::disable_targets(disabled);
    std::vector<double> a(100, 1 + e), b(100, 1 - e), c(100, -1), out(100, 5);
    Operand operands[4];
    int k = 0;
    for (auto* v : {&a, &b, &c, &out}) operands[k++] = {reinterpret_cast<char*>(v->data()), {8}};
    Launch launch;
    launch.program = &p;
    launch.extents = {100};
    launch.origin = {0};
    launch.operands = operands;
    OddOrder cores(1);
    run_simd(launch, cores);
    for (const double v : out) ASSERT_EQ(v, 0.0) << simd::instruction_set();
    disabled |= target;
  }
}

}  // namespace
}  // namespace tilewise::ops
