#include "ops/interp_ref.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "ops/op_table.h"
#include "ops/opcode.h"
#include "partition/tree.h"

namespace tilewise::ops {
namespace {

constexpr DType f32 = DType::kFloat32;
constexpr DType f64 = DType::kFloat64;
constexpr DType i64 = DType::kInt64;

class Serial : public Parallel {
 public:
  int width() const override { return 1; }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    for (int64_t i = 0; i < count; ++i) body(i);
  }
};

class Reference : public testing::Test {
 protected:
  void SetUp() override { install(); }

  // Runs over a box at `origin`; operands in the order of the accesses.
  void run(const Dims& extents, std::vector<Operand> operands, std::vector<Scalar> params = {}, Dims origin = {},
           std::vector<ReduceTarget> targets = {}) {
    verify(program);
    if (origin.empty()) origin.resize(extents.size());
    flags.assign(program.code.size(), 0);
    Launch launch{&program, extents, origin, operands.data(), guards.data(), params.data(), targets.data(), flags.data()};
    Serial serial;
    run_reference(launch, serial);
  }

  uint16_t load(DType type) {
    program.accesses.push_back({type, itemsize(type), false});
    return program.push({kLoad, type, static_cast<uint16_t>(program.accesses.size() - 1)}, type);
  }
  void store(uint16_t value) {
    const DType type = program.type[value];
    program.accesses.push_back({type, itemsize(type), true});
    program.push({kStore, type, value, static_cast<uint16_t>(program.accesses.size() - 1)}, type);
  }
  uint16_t apply(Opcode op, uint16_t a, uint16_t b = kNone) {
    const DType loop = program.type[a];
    return program.push({op, loop, a, b}, op_info(op).result_type(loop));
  }
  uint16_t reduce(Reduction reduction, uint16_t value) {
    program.reductions.push_back(reduction);
    const DType type = program.type[value];
    return program.push({kReduce, type, value, static_cast<uint16_t>(program.reductions.size() - 1)},
                        reduced_type(reduction, type));
  }

