// Transcendental rows of the SIMD interpreter: within their bound of a longer computation, over all of the float32 range
// (sampled) and of float64; pure functions of the element's bits, wherever it stands; equal on AVX2 and AVX-512.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/interp_simd.h"
#include "ops/op_table.h"
#include "ops/opcode.h"
#include "ops/simd/instruction_set.h"
#include "ops/simd/plan.h"
#include "runtime/base/error.h"
#include "tests/ops/simd/launch_maker.h"

namespace tilewise::ops {
namespace {

// row(a) or row(a, b) over dense arrays.
template <class T>
std::vector<T> compute(Opcode op, const std::vector<T>& a, const std::vector<T>& b = {}) {
  const DType t = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  Program p;
  p.accesses.push_back({t, sizeof(T), false});
  const uint16_t x = p.push({kLoad, t, 0, kNone, kNone}, t);
  uint16_t y = kNone;
  if (!b.empty()) {
    p.accesses.push_back({t, sizeof(T), false});
    y = p.push({kLoad, t, 1, kNone, kNone}, t);
  }
  p.accesses.push_back({t, sizeof(T), true});
  const uint16_t r = p.push({op, t, x, y, kNone}, t);
  p.push({kStore, t, r, static_cast<uint16_t>(p.accesses.size() - 1), kNone}, t);
  std::vector<T> out(a.size());
  std::vector<Operand> operands;
  const auto add = [&](const std::vector<T>& v) {
    operands.push_back({reinterpret_cast<char*>(const_cast<T*>(v.data())), {static_cast<int64_t>(sizeof(T))}});
  };
  add(a);
  if (!b.empty()) add(b);
  add(out);
  Launch launch;
  launch.program = &p;
  launch.extents = {static_cast<int64_t>(a.size())};
  launch.origin = {0};
  launch.operands = operands.data();
  OddOrder parallel(3);
  run_simd(launch, parallel);
  return out;
}

// The error in units in the last place of the nearest result.
template <class T>
double ulps(T got, long double want) {
  const T near = static_cast<T>(want);
  if (std::isnan(near)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(near) || std::isinf(got)) return got == near ? 0 : 1e9;
  int exponent;
  std::frexp(want == 0 ? static_cast<long double>(std::numeric_limits<T>::min()) : want, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

struct Function {
  Opcode op;
  long double (*exact)(long double);
};

const Function kFunctions[] = {
    {op::exp, [](long double x) { return std::exp(x); }},       {op::log, [](long double x) { return std::log(x); }},
    {op::exp2, [](long double x) { return std::exp2(x); }},     {op::expm1, [](long double x) { return std::expm1(x); }},
    {op::log2, [](long double x) { return std::log2(x); }},     {op::log10, [](long double x) { return std::log10(x); }},
    {op::log1p, [](long double x) { return std::log1p(x); }},   {op::cbrt, [](long double x) { return std::cbrt(x); }},
    {op::sin, [](long double x) { return std::sin(x); }},       {op::cos, [](long double x) { return std::cos(x); }},
    {op::tan, [](long double x) { return std::tan(x); }},       {op::arcsin, [](long double x) { return std::asin(x); }},
    {op::arccos, [](long double x) { return std::acos(x); }},   {op::arctan, [](long double x) { return std::atan(x); }},
    {op::sinh, [](long double x) { return std::sinh(x); }},     {op::cosh, [](long double x) { return std::cosh(x); }},
    {op::tanh, [](long double x) { return std::tanh(x); }},     {op::arcsinh, [](long double x) { return std::asinh(x); }},
    {op::arccosh, [](long double x) { return std::acosh(x); }}, {op::arctanh, [](long double x) { return std::atanh(x); }},
};

template <class T>
std::vector<T> sample(int count) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::mt19937_64 random(5);
  std::vector<T> v(count);
  for (int i = 0; i < count; ++i) {
    Bits bits = static_cast<Bits>(random());
    std::memcpy(&v[i], &bits, sizeof(T));
    if (i % 2) v[i] = static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * std::pow(10.0, static_cast<double>(random() % 5) - 1));
  }
  const T infinity = std::numeric_limits<T>::infinity();
  const T special[] = {0, T(-0.0), 1, -1, infinity, -infinity, std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min(), T(0.5), 2};
  std::copy(std::begin(special), std::end(special), v.begin());
  return v;
}

class MathRows : public testing::Test {
 protected:
  static void SetUpTestSuite() { install(); }
  void TearDown() override { simd::disable_targets(0); }
};

template <class T>
void check_functions() {
  const std::vector<T> x = sample<T>(60000);
  for (const Function& f : kFunctions) {
    const std::vector<T> got = compute(f.op, x);
    double worst = 0;
    T where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double e = ulps(got[i], f.exact(x[i]));
      if (e > worst) worst = e, where = x[i];
    }
    EXPECT_LE(worst, row(f.op).ulp) << op_info(f.op).name << " of " << where << " on " << simd::instruction_set();
    ::testing::Test::RecordProperty(std::string(op_info(f.op).name) + (sizeof(T) == 4 ? "_f32" : "_f64"), std::to_string(worst));
    if (std::getenv("TILEWISE_TEST_PRINT"))
      std::printf("%-8s %s %s %.3f ulp at %.17g\n", std::string(op_info(f.op).name).c_str(), sizeof(T) == 4 ? "f32" : "f64",
                  simd::instruction_set().c_str(), worst, static_cast<double>(where));
  }
}

template <class T>
void check_power() {
  std::vector<T> x = sample<T>(60000), y = sample<T>(60000);
  std::reverse(y.begin() + 100, y.end());
  for (size_t i = 0; i < 121; ++i) x[i] = x[i / 11], y[i] = y[i % 11];
  for (size_t i = 200; i < 400; ++i) x[i] = -T(i), y[i] = T(i % 9) - 4;
  for (size_t i = 400; i < 600; ++i) y[i] = T(-1.5), x[i] = std::fabs(x[i]);
  const std::vector<T> got = compute(op::power, x, y);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(ulps(got[i], std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]))), 1.2) << x[i] << " to " << y[i];
  const std::vector<T> hypot = compute(op::hypot, x, y);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(ulps(hypot[i], std::hypot(static_cast<long double>(x[i]), static_cast<long double>(y[i]))), 1.2) << x[i] << ", " << y[i];
  const std::vector<T> angle = compute(op::arctan2, x, y);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(ulps(angle[i], std::atan2(static_cast<long double>(x[i]), static_cast<long double>(y[i]))), 2.0) << x[i] << ", " << y[i];
}

