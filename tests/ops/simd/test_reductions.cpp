// Reductions of the SIMD interpreter against the reference: over the innermost axis and others, every length class,
// parts of an axis, several at once, and phases; the same bits for every number of cores.
#include <gtest/gtest.h>

#include "ops/interp_ref.h"
#include "ops/interp_simd.h"
#include "ops/op_table.h"
#include "ops/opcode.h"
#include "runtime/base/error.h"
#include "tests/ops/simd/launch_maker.h"

namespace tilewise::ops {
namespace {

Reduction plain(Opcode op, uint64_t axes) { return {ReduceState::kPlain, op, axes}; }

// Reduces x (or x*x) of a dtype by several reductions at once.
Program reduce_program(DType dtype, const std::vector<Reduction>& reductions, bool square) {
  Program p;
  p.accesses = {{dtype, itemsize(dtype), false}};
  uint16_t v = p.push({kLoad, dtype, 0, kNone, kNone}, dtype);
  if (square) v = p.push({op::multiply, dtype, v, v, kNone}, dtype);
  p.reductions = reductions;
  for (uint16_t r = 0; r < reductions.size(); ++r)
    p.push({kReduce, dtype, v, r, kNone}, reduced_type(reductions[r], dtype));
  return p;
}

void compare(const TestLaunch& test, const std::string& what) {
  OddOrder one(1);
  const Outcome want = run(test, 11, &run_reference, one);
  for (const int width : {1, 2, 3, 7}) {
    OddOrder cores(width);
    const Outcome got = run(test, 11, &run_simd, cores);
    for (size_t r = 0; r < want.nodes.size(); ++r) {
      ASSERT_EQ(got.nodes[r].size(), want.nodes[r].size());
      const Reduction& red = test.program.reductions[r];
      const DType t = test.program.accesses[0].dtype;
      if (red.state == ReduceState::kPlain) {
        int64_t where = -1;
        ASSERT_TRUE(same_values(t, got.nodes[r], want.nodes[r], 0, &where)) << what << " reduction " << r << " state " << where << " width " << width;
      } else if (red.state == ReduceState::kMoments) {
        int64_t where = -1;
        ASSERT_TRUE(same_values(real_of(t), got.nodes[r], want.nodes[r], 0, &where)) << what << " moments " << r << " part " << where;
      } else {
        const int64_t size = state_bytes(red, t), at = arg_index_offset(t);
        for (size_t i = 0; i < want.nodes[r].size(); i += size)
          ASSERT_EQ(0, std::memcmp(&got.nodes[r][i + at], &want.nodes[r][i + at], 8)) << what << " arg " << r << " state " << i / size;
      }
    }
    int64_t where = -1;
    size_t k = 0;
    for (const Access& a : test.program.accesses)
      if (a.write) {
        ASSERT_TRUE(same_values(a.dtype, got.outputs[k], want.outputs[k], 0, &where)) << what << " output " << k << " element " << where;
        ++k;
      }
  }
}

class Reductions : public testing::Test {
 protected:
  static void SetUpTestSuite() { install(); }
};

// Sums over both axes and a store in one program; warnings of sums and products.
TEST_F(Reductions, OverDifferentAxes) {
  for (const Dims& extents : {Dims{70, 5}, Dims{33, 300}, Dims{100, 5000}}) {
    TestLaunch test;
    test.program = reduce_program(DType::kFloat32, {plain(op::add, 1), plain(op::add, 2), plain(op::multiply, 2), {ReduceState::kArgMax, 0, 1}}, true);
    test.program.accesses.push_back({DType::kFloat32, 4, true});
    test.program.push({kStore, DType::kFloat32, 1, 1, kNone}, DType::kFloat32);
    test.extents = extents;
    compare(test, str("both axes ", extents));
    test.flags = true;
    OddOrder one(1), three(3);
    const Outcome want = run(test, 5, &run_reference, one), got = run(test, 5, &run_simd, three);
    EXPECT_EQ(got.flags, want.flags) << extents;
  }
}

TEST_F(Reductions, OverTheInnermostAxis) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kFloat16, DType::kComplex128}) {
    std::vector<Reduction> all = {plain(op::add, 2), plain(op::multiply, 2), plain(op::maximum, 2), plain(op::minimum, 2),
                                  {ReduceState::kArgMin, 0, 2}, {ReduceState::kArgMax, 0, 2}};
    if (is_complex(dtype) || dtype == DType::kFloat32 || dtype == DType::kFloat64) all.push_back({ReduceState::kMoments, 0, 2});
    for (const bool square : {false, true})
      for (const bool corners : {false, true})
        for (const int64_t n : {1, 3, 4, 16, 31, 32, 64, 100, 127, 128, 200, 300, 1000, 4096, 5000, 13000})
          for (const int64_t rows : {1, 70}) {
            if (rows * n > 100000) continue;
            TestLaunch test;
            test.program = reduce_program(dtype, all, square);
            test.extents = {rows, n};
            test.corners = corners;
            compare(test, std::string(name(dtype)) + " rows " + std::to_string(rows) + " of " + std::to_string(n));
          }
  }
}

