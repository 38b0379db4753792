// Every row and dtype, every cast: the SIMD interpreter against the reference interpreter, over layouts and lengths.
#include <gtest/gtest.h>

#include "ops/interp_ref.h"
#include "ops/interp_simd.h"
#include "ops/op_table.h"
#include "ops/simd/instruction_set.h"
#include "ops/simd/plan.h"
#include "tests/ops/simd/launch_maker.h"

namespace tilewise::ops {
namespace {

Program row_program(Opcode op, DType dtype) {
  const OpInfo& info = op_info(op);
  Program p;
  Instr in{op, dtype, kNone, kNone, kNone};
  for (int k = 0; k < info.arity; ++k) {
    const DType t = info.operand_type(k, dtype);
    p.accesses.push_back({t, itemsize(t), false});
    const uint16_t v = p.push({kLoad, t, static_cast<uint16_t>(k), kNone, kNone}, t);
    (k == 0 ? in.a : k == 1 ? in.b : in.c) = v;
  }
  const DType r = info.result_type(dtype);
  const uint16_t v = p.push(in, r);
  p.accesses.push_back({r, itemsize(r), true});
  p.push({kStore, r, v, static_cast<uint16_t>(info.arity), kNone}, r);
  return p;
}

Program cast_program(DType from, DType to) {
  Program p;
  p.accesses = {{from, itemsize(from), false}, {to, itemsize(to), true}};
  p.push({kLoad, from, 0, kNone, kNone}, from);
  p.push({kCast, from, 0, kNone, static_cast<uint16_t>(to)}, to);
  p.push({kStore, to, 1, 1, kNone}, to);
  return p;
}

class Rows : public testing::Test {
 protected:
  static void SetUpTestSuite() { install(); }

  // The same launch by both interpreters.
  void compare(const TestLaunch& test, double ulp, const std::string& what) {
    OddOrder one(1), three(3);
    const Outcome want = run(test, 7, &run_reference, one);
    const Outcome got = run(test, 7, &run_simd, three);
    int64_t where = -1;
    size_t k = 0;
    for (const Access& a : test.program.accesses) {
      if (!a.write) continue;
      ASSERT_TRUE(same_values(a.dtype, got.outputs[k], want.outputs[k], ulp, &where))
          << what << " differs at element " << where << " on " << simd::instruction_set();
      ++k;
    }
    if (test.flags) {
      ASSERT_EQ(got.flags, want.flags) << what << " raises other flags";
    }
  }

  void try_layouts(const Program& p, double ulp, bool flags, const std::string& what) {
    for (const int64_t n : {1, 3, 64, 333}) {
      TestLaunch test;
      test.program = p;
      test.extents = {n};
      test.flags = flags;
      compare(test, ulp, what + " of " + std::to_string(n));
    }
    TestLaunch test;
    test.program = p;
    test.extents = {7, 301};
    for (const Layout layout : {Layout::kOffset, Layout::kPadded, Layout::kReversed, Layout::kTransposed, Layout::kMisaligned}) {
      test.layouts.assign(p.accesses.size(), layout);
      compare(test, ulp, what + " in layout " + std::to_string(static_cast<int>(layout)));
    }
    test.extents = {50, 5};
    compare(test, ulp, what + " in short rows");
    for (uint64_t broadcast = 1; broadcast <= 3; ++broadcast) {
      test.extents = broadcast == 3 ? Dims{5, 40} : Dims{5, 400};
      test.layouts.clear();
      test.broadcasts.assign(p.accesses.size(), 0);
      test.broadcasts[0] = broadcast;
      compare(test, ulp, what + " broadcast " + std::to_string(broadcast));
    }
  }
};

TEST_F(Rows, AgreeWithTheReference) {
  for (int k = 0; k < op_count(); ++k) {
    const Opcode op = static_cast<Opcode>(kFirstRow + k);
    const Row& r = row(op);
    for (int d = 0; d < kNumericDTypes; ++d) {
      const DType dtype = static_cast<DType>(d);
      if (!r.info.has_loop(dtype)) continue;
      const bool flags = r.fp != Hardware || is_float(dtype);
      try_layouts(row_program(op, dtype), r.ulp * 2, flags,
                  std::string(r.info.name) + " " + std::string(name(dtype)));
    }
  }
}

TEST_F(Rows, CastsAgreeWithTheReference) {
  for (int from = 0; from < kNumericDTypes; ++from)
    for (int to = 0; to < kNumericDTypes; ++to)
      try_layouts(cast_program(static_cast<DType>(from), static_cast<DType>(to)), 0, true,
                  std::string(name(static_cast<DType>(from))) + " to " + std::string(name(static_cast<DType>(to))));
}

}  // namespace
}  // namespace tilewise::ops
