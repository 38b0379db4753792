// Two operations in one pass (ops/simd/plan_pairs.h): the same bits and the same warnings as one after the other, whatever
// lies where.
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

class Pairs : public testing::Test {
 protected:
  static void SetUpTestSuite() { install(); }
  void TearDown() override { simd::disable_targets(0); }
};

constexpr Opcode kInner[] = {op::add, op::subtract, op::multiply, op::square}, kOuter[] = {op::add, op::subtract, op::multiply};

// out = outer(inner(a, b), c), or the operands of outer exchanged.
Program pair(Opcode inner, Opcode outer, bool second, DType t) {
  Program p;
  p.accesses = {{t, itemsize(t), false}, {t, itemsize(t), false}, {t, itemsize(t), false}, {t, itemsize(t), true}};
  uint16_t in[3];
  for (uint16_t k = 0; k < 3; ++k) in[k] = p.push({kLoad, t, k, kNone, kNone}, t);
  const uint16_t first = p.push({inner, t, in[0], inner == op::square ? kNone : in[1], kNone}, t);
  const uint16_t last = p.push({outer, t, second ? in[2] : first, second ? first : in[2], kNone}, t);
  p.push({kStore, t, last, 3, kNone}, t);
  return p;
}

template <class Body>
void for_all_pairs(const Body& body) {
  for (const DType t : {DType::kFloat32, DType::kFloat64})
    for (const Opcode inner : kInner)
      for (const Opcode outer : kOuter)
        for (const bool second : {false, true}) body(pair(inner, outer, second, t), t);
}

TEST_F(Pairs, GiveWhatTheReferenceGives) {
  std::mt19937 random(9);
  const std::vector<int64_t> targets = simd::available_targets();
  unsigned seed = 0;
  for_all_pairs([&](const Program& program, DType) {
    for (const Dims& extents : {Dims{1}, Dims{70}, Dims{3, 1500}, Dims{40, 7}}) {
      TestLaunch test;
      test.program = program;
      test.extents = extents;
      test.origin = Dims(extents.size(), 0);
      for (int k = 0; k < 4; ++k) {
        test.layouts.push_back(static_cast<Layout>(random() % 6));
        test.broadcasts.push_back(k < 3 && random() % 3 == 0 ? random() % 4 : 0);
      }
      test.flags = random() % 4 != 0;
      OddOrder one(1), cores(2);
      const Outcome want = run(test, ++seed, &run_reference, one);
      for (int64_t disabled = 0, i = 0; i < static_cast<int64_t>(targets.size()); disabled |= targets[i++]) {
        simd::disable_targets(disabled);
        ASSERT_EQ(difference(test, run(test, seed, &run_simd, cores), want), "") << simd::instruction_set();
      }
      simd::disable_targets(0);
    }
  });
}

// The result over one of the operands: which operation overflowed is found though the operand is gone.
TEST_F(Pairs, MayWriteOverTheirOperands) {
  for_all_pairs([&](const Program& program, DType t) {
    constexpr int64_t kCount = 1500;
    const int size = itemsize(t);
    for (int over = 0; over < 3; ++over) {
      const auto result = [&](void (*interpreter)(const Launch&, Parallel&), bool watched) {
        std::mt19937 random(11);
        std::vector<std::vector<char>> arrays(3, std::vector<char>(kCount * size));
        for (auto& array : arrays) fill_values(array.data(), {kCount}, {size}, t, random, true);
        Operand operands[4];
        for (int k = 0; k < 4; ++k) operands[k] = {arrays[k < 3 ? k : over].data(), {size}};
        std::vector<uint8_t> flags(program.code.size());
        Launch launch;
        launch.program = &program;
        launch.extents = {kCount};
        launch.origin = {0};
        launch.operands = operands;
        if (watched) launch.fp_flags = flags.data();
        OddOrder one(1);
        interpreter(launch, one);
        return std::pair(arrays[over], flags);
      };
      for (const bool watched : {true, false}) {
        const auto want = result(&run_reference, watched), got = result(&run_simd, watched);
        int64_t where;
        ASSERT_TRUE(same_values(t, got.first, want.first, 0, &where)) << over << " element " << where << print(program);
        ASSERT_EQ(got.second, want.second) << over << print(program);
      }
    }
  });
}

}  // namespace
}  // namespace tilewise::ops