TEST_F(MathRows, WithinTheirBound) {
  int64_t disabled = 0;
  for (const int64_t target : simd::available_targets()) {
    simd::disable_targets(disabled);
    check_functions<float>();
    check_functions<double>();
    check_power<float>();
    check_power<double>();
    disabled |= target;
  }
}

// The same element in another place, another tail, among other neighbours.
template <class T>
void check_purity() {
  const std::vector<T> x = sample<T>(5003);
  for (const Function& f : kFunctions) {
    const std::vector<T> all = compute(f.op, x);
    std::vector<T> turned(x.rbegin(), x.rend());
    std::vector<T> other = compute(f.op, turned);
    std::reverse(other.begin(), other.end());
    ASSERT_EQ(0, std::memcmp(all.data(), other.data(), all.size() * sizeof(T))) << op_info(f.op).name;
    for (size_t i = 0; i < 40; ++i) {
      const T one = compute(f.op, std::vector<T>{x[i]})[0];
      ASSERT_TRUE(std::memcmp(&one, &all[i], sizeof(T)) == 0 || (std::isnan(one) && std::isnan(all[i]))) << op_info(f.op).name << " of " << x[i];
    }
  }
}

TEST_F(MathRows, ArePureFunctionsOfAnElement) {
  check_purity<float>();
  check_purity<double>();
}

TEST_F(MathRows, AgreeWhereThereIsFma) {
  const std::vector<float> x = sample<float>(20000);
  const std::vector<double> z = sample<double>(20000);
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<double>> doubles;
  const std::vector<int64_t> targets = simd::available_targets();
  if (targets.size() < 3) GTEST_SKIP() << "one instruction set with fma";
  for (int pass = 0; pass < 2; ++pass) {
    simd::disable_targets(pass ? targets[0] : 0);
    size_t k = 0;
    for (const Function& f : kFunctions) {
      const std::vector<float> a = compute(f.op, x);
      const std::vector<double> b = compute(f.op, z);
      if (pass == 0) {
        floats.push_back(a);
        doubles.push_back(b);
      } else {
        for (size_t i = 0; i < a.size(); ++i)
          ASSERT_TRUE(std::memcmp(&a[i], &floats[k][i], 4) == 0 || std::isnan(a[i])) << op_info(f.op).name << " of " << x[i];
        for (size_t i = 0; i < b.size(); ++i)
          ASSERT_TRUE(std::memcmp(&b[i], &doubles[k][i], 8) == 0 || std::isnan(b[i])) << op_info(f.op).name << " of " << z[i];
      }
      ++k;
    }
  }
}

}  // namespace
}  // namespace tilewise::ops
