// Programs with guards: the reference gives what pieces without guards give, and the SIMD interpreter what the reference
// gives, for every layout, number of cores and instruction set, reductions and warnings included.
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

using partition::Box;

class Guards : public testing::Test {
 protected:
  static void SetUpTestSuite() { install(); }
  void TearDown() override { simd::disable_targets(0); }
};

struct Maker {
  std::mt19937& random;
  TestLaunch test;
  int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

  uint16_t access(DType t, bool write, int guard) {
    test.program.accesses.push_back({t, itemsize(t), write});
    test.layouts.push_back(static_cast<Layout>(pick(6)));
    test.broadcasts.push_back(write || pick(4) ? 0 : static_cast<uint64_t>(pick(1 << test.extents.size())));
    test.within.push_back(guard);
    return static_cast<uint16_t>(test.program.accesses.size() - 1);
  }

  // Most often all but a strip on one side, as statements on shifted views have; now and then anything, or nothing.
  Box box() {
    Box b = Box::of(test.extents);
    const int rank = test.extents.size(), kind = pick(8);
    if (kind == 0) return Box(Dims(rank, 0), Dims(rank, 0));
    for (int k = 0; k < rank; ++k) {
      if (kind < 5 && k != kind % rank) continue;
      const int64_t n = test.extents[k];
      if (kind == 5 && k + 1 < rank) continue;  // on the innermost axis only
      if (kind < 7) {
        const int64_t by = std::min<int64_t>(1 + pick(3), n);
        if (pick(2)) b.lo[k] = by;
        else b.hi[k] = n - by;
      } else {
        b.lo[k] = pick(static_cast<int>(n));
        b.hi[k] = b.lo[k] + 1 + pick(static_cast<int>(n - b.lo[k]));
      }
    }
    return b;
  }

  uint16_t push(Opcode op, DType t, uint16_t a, uint16_t b, int guard) {
    return test.program.push({op, t, a, b, kNone}, t, static_cast<uint8_t>(guard + 1));
  }

  // v = load; v[box] = v[box] (op) load, some times over; stored and reduced.
  TestLaunch make(int updates) {
    const Dims shapes[] = {{1}, {5}, {1000}, {70000}, {3, 1000}, {200, 3}, {65, 64}, {2, 3, 5}, {4, 5, 300}, {90, 700}};
    test.extents = shapes[pick(10)];
    const DType types[] = {DType::kFloat64, DType::kFloat32, DType::kInt32, DType::kInt64};
    const DType t = types[pick(4)];
    Program& p = test.program;
    p.guard_count = updates;
    uint16_t v = p.push({kLoad, t, access(t, false, -1), kNone, kNone}, t);
    const Opcode rows[] = {op::add, op::subtract, op::multiply, op::maximum};
    for (int g = 0; g < updates; ++g) {
      test.guards.push_back(box());
      const uint16_t w = p.push({kLoad, t, access(t, false, g), kNone, kNone}, t, static_cast<uint8_t>(g + 1));
      uint16_t u = push(rows[pick(4)], t, v, w, g);
      if (pick(3) == 0) {
        const uint16_t place = p.push({kIndex, DType::kInt64, static_cast<uint16_t>(pick(test.extents.size())), kNone, kNone},
                                      DType::kInt64, static_cast<uint8_t>(g + 1));
        uint16_t as = place;
        if (t != DType::kInt64)
          as = p.push({kCast, DType::kInt64, place, kNone, static_cast<uint16_t>(t)}, t, static_cast<uint8_t>(g + 1));
        u = push(op::add, t, u, as, g);
      }
      if (pick(4) == 0) p.push({kStore, t, u, access(t, true, g), kNone}, t, static_cast<uint8_t>(g + 1));
      v = p.push({kMerge, t, u, v, static_cast<uint16_t>(g)}, t);
    }
    p.push({kStore, t, v, access(t, true, -1), kNone}, t);
    if (pick(2)) {
      const uint64_t axes = uint64_t{1} << pick(test.extents.size());
      p.reductions = {{ReduceState::kPlain, op::add, axes}, {ReduceState::kPlain, op::maximum, axes}, {ReduceState::kArgMin, 0, axes}};
      for (uint16_t r = 0; r < 3; ++r)
        p.push({kReduce, t, v, r, kNone}, reduced_type(p.reductions[r], t));
    }
    verify(p);
    test.origin = Dims(test.extents.size(), pick(3));
    return test;
  }
};

