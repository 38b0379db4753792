#include "runtime/program.h"

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/launch.h"

namespace tilewise {
namespace {

constexpr DType f32 = DType::kFloat32;
constexpr DType f64 = DType::kFloat64;

// The runtime knows rows as numbers with an OpInfo, so a few of our own will do.
enum : Opcode { add = kFirstRow, multiply, maximum, equal, where };

OpInfo make_row(std::string_view name, int arity, bool reducible) {
  OpInfo info;
  info.name = name;
  info.arity = static_cast<uint8_t>(arity);
  info.reducible = reducible;
  info.select = name == "where";
  info.loops = (1 << kNumericDTypes) - 1;
  for (int d = 0; d < kNumericDTypes; ++d) {
    info.result[d] = name == "equal" ? DType::kBool : static_cast<DType>(d);
    info.operand_b[d] = static_cast<DType>(d);
  }
  return info;
}

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    static const OpInfo rows[] = {make_row("add", 2, true), make_row("multiply", 2, true), make_row("maximum", 2, true),
                                  make_row("equal", 2, false), make_row("where", 3, false)};
    install_op_table(rows, 5);
  }
};

// out = sum(cast(a * p + index)), with the product updated inside guard 0.
Program sample() {
  Program p;
  p.accesses = {{f32, 4, false}, {f64, 8, true}};
  p.params = {f32};
  p.reductions = {{ReduceState::kPlain, add, 0b10}};
  p.guard_count = 1;
  const uint16_t a = p.push({kLoad, f32, 0}, f32);
  const uint16_t c = p.push({kParam, f32, 0}, f32);
  const uint16_t product = p.push({multiply, f32, a, c}, f32, 1);
  const uint16_t merged = p.push({kMerge, f32, product, a, 0}, f32);
  const uint16_t wide = p.push({kCast, f32, merged, kNone, static_cast<uint16_t>(f64)}, f64);
  p.push({kReduce, f64, wide, 0}, f64);
  p.push({kStore, f64, wide, 1}, f64);
  return p;
}

TEST_F(ProgramTest, PrintsOneInstructionALine) {
  verify(sample());
  EXPECT_EQ(print(sample()),
            "a0 in float32\n"
            "a1 out float64\n"
            "r0 add over axes 1\n"
            "%0 = load a0 : float32\n"
            "%1 = param p0 : float32\n"
            "[g0] %2 = multiply %0 %1 : float32\n"
            "%3 = merge g0 ? %2 : %0 : float32\n"
            "%4 = cast %3 float32 -> float64\n"
            "%5 = reduce r0 %4 : float64\n"
            "store %4 -> a1\n");
}

TEST_F(ProgramTest, SpecializeFollowsMergesAndDropsWhatIsDead) {
  const std::string head = "a0 in float32\na1 out float64\nr0 add over axes 1\n";
  const Program inside = specialize(sample(), 1);
  verify(inside);
  EXPECT_EQ(print(inside), head +
                               "%0 = load a0 : float32\n"
                               "%1 = param p0 : float32\n"
                               "%2 = multiply %0 %1 : float32\n"
                               "%3 = cast %2 float32 -> float64\n"
                               "%4 = reduce r0 %3 : float64\n"
                               "store %3 -> a1\n");
  const Program outside = specialize(sample(), 0);
  verify(outside);
  EXPECT_EQ(print(outside), head +
                                "%0 = load a0 : float32\n"
                                "%1 = cast %0 float32 -> float64\n"
                                "%2 = reduce r0 %1 : float64\n"
                                "store %1 -> a1\n");
}

