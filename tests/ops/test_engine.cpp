// Programs over the engine, run on one device and on many devices and ranks: the values are right and the bits equal.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/ops/engine_job.h"

namespace tilewise::testing {
namespace {

namespace op = ops::op;

struct Layout {
  int ranks, devices;
  int64_t min_tile;
  int few_ranks = 8;
};
const Layout kLayouts[] = {{1, 1, 1}, {1, 1, 1000}, {1, 2, 1}, {1, 3, 1}, {1, 7, 1}, {2, 1, 1}, {3, 1, 1}, {2, 2, 1}, {4, 2, 1}, {2, 1, 64},
                           // nodes of reductions joined over all ranks in rounds, as among many ranks
                           {2, 1, 64, 1}, {3, 2, 64, 1}, {5, 1, 64, 1}, {7, 1, 64, 1}, {8, 1, 64, 1}, {2, 4, 64, 1}};

// Runs the program in every layout and returns the values of the first; all must have equal bits.
template <class Program>
std::vector<double> everywhere(const Program& program) {
  std::vector<double> first;
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(::testing::Message() << layout.ranks << " ranks x " << layout.devices << " devices, least tile "
                                      << layout.min_tile);
    EngineJob job(layout.ranks, layout.devices, layout.min_tile, layout.few_ranks);
    const std::vector<double> values = program(job);
    if (first.empty()) first = values;
    EXPECT_EQ(values.size(), first.size());
    EXPECT_EQ(std::memcmp(values.data(), first.data(), values.size() * 8), 0);
    if (::testing::Test::HasFailure()) break;
  }
  return first;
}

std::vector<double> noise(int64_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

TEST(Engine, ElementwiseChain) {
  const auto x = noise(35), y = noise(35, 2);
  const auto got = everywhere([&](EngineJob& job) {
    const Value a = job.host(x, {5, 7}), b = job.host(y, {5, 7});
    const Value t = job.apply(op::multiply, {a, b});
    const Value u = job.apply(op::add, {t, a});
    job.drop(t);
    return job.read(u);
  });
  for (int i = 0; i < 35; ++i) EXPECT_EQ(got[i], x[i] * y[i] + x[i]);
}

TEST(Engine, BroadcastTransposeAndSteps) {
  const auto x = noise(30), y = noise(5, 2);
  const auto got = everywhere([&](EngineJob& job) {
    const Value a = job.host(x, {5, 6}), row = job.host(y, {5});
    const Value b = job.apply(op::multiply, {transpose(a), broadcast(row, {6, 5})});
    const Value c = slice(slice(b, 0, 5, -1, -2), 1, 0, 5, 2);
    return job.read(job.apply(op::add, c, 1.0));
  });
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(got[i * 3 + j], x[(2 * j) * 6 + (5 - 2 * i)] * y[2 * j] + 1.0);
}

TEST(Engine, OverlappingUpdates) {
  for (int64_t n : {2, 5, 17, 100}) {
    const auto x = noise(n);
    const auto got = everywhere([&](EngineJob& job) {
      const Value a = job.host(x, {n});
      const Value head = slice(a, 0, 0, n - 1), tail = slice(a, 0, 1, n);
      job.apply(op::add, {tail, head}, &tail);
      job.apply(op::subtract, {head, tail}, &head);
      const Value reversed = slice(a, 0, n - 1, -1, -1);
      job.copy(reversed, &a);
      return job.read(a);
    });
    std::vector<double> want = x, old = x;
    for (int64_t i = 1; i < n; ++i) want[i] = old[i] + old[i - 1];
    old = want;
    for (int64_t i = 0; i + 1 < n; ++i) want[i] = old[i] - old[i + 1];
    std::reverse(want.begin(), want.end());
    EXPECT_EQ(got, want) << n;
  }
}

TEST(Engine, JacobiStencil) {
  const int64_t n = 13;
  const auto x = noise(n * n);
  const auto got = everywhere([&](EngineJob& job) {
    const Value g = job.host(x, {n, n});
    auto part = [&](int64_t r, int64_t c) { return slice(slice(g, 0, r, r + n - 2), 1, c, c + n - 2); };
    const Value center = part(1, 1);
    for (int i = 0; i < 4; ++i) {
      Value t1 = job.apply(op::add, {center, part(0, 1)});
      Value t2 = job.apply(op::add, {t1, part(2, 1)});
      Value t3 = job.apply(op::add, {t2, part(1, 0)});
      Value t4 = job.apply(op::add, {t3, part(1, 2)});
      Value work = job.apply(op::multiply, t4, 0.2);
      for (const Value& t : {t1, t2, t3, t4}) job.drop(t);
      job.copy(work, &center);
      job.drop(work);
    }
    return job.read(g);
  });
  std::vector<double> g = x;
  for (int i = 0; i < 4; ++i) {
    std::vector<double> next = g;
    for (int64_t r = 1; r + 1 < n; ++r)
      for (int64_t c = 1; c + 1 < n; ++c)
        next[r * n + c] = (g[r * n + c] + g[(r - 1) * n + c] + g[(r + 1) * n + c] + g[r * n + c - 1] + g[r * n + c + 1]) * 0.2;
    g = next;
  }
  EXPECT_EQ(got, g);
}

// r = 4 v, then four statements on parts of it, as in a matrix-free Laplacian.
TEST(Engine, StatementsOnPartsJoinOneGroup) {
  const int64_t n = 11;
  const auto x = noise(n * n);
  const auto got = everywhere([&](EngineJob& job) {
    const Value v = job.host(x, {n, n});
    const Value r = job.apply(op::multiply, v, 4.0);
    for (int axis = 0; axis < 2; ++axis) {
      const Value low = slice(r, axis, 0, n - 1), high = slice(r, axis, 1, n);
      job.apply(op::subtract, {high, slice(v, axis, 0, n - 1)}, &high);
      job.apply(op::subtract, {low, slice(v, axis, 1, n)}, &low);
    }
    return job.read(r);
  });
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double want = 4.0 * x[i * n + j];
      if (i > 0) want -= x[(i - 1) * n + j];
      if (i + 1 < n) want -= x[(i + 1) * n + j];
      if (j > 0) want -= x[i * n + j - 1];
      if (j + 1 < n) want -= x[i * n + j + 1];
      EXPECT_EQ(got[i * n + j], want) << i << "," << j;
    }
}

double plain_sum(const std::vector<double>& x) {
  long double sum = 0;
  for (double v : x) sum += v;
  return static_cast<double>(sum);
}

TEST(Engine, SumsHaveTheSameBitsForAnyCut) {
  for (int64_t n : {1, 5, 127, 129, 4096, 4097, 20000, 200001}) {
    const auto x = noise(n);
    const auto got = everywhere([&](EngineJob& job) {
      const Value a = job.host(x, {n});
      return job.read(job.reduce(op::add, job.apply(op::multiply, {a, a}), 1));
    });
    std::vector<double> squares;
    for (double v : x) squares.push_back(v * v);
    EXPECT_NEAR(got[0], plain_sum(squares), 1e-12 * static_cast<double>(n)) << n;
  }
}

TEST(Engine, ReductionsOverAnyAxes) {
  for (const Dims& shape : {Dims{7, 9}, Dims{40, 3}, Dims{3, 200}, Dims{70, 130}, Dims{3, 4, 5}, Dims{33, 2, 140}, Dims{1, 6}, Dims{6, 1}}) {
    const int64_t n = count_of(shape);
    const auto x = noise(n);
    for (uint64_t axes = 1; axes < uint64_t{1} << shape.size(); ++axes) {
      SCOPED_TRACE(::testing::Message() << shape << " axes " << axes);
      const auto got = everywhere([&](EngineJob& job) {
        const Value a = job.host(x, shape);
        return job.read(job.reduce(op::add, a, axes));
      });
      std::vector<double> want(got.size(), 0.0);
      Dims kept = shape;
      for (int k = 0; k < kept.size(); ++k)
        if (axes >> k & 1) kept[k] = 1;
      const Dims strides = c_strides(kept, 1);
      for (int64_t i = 0; i < n; ++i) {
        int64_t rest = i, at = 0;
        for (int k = shape.size() - 1; k >= 0; --k) {
          const int64_t c = rest % shape[k];
          rest /= shape[k];
          if (!(axes >> k & 1)) at += c * strides[k];
        }
        want[at] += x[i];
      }
      for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-11) << i;
    }
  }
}

