// Every row and dtype, every cast: the SIMD interpreter against the reference interpreter, over layouts and lengths.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ops/interp_ref.h"
#include "ops/interp_simd.h"
#include "ops/op_table.h"
#include "ops/opcode.h"
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

// Blocks with subnormal numbers are computed another way from the second on, blocks without them plainly again.
TEST_F(Rows, SubnormalsChangeNothing) {
  const int64_t n = 20 * 1024;
  std::mt19937 random(3);
  std::vector<float> a(n), b(n), got(n);
  const auto value = [&](int64_t i, bool small) {
    const uint32_t bits = random();
    if (i / 3000 % 3 == 0) return std::bit_cast<float>((bits & 0x807fffffu) | 0x3f800000u);  // ordinary
    if (bits % 97 == 0) return bits % 2 ? std::numeric_limits<float>::infinity() : 0.0f;
    const uint32_t exponent = small ? bits >> 8 & 15 : 100 + (bits >> 8) % 60;
    return std::bit_cast<float>((bits & 0x807fffffu) | exponent << 23);
  };
  for (const Opcode op : {op::multiply, op::divide}) {
    const Program p = row_program(op, DType::kFloat32);
    for (int64_t i = 0; i < n; ++i) {
      a[i] = value(i, i % 5 != 0);
      b[i] = value(i, i % 7 == 0);
    }
    const auto address = [](std::vector<float>& v) { return Operand{reinterpret_cast<char*>(v.data()), {4}}; };
    for (const bool flags : {false, true})
      for (const bool in_place : {false, true}) {
        std::vector<float> x = a;
        const Operand operands[] = {address(x), address(b), address(in_place ? x : got)};
        std::vector<uint8_t> seen(p.code.size());
        Launch launch;
        launch.program = &p;
        launch.extents = {n};
        launch.origin = {0};
        launch.operands = operands;
        launch.fp_flags = flags ? seen.data() : nullptr;
        OddOrder one(1);
        run_simd(launch, one);
        const std::vector<float>& result = in_place ? x : got;
        for (int64_t i = 0; i < n; ++i) {
          const float want = op == op::multiply ? a[i] * b[i] : a[i] / b[i];
          if (std::isnan(want)) ASSERT_TRUE(std::isnan(result[i])) << a[i] << ", " << b[i];
          else ASSERT_EQ(std::bit_cast<uint32_t>(result[i]), std::bit_cast<uint32_t>(want)) << a[i] << ", " << b[i];
        }
        if (flags) {
          const Operand again[] = {address(a), address(b), address(got)};
          std::vector<uint8_t> want(p.code.size());
          launch.operands = again;
          launch.fp_flags = want.data();
          run_reference(launch, one);
          EXPECT_EQ(seen, want) << op_info(op).name;
        }
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