TEST_F(ProgramTest, SpecializeKeepsGuardsThatHoldInPlaces) {
  Program two = sample();
  two.guard_count = 2;
  const uint16_t last = static_cast<uint16_t>(two.code.size());
  two.push({kLoad, f32, 0}, f32, 2);
  two.accesses.push_back({f32, 4, true});
  two.push({kStore, f32, last, 2}, f32, 2);
  std::vector<uint16_t> numbers;
  const Program same = specialize(two, 0, 3, &numbers);
  EXPECT_EQ(same, two);
  const Program first = specialize(two, 0, 1, &numbers);
  verify(first);
  EXPECT_EQ(first.guard_count, 2);
  EXPECT_EQ(numbers, (std::vector<uint16_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(first.guard[2], 1);
  const Program second = specialize(two, 1, 2, &numbers);
  verify(second);
  EXPECT_EQ(numbers, (std::vector<uint16_t>{0, 1, 2, 4, 5, 6, 7, 8}));  // the merge is its first side
  EXPECT_EQ(second.guard, (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 2, 2}));
}

TEST_F(ProgramTest, AGuardedStoreLeavesWithItsGuard) {
  Program p;
  p.accesses = {{f32, 4, false}, {f32, 4, true}};
  p.guard_count = 2;
  const uint16_t a = p.push({kLoad, f32, 0}, f32);
  p.push({kStore, f32, a, 1}, f32, 2);
  EXPECT_EQ(specialize(p, 0).code.size(), 0u);
  EXPECT_EQ(specialize(p, 1).code.size(), 0u);
  EXPECT_EQ(specialize(p, 2).code.size(), 2u);
}

TEST_F(ProgramTest, EqualProgramsHaveEqualKeys) {
  EXPECT_EQ(sample(), sample());
  EXPECT_EQ(sample().key(), sample().key());
  for (int change = 0; change < 6; ++change) {
    Program other = sample();
    if (change == 0) other.code[2].op = add;
    if (change == 1) other.guard[2] = 0;
    if (change == 2) other.accesses[0].write = true;
    if (change == 3) other.reductions[0].axes = 1;
    if (change == 4) other.params.push_back(f64);
    if (change == 5) other.guard_count = 2;
    EXPECT_FALSE(sample() == other) << change;
    EXPECT_NE(sample().key(), other.key()) << change;
  }
}

// Breaks the sample in one way, and expects the verifier to name it.
void expect_broken(const char* rule, void (*change)(Program&)) {
  Program p = sample();
  change(p);
  try {
    verify(p);
    ADD_FAILURE() << "accepted: " << rule;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInternal);
    EXPECT_NE(std::string(e.what()).find(rule), std::string::npos) << e.what();
  }
}

TEST_F(ProgramTest, VerifyNamesTheFirstBrokenRule) {
  expect_broken("its access does not exist", [](Program& p) { p.code[0].a = 7; });
  expect_broken("loads from an output", [](Program& p) { p.accesses[0].write = true; });
  expect_broken("stores to an input", [](Program& p) { p.accesses[1].write = false; });
  expect_broken("its parameter does not exist", [](Program& p) { p.params.clear(); });
  expect_broken("not defined before it", [](Program& p) { p.code[2].b = 3; });
  expect_broken("is float32, not float64", [](Program& p) { p.code[2].dtype = f64; });
  expect_broken("not the row's result", [](Program& p) { p.type[2] = f64; });
  expect_broken("too many operands", [](Program& p) { p.code[2].c = 0; });
  expect_broken("no row has its opcode", [](Program& p) { p.code[2].op = 255; });
  expect_broken("its guard does not exist", [](Program& p) { p.code[3].c = 1; });
  expect_broken("its guard does not exist", [](Program& p) { p.guard[2] = 9; });
  expect_broken("not the target's", [](Program& p) { p.code[4].c = 0; });
  expect_broken("reduces no axis", [](Program& p) { p.reductions[0].axes = 0; });
  expect_broken("does not reduce", [](Program& p) { p.reductions[0].op = equal; });
  expect_broken("one type and guard", [](Program& p) { p.type.pop_back(); });
}

TEST_F(ProgramTest, WhereTakesABoolAndTwoOfItsLoop) {
  Program p;
  p.accesses = {{DType::kBool, 1, false}, {f32, 4, false}, {f32, 4, true}};
  const uint16_t condition = p.push({kLoad, DType::kBool, 0}, DType::kBool);
  const uint16_t x = p.push({kLoad, f32, 1}, f32);
  const uint16_t chosen = p.push({where, f32, condition, x, x}, f32);
  p.push({kStore, f32, chosen, 2}, f32);
  EXPECT_NO_THROW(verify(p));
  p.code[2].a = x;
  EXPECT_THROW(verify(p), Error);
}

TEST_F(ProgramTest, StatesOfReductions) {
  const Reduction plain{ReduceState::kPlain, maximum, 1}, arg{ReduceState::kArgMax, 0, 1}, moments{ReduceState::kMoments, 0, 1};
  EXPECT_EQ(state_bytes(plain, DType::kFloat16), 2);
  EXPECT_EQ(state_bytes(arg, DType::kInt8), 16);
  EXPECT_EQ(state_bytes(arg, DType::kComplex128), 24);
  EXPECT_EQ(state_bytes(moments, f32), 8);
  EXPECT_EQ(state_bytes(moments, DType::kComplex64), 12);
  EXPECT_EQ(reduced_type(arg, f32), DType::kInt64);
  EXPECT_EQ(reduced_type(moments, DType::kComplex128), f64);
}

}  // namespace
}  // namespace tilewise
