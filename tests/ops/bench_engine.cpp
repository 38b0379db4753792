// What a record costs in the engine of the leader's known data: the loop of small arrays, recorded, fused and run.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/ops/engine_job.h"

using namespace tilewise;
using namespace tilewise::testing;
namespace op = tilewise::ops::op;

int main(int argc, char** argv) {
  const int64_t n = argc > 1 ? std::atoll(argv[1]) : 1000;
  EngineJob job(1, 1, 1 << 20);
  const std::vector<double> ones(n, 1.0);
  Value a = job.host(ones, {n}), b = job.host(ones, {n});
  const int rounds = 20000;
  double best = 1e9;
  for (int rep = 0; rep < 5; ++rep) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) {
      auto next = [&](Value& v, Value made) {
        job.drop(v);
        v = made;
      };
      next(a, job.apply(op::add, {a, b}));
      next(a, job.apply(op::multiply, a, 0.5));
      next(b, job.apply(op::subtract, {b, a}));
      next(b, job.apply(op::multiply, b, 0.5));
      next(a, job.apply(op::add, a, 0.25));
    }
    job.read(a);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / rounds / 5);
  }
  std::printf("%lld elements: %.0f ns an operation\n", static_cast<long long>(n), best * 1e9);
}