// Cuts the box until every guard holds everywhere or nowhere, and runs the program without guards on each piece.
void run_in_pieces(const Launch& launch, Parallel& parallel) {
  std::vector<Box> pieces{Box::of(launch.extents)};
  for (int g = 0; g < launch.program->guard_count; ++g) {
    std::vector<Box> next;
    for (const Box& piece : pieces) {
      const Box inside = partition::intersect(piece, launch.guards[g]);
      if (!inside.empty()) next.push_back(inside);
      for (const Box& rest : inside.empty() ? std::vector<Box>{piece} : partition::subtract(piece, inside)) next.push_back(rest);
    }
    pieces = std::move(next);
  }
  for (const Box& piece : pieces) {
    uint64_t active = 0;
    for (int g = 0; g < launch.program->guard_count; ++g)
      if (launch.guards[g].contains(piece)) active |= uint64_t{1} << g;
    std::vector<uint16_t> numbers;
    const Program form = specialize(*launch.program, active, 0, &numbers);
    std::vector<Operand> operands(launch.operands, launch.operands + form.accesses.size());
    Launch one = launch;
    for (int k = 0; k < piece.rank(); ++k) {
      for (Operand& operand : operands) operand.base += piece.lo[k] * operand.strides[k];
      one.origin[k] += piece.lo[k];
    }
    std::vector<uint8_t> flags(form.code.size());
    one.program = &form;
    one.extents = piece.shape();
    one.operands = operands.data();
    one.guards = nullptr;
    one.fp_flags = launch.fp_flags ? flags.data() : nullptr;
    run_reference(one, parallel);
    for (size_t i = 0; launch.fp_flags && i < flags.size(); ++i) launch.fp_flags[numbers[i]] |= flags[i];
  }
}

// Of an argmin's states; the rest is the value and padding.
std::vector<int64_t> indices(const TestLaunch& test, size_t reduction, const Outcome& outcome) {
  const DType t = test.program.accesses[0].dtype;
  const int64_t size = state_bytes(test.program.reductions[reduction], t);
  const std::vector<char>& nodes = outcome.nodes[reduction];
  std::vector<int64_t> found(nodes.size() / size);
  for (size_t i = 0; i < found.size(); ++i) std::memcpy(&found[i], nodes.data() + i * size + arg_index_offset(t), 8);
  return found;
}

void expect_same(const TestLaunch& test, const Outcome& got, const Outcome& want, const std::string& what) {
  ASSERT_EQ(difference(test, got, want), "") << what;
  int64_t where = -1;
  for (size_t r = 0; r < got.nodes.size(); ++r) {
    if (test.program.reductions[r].state == ReduceState::kPlain) {
      ASSERT_TRUE(same_values(test.program.accesses[0].dtype, got.nodes[r], want.nodes[r], 0, &where))
          << what << ": reduction " << r << " state " << where << "\n" << print(test.program);
    } else {
      ASSERT_EQ(indices(test, r, got), indices(test, r, want)) << what << ": reduction " << r << "\n" << print(test.program);
    }
  }
}

TEST_F(Guards, TheReferenceGivesWhatPiecesGive) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Maker maker{random, {}};
    TestLaunch test = maker.make(1 + maker.pick(6));
    Program& p = test.program;
    while (p.code.back().op == kReduce) {
      p.code.pop_back();
      p.type.pop_back();
      p.guard.pop_back();
    }
    p.reductions.clear();
    test.flags = round % 2;
    OddOrder one(1);
    const unsigned seed = static_cast<unsigned>(round);
    expect_same(test, run(test, seed, &run_reference, one), run(test, seed, &run_in_pieces, one), str("round ", round));
    if (HasFatalFailure()) return;
  }
}

TEST_F(Guards, SimdGivesWhatTheReferenceGives) {
  std::mt19937 random(6);
  const std::vector<int64_t> targets = simd::available_targets();
  for (int round = 0; round < 400; ++round) {
    Maker maker{random, {}};
    TestLaunch test = maker.make(round % 50 == 0 ? 40 : 1 + maker.pick(6));
    test.flags = round % 3 == 0 && test.program.reductions.empty();
    OddOrder one(1), three(3);
    const unsigned seed = static_cast<unsigned>(round);
    const Outcome want = run(test, seed, &run_reference, one);
    for (int64_t disabled = 0, i = 0; i < static_cast<int64_t>(targets.size()); disabled |= targets[i++]) {
      simd::disable_targets(disabled);
      for (OddOrder* cores : {&one, &three}) {
        expect_same(test, run(test, seed, &run_simd, *cores), want, str("round ", round, " on ", simd::instruction_set()));
        if (HasFatalFailure()) return;
      }
    }
    simd::disable_targets(0);
  }
}

// Boxes are no part of a program: launches of one plan with boxes elsewhere.
TEST_F(Guards, OnePlanServesAllBoxes) {
  std::mt19937 random(7);
  Maker maker{random, {}};
  TestLaunch test = maker.make(2);
  OddOrder one(1);
  for (int round = 0; round < 20; ++round) {
    for (int g = 0; g < 2; ++g) test.guards[g] = maker.box();
    const unsigned seed = static_cast<unsigned>(round);
    expect_same(test, run(test, seed, &run_simd, one), run(test, seed, &run_reference, one), str("round ", round));
  }
}

}  // namespace
}  // namespace tilewise::ops