TEST(Engine, TransposedReductionsAndMoments) {
  const auto x = noise(60 * 70);
  const auto got = everywhere([&](EngineJob& job) {
    const Value a = job.host(x, {60, 70});
    auto sums = job.read(job.reduce(op::add, transpose(a), 1));
    const auto all = job.read(job.moments(a, 3));
    const auto rows = job.read(job.moments(a, 2));
    sums.insert(sums.end(), all.begin(), all.end());
    sums.insert(sums.end(), rows.begin(), rows.end());
    return sums;
  });
  ASSERT_EQ(got.size(), 60u + 1 + 60);
  double mean = plain_sum(x) / x.size(), m2 = 0;
  for (double v : x) m2 += (v - mean) * (v - mean);
  EXPECT_NEAR(got[60], m2, 1e-9);
}

TEST(Engine, SoftmaxRowsInOnePass) {
  const Dims shape{9, 50};
  const auto x = noise(450);
  const auto got = everywhere([&](EngineJob& job) {
    const Value a = job.host(x, shape);
    const Value m = job.reduce(op::maximum, a, 2);
    const Value shifted = job.apply(op::subtract, {a, broadcast(m, shape)});
    const Value e = job.apply(op::exp, {shifted});
    const Value s = job.reduce(op::add, e, 2);
    const Value y = job.apply(op::divide, {e, broadcast(s, shape)});
    for (const Value& t : {m, shifted, e, s}) job.drop(t);
    return job.read(y);
  });
  for (int i = 0; i < 9; ++i) {
    double sum = 0;
    for (int j = 0; j < 50; ++j) sum += got[i * 50 + j];
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(Engine, StoresGoWhenDropped) {
  EngineJob job(2, 2, 1);
  const Value a = job.host(noise(100), {10, 10});
  for (int i = 0; i < 50; ++i) {
    const Value b = job.apply(op::add, {a, a});
    job.drop(b);
  }
  job.read(a);
  Record flush;
  flush.kind = RecordKind::kFlush;
  job.record(flush);
  for (auto& engine : job.engines()) EXPECT_EQ(engine->stores().size(), 1u);
}

}  // namespace
}  // namespace tilewise::testing