  Program program;
  std::vector<uint8_t> flags;
  std::vector<partition::Box> guards;
};

template <class T>
Operand at(const T* data, Dims strides) {
  return {reinterpret_cast<char*>(const_cast<T*>(data)), std::move(strides)};
}

std::vector<float> random_floats(int64_t n) {
  std::mt19937 engine(5);
  std::normal_distribution<float> normal(3, 2);
  std::vector<float> values(n);
  for (float& v : values) v = normal(engine);
  return values;
}

TEST_F(Reference, ReadsStridedReversedAndBroadcastOperands) {
  const uint16_t a = load(f32), b = load(f32);
  store(apply(op::subtract, a, b));
  std::vector<float> x(24), y{100, 200, 300}, out(6, -1);
  std::iota(x.begin(), x.end(), 0.0f);
  // x[0:4:2, ::-2] of a 4 by 6 array, minus a row stretched over both.
  run({2, 3}, {at(&x[5], {2 * 6 * 4, -8}), at(y.data(), {0, 4}), at(out.data(), {12, 4})});
  EXPECT_EQ(out, (std::vector<float>{5 - 100, 3 - 200, 1 - 300, 17 - 100, 15 - 200, 13 - 300}));
}

TEST_F(Reference, WritesOverItsOperand) {
  const uint16_t a = load(i64);
  store(apply(op::square, a));
  std::vector<int64_t> x{1, -2, 3};
  run({3}, {at(x.data(), {8}), at(x.data(), {8})});
  EXPECT_EQ(x, (std::vector<int64_t>{1, 4, 9}));
}

TEST_F(Reference, IndexCountsFromTheFramesOrigin) {
  const uint16_t rows = program.push({kIndex, i64, 0}, i64), columns = program.push({kIndex, i64, 1}, i64);
  program.params = {i64};
  const uint16_t ten = program.push({kParam, i64, 0}, i64);
  store(apply(op::add, apply(op::multiply, rows, ten), columns));
  std::vector<int64_t> out(4);
  run({2, 2}, {at(out.data(), {16, 8})}, {Scalar::of(i64, int64_t{10})}, {3, 5});
  EXPECT_EQ(out, (std::vector<int64_t>{35, 36, 45, 46}));
}

TEST_F(Reference, AZeroDimensionalBoxIsOneElement) {
  const uint16_t a = load(f64);
  store(program.push({kCast, f64, a, kNone, static_cast<uint16_t>(DType::kInt8)}, DType::kInt8));
  const double x = 300;
  int8_t out = 0;
  run({}, {at(&x, {}), at(&out, {})});
  EXPECT_EQ(out, 44);
}

TEST_F(Reference, AnEmptyBoxTouchesNothing) {
  const uint16_t a = load(f64);
  store(apply(op::negative, a));
  run({3, 0}, {{}, {}});
}

TEST_F(Reference, MovesBytesOfAnySize) {
  program.accesses = {{DType::kVoid, 3, false}, {DType::kVoid, 3, true}};
  const uint16_t v = program.push({kLoad, DType::kVoid, 0}, DType::kVoid);
  program.push({kStore, DType::kVoid, v, 1}, DType::kVoid);
  const std::string x = "abcdefghi";
  std::string out = "---------";
  run({3}, {at(x.data(), {3}), at(out.data() + 6, {-3})});
  EXPECT_EQ(out, "ghidefabc");
}

TEST_F(Reference, FlagsAreKeptForEachInstruction) {
  const uint16_t a = load(f32), b = load(f32);
  const uint16_t quotient = apply(op::divide, a, b), root = apply(op::sqrt, a), power = apply(op::exp, a);
  store(apply(op::add, apply(op::add, quotient, root), power));
  const std::vector<float> x{-1, 200}, y{0, 1};
  std::vector<float> out(2);
  run({2}, {at(x.data(), {4}), at(y.data(), {4}), at(out.data(), {4})});
  EXPECT_EQ(flags[quotient], kFpDivide);
  EXPECT_EQ(flags[root], kFpInvalid);
  EXPECT_EQ(flags[power], kFpOverflow);
  EXPECT_EQ(flags[a], 0);
}

// ---- Reductions -----------------------------------------------------------------------------------------------

// The definition of the tree once more, by another way: values of one unit put into lanes, lanes folded, units paired.
float sum_by_tree(std::vector<float> values) {
  std::vector<float> level;
  for (size_t begin = 0; begin < values.size(); begin += 4096) {
    const size_t end = std::min(values.size(), begin + 4096);
    std::vector<float> lanes(values.begin() + begin, values.begin() + std::min(end, begin + 128));
    for (size_t p = begin + 128; p < end; ++p) lanes[(p - begin) % 128] += values[p];
    for (size_t half = 64; half >= 1; half /= 2) {
      for (size_t l = half; l < std::min(2 * half, lanes.size()); ++l) lanes[l - half] += lanes[l];
      lanes.resize(std::min(half, lanes.size()));
    }
    level.push_back(lanes[0]);
  }
  while (level.size() > 1) {
    std::vector<float> up;
    for (size_t i = 0; i < level.size(); i += 2) up.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
    level = up;
  }
  return level[0];
}

TEST_F(Reference, SumsByTheFixedTree) {
  reduce({ReduceState::kPlain, op::add, 1}, load(f32));
  for (int64_t n : {1, 2, 5, 64, 100, 127, 128, 129, 1000, 4095, 4096, 4097, 12289, 50000}) {
    const std::vector<float> x = random_floats(n);
    float root = 0;
    run({n}, {at(x.data(), {4})}, {}, {}, {{&root, 0, n, n}});
    EXPECT_EQ(root, sum_by_tree(x)) << n;
  }
}

// A reduction of `length` positions along the first (runs) or second (lanes) of two axes, cut at `cuts` and joined again.
class CutAxis {
 public:
  CutAxis(const Program& program, const std::vector<float>& x, int64_t length, int64_t others, bool lanes)
      : program_(program), x_(x), length_(length), others_(others), lanes_(lanes),
        unit_(lanes ? partition::kLaneUnit : partition::kRunUnit),
        state_(state_bytes(program.reductions[0], f32)) {}