// Whatever fits a vector, blocks of less than one, and ties between them.
TEST_F(Reductions, PlacesInEveryRealType) {
  for (int d = 0; d < kNumericDTypes; ++d) {
    const DType dtype = static_cast<DType>(d);
    if (is_complex(dtype)) continue;
    for (const bool corners : {false, true})
      for (const int64_t n : {1, 3, 15, 16, 17, 63, 64, 65, 200, 1000, 5000, 20000})
        for (const int64_t rows : {1, 3}) {
          TestLaunch test;
          test.program = reduce_program(dtype, {{ReduceState::kArgMin, 0, 2}, {ReduceState::kArgMax, 0, 2}}, false);
          test.extents = {rows, n};
          test.corners = corners;
          compare(test, str("places of ", name(dtype), " in ", rows, " rows of ", n));
        }
  }
}

TEST_F(Reductions, OfALongAxisInPieces) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    TestLaunch test;
    test.program = reduce_program(dtype, {plain(op::add, 1), plain(op::maximum, 1), {ReduceState::kMoments, 0, 1}}, true);
    test.extents = {400001};
    test.corners = false;
    compare(test, "long axis");
    // A part of a longer axis: several nodes.
    test.begins = {4096 * 5, 4096 * 5, 4096 * 5};
    test.extents = {4096 * 90};
    test.reduced_extents = {1000003, 1000003, 1000003};
    compare(test, "part of a longer axis");
    test.extents = {1000003 - 4096 * 5};
    compare(test, "last part of a longer axis");
  }
}

TEST_F(Reductions, OverOtherAxes) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kComplex64}) {
    for (const Dims& extents : {Dims{100, 1000}, Dims{1000, 16}, Dims{33, 5}, Dims{3, 70, 40}, Dims{64, 3, 300}, Dims{2000, 7}, Dims{31, 6000}}) {
      const uint64_t axes = extents.size() == 3 && extents[0] == 3 ? 2 : 1;
      std::vector<Reduction> all = {plain(op::add, axes), plain(op::maximum, axes), {ReduceState::kArgMin, 0, axes}};
      if (!is_integer(dtype)) all.push_back({ReduceState::kMoments, 0, axes});
      TestLaunch test;
      test.program = reduce_program(dtype, all, dtype == DType::kFloat32);
      test.extents = extents;
      test.corners = dtype == DType::kFloat64;
      compare(test, str(name(dtype), " runs ", extents));
      test.layouts = {Layout::kPadded};
      compare(test, str(name(dtype), " padded runs ", extents));
    }
  }
}

// max, x - max, sum of that, quotient: the shape of softmax, without its exponential.
TEST_F(Reductions, InPhases) {
  for (const DType t : {DType::kFloat32, DType::kFloat64}) {
    for (const Dims& extents : {Dims{70, 3}, Dims{70, 16}, Dims{20, 100}, Dims{9, 300}, Dims{5, 1024}, Dims{3, 5000}, Dims{3, 9000}, Dims{20000}, Dims{2, 2, 33}}) {
      TestLaunch test;
      const uint64_t axis = uint64_t{1} << (extents.size() - 1);
      Program& p = test.program;
      p.accesses = {{t, itemsize(t), false}, {t, itemsize(t), true}, {t, itemsize(t), true}};
      p.reductions = {plain(op::maximum, axis), plain(op::add, axis)};
      const uint16_t x = p.push({kLoad, t, 0, kNone, kNone}, t);
      const uint16_t m = p.push({kReduce, t, x, 0, kNone}, t);
      const uint16_t d = p.push({op::subtract, t, x, m, kNone}, t);
      const uint16_t s = p.push({kReduce, t, d, 1, kNone}, t);
      const uint16_t q = p.push({op::divide, t, d, s, kNone}, t);
      const uint16_t r = p.push({op::subtract, t, q, x, kNone}, t);
      p.push({kStore, t, q, 1, kNone}, t);
      p.push({kStore, t, r, 2, kNone}, t);
      test.extents = extents;
      test.corners = false;
      compare(test, str("phases ", extents));
      test.layouts = {Layout::kTransposed, Layout::kPadded, Layout::kReversed};
      compare(test, str("phases over other layouts ", extents));
    }
  }
}

}  // namespace
}  // namespace tilewise::ops