  std::vector<char> root(const std::vector<int64_t>& cuts) const {
    std::vector<partition::TreeNode> nodes;
    std::vector<std::vector<char>> states;
    for (size_t c = 0; c + 1 < cuts.size(); ++c) {
      const auto part = partition::tree_nodes(cuts[c], cuts[c + 1], length_, unit_);
      std::vector<char> bytes(part.size() * others_ * state_);
      run(cuts[c], cuts[c + 1], bytes.data());
      for (size_t k = 0; k < part.size(); ++k) {
        nodes.push_back(part[k]);
        const char* first = bytes.data() + k * others_ * state_;
        states.emplace_back(first, first + others_ * state_);
      }
    }
    std::vector<int64_t> positions;
    for (const auto& node : nodes) positions.push_back(node.end - node.begin);
    for (const auto& join : partition::tree_joins(nodes, length_, unit_)) {
      combine_reference(program_.reductions[0], f32, states[join.left].data(), states[join.right].data(), others_,
                        positions[join.left], positions[join.right], nullptr);
      positions[join.left] += positions[join.right];
    }
    return states[0];
  }

 private:
  void run(int64_t begin, int64_t end, void* nodes) const {
    const int64_t across = lanes_ ? length_ * 4 : 4, along = lanes_ ? 4 : others_ * 4;
    const Operand operand = at(&x_[begin * along / 4], lanes_ ? Dims{across, along} : Dims{along, across});
    const Dims box = lanes_ ? Dims{others_, end - begin} : Dims{end - begin, others_};
    ReduceTarget target{nodes, begin, end, length_};
    Launch launch{&program_, box, lanes_ ? Dims{0, begin} : Dims{begin, 0}, &operand, nullptr, nullptr, &target, nullptr};
    Serial serial;
    run_reference(launch, serial);
  }

  const Program& program_;
  const std::vector<float>& x_;
  int64_t length_, others_;
  bool lanes_;
  int64_t unit_, state_;
};

TEST_F(Reference, AnyCutGivesTheSameBits) {
  const std::vector<Reduction> reductions{{ReduceState::kPlain, op::add, 0},
                                          {ReduceState::kPlain, op::maximum, 0},
                                          {ReduceState::kArgMin, 0, 0},
                                          {ReduceState::kMoments, 0, 0}};
  for (const Reduction& reduction : reductions) {
    for (bool lanes : {false, true}) {
      program = Program();
      reduce({reduction.state, reduction.op, lanes ? 2u : 1u}, load(f32));
      const int64_t unit = lanes ? 4096 : 32, length = 6 * unit + 17, others = 3;
      const std::vector<float> x = random_floats(length * others);
      const CutAxis axis(program, x, length, others, lanes);
      const std::vector<char> whole = axis.root({0, length});
      EXPECT_EQ(axis.root({0, unit, length}), whole);
      EXPECT_EQ(axis.root({0, 3 * unit, 5 * unit, length}), whole);
      EXPECT_EQ(axis.root({0, unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit, 6 * unit, length}), whole);
    }
  }
}

TEST_F(Reference, MomentsAreTheMeanAndTheSquaredDeviations) {
  reduce({ReduceState::kMoments, 0, 1}, load(f64));
  const std::vector<float> narrow = random_floats(30000);
  const std::vector<double> x(narrow.begin(), narrow.end());
  double state[2];
  run({30000}, {at(x.data(), {8})}, {}, {}, {{state, 0, 30000, 30000}});
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / 30000;
  double m2 = 0;
  for (double v : x) m2 += (v - mean) * (v - mean);
  EXPECT_NEAR(state[0], mean, 1e-12);
  EXPECT_NEAR(state[1] / m2, 1, 1e-12);
}

TEST_F(Reference, ArgStatesTakeNansThenTheFirstOfTies) {
  const float nan = std::nanf("");
  struct Case {
    std::vector<float> values;
    int64_t least, most;
  };
  for (const Case& c : {Case{{3, 1, 2, 1}, 1, 0}, Case{{0.0f, -0.0f}, 0, 0}, Case{{5, nan, 1, nan}, 1, 1}, Case{{2}, 0, 0}}) {
    for (bool smallest : {true, false}) {
      program = Program();
      reduce({smallest ? ReduceState::kArgMin : ReduceState::kArgMax, 0, 1}, load(f32));
      const auto n = static_cast<int64_t>(c.values.size());
      char state[16] = {};
      run({n}, {at(c.values.data(), {4})}, {}, {}, {{state, 0, n, n}});
      int64_t index;
      std::memcpy(&index, state + arg_index_offset(f32), 8);
      EXPECT_EQ(index, smallest ? c.least : c.most);
    }
  }
}

TEST_F(Reference, AReducedValueServesItsWholeRow) {
  // softmax over rows: exp(x - max) / sum, with the sum written too.
  const uint16_t x = load(f32);
  const uint16_t largest = reduce({ReduceState::kPlain, op::maximum, 2}, x);
  const uint16_t e = apply(op::exp, apply(op::subtract, x, largest));
  const uint16_t total = reduce({ReduceState::kPlain, op::add, 2}, e);
  store(apply(op::divide, e, total));
  const std::vector<float> in = random_floats(2 * 300);
  std::vector<float> out(600), sums(2);
  run({2, 300}, {at(in.data(), {1200, 4}), at(out.data(), {1200, 4})}, {}, {},
      {{nullptr, 0, 300, 300}, {sums.data(), 0, 300, 300}});
  for (int r = 0; r < 2; ++r) {
    const float* row = &in[r * 300];
    const float most = *std::max_element(row, row + 300);
    std::vector<float> terms(300);
    for (int k = 0; k < 300; ++k) terms[k] = static_cast<float>(std::exp(static_cast<double>(row[k] - most)));
    EXPECT_EQ(sums[r], sum_by_tree(terms));
    for (int k = 0; k < 300; ++k) EXPECT_EQ(out[r * 300 + k], terms[k] / sums[r]);
  }
}

// r = 4 x over five elements; r[1:] -= y, of four elements that begin where r[1] does; sum(r).
TEST_F(Reference, GuardedInstructionsRunInTheirBoxesOnly) {
  program.guard_count = 2;
  guards = {{{1}, {5}}, {{3}, {3}}};
  const uint16_t x = load(f64);
  const uint16_t r = apply(op::multiply, x, x);
  program.accesses.push_back({f64, 8, false});
  const uint16_t y = program.push({kLoad, f64, 1}, f64, 1);
  const uint16_t less = program.push({op::subtract, f64, r, y}, f64, 1);
  const uint16_t merged = program.push({kMerge, f64, less, r, 0}, f64);
  const uint16_t nowhere = program.push({op::divide, f64, r, r}, f64, 2);
  const uint16_t again = program.push({kMerge, f64, nowhere, merged, 1}, f64);
  store(again);
  reduce({ReduceState::kPlain, op::add, 1}, again);
  const std::vector<double> in{1, 2, 3, 4, 0}, four{10, 20, 30, 40};
  std::vector<double> out(5);
  double sum = 0;
  run({5}, {at(in.data(), {8}), at(four.data() - 1, {8}), at(out.data(), {8})}, {}, {}, {{&sum, 0, 5, 5}});
  EXPECT_EQ(out, (std::vector<double>{1, 4 - 10, 9 - 20, 16 - 30, -40}));
  EXPECT_EQ(sum, 30 - 100);
  EXPECT_EQ(flags, std::vector<uint8_t>(program.code.size(), 0));  // 0 / 0 lies in no box
}

TEST_F(Reference, NarrowSumsWrap) {
  reduce({ReduceState::kPlain, op::add, 1}, load(DType::kInt8));
  const std::vector<int8_t> x(1000, 100);
  int8_t root = 0;
  run({1000}, {at(x.data(), {1})}, {}, {}, {{&root, 0, 1000, 1000}});
  EXPECT_EQ(root, static_cast<int8_t>(100000));
}

}  // namespace
}  // namespace tilewise::ops
