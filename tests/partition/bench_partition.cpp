// What planning costs: direct() in the ordinary case, and the plan of one rank among 10,000.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "partition/exchange.h"
#include "partition/overlap.h"

namespace tilewise::partition {
namespace {

template <class F>
void measure(const char* what, F&& f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    int64_t times = 0;
    const auto start = Clock::now();
    double seconds = 0;
    do {
      for (int i = 0; i < 16; ++i) f();
      times += 16;
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    } while (seconds < 0.02);
    best = std::min(best, seconds / static_cast<double>(times));
  }
  std::printf("%-58s %12.3f us\n", what, best * 1e6);
}

volatile int64_t sink;  // keeps results alive

// Five views of a store, as a 5-point stencil reads it: center, up, down, left, right.
std::vector<View> stencil(const View& u) {
  const int64_t rows = u.shape[0], columns = u.shape[1];
  const auto at = [&](int64_t i, int64_t j) { return region(u, Box({i, j}, {rows - 2 + i, columns - 2 + j})); };
  return {at(1, 1), at(0, 1), at(2, 1), at(1, 0), at(1, 2)};
}

void bench_boxes() {
  const TilingPtr tiling = Tiling::from_cuts(8, {Cuts::even(4096, 2), Cuts::even(4096, 2)}, Owners::cyclic(4));
  const View u = dense_view({4096, 4096}, DType::kFloat64, 8);
  const View center = stencil(u)[0];
  const InstanceBox block(tiling->form(), tiling->tile_box(3));
  const InstanceBox rows(tiling->form(), Box({0, 0}, {2048, 4096}));
  const Box inside({2100, 2100}, {4000, 4000});
  measure("direct(), tile cut on two axes", [&] { sink = direct(center, inside, block)->offset; });
  const Box upper({0, 0}, {2000, 4094});
  measure("direct(), tile cut on one axis", [&] { sink = direct(center, upper, rows)->offset; });
  measure("interior(), tile cut on two axes",
          [&] { sink = interior(center, Box::of(center.shape), block).lo[0]; });
  measure("interior(), tile cut on one axis", [&] { sink = interior(center, Box::of(center.shape), rows).lo[0]; });
  measure("pieces(), tile cut on two axes",
          [&] { sink = static_cast<int64_t>(pieces(center, Box::of(center.shape), block).size()); });
  const View other = stencil(u)[1];
  measure("overlap() of shifted views", [&] { sink = static_cast<int64_t>(overlap(center, other)); });
  measure("lattice_shift()", [&] { sink = (*lattice_shift(center, other))[0]; });
  measure("inherit()", [&] { sink = inherit(*tiling, center)->tile_count(); });
}

void bench_halo(int ranks) {
  const int side = static_cast<int>(std::lround(std::sqrt(ranks)));
  const Dims shape{static_cast<int64_t>(side) * 1000, static_cast<int64_t>(side) * 1000};
  const TilingPtr tiling =
      Tiling::from_cuts(8, {Cuts::even(shape[0], side), Cuts::even(shape[1], side)}, Owners::cyclic(side * side));
  std::vector<Access> accesses;
  for (const View& view : stencil(dense_view(shape, DType::kFloat64, 8))) accesses.emplace_back(view, tiling);
  const int device = side * (side / 2) + side / 2;
  size_t moves = 0;
  const auto plan = [&] {
    const DomainPartition domain = DomainPartition::induced(accesses[0].view, *tiling, side * side);
    BorderSplit split(domain, accesses);
    const ExchangePlan exchange = plan_gather(domain, accesses, fetched_boxes(split), device);
    moves = exchange.sends.size() + exchange.receives.size();
  };
  char what[96];
  plan();
  std::snprintf(what, sizeof what, "halo exchange of one of %d ranks (%zu moves)", side * side, moves);
  measure(what, plan);
}

void bench_transpose(int ranks) {
  const Dims shape{static_cast<int64_t>(ranks) * 10, static_cast<int64_t>(ranks) * 10};
  const TilingPtr tiling = Tiling::even(shape, 8, 0, ranks);
  const std::vector<Access> accesses{{permute(dense_view(shape, DType::kFloat64, 8), {1, 0}), tiling}};
  const DomainPartition domain = DomainPartition::even(shape, 0, ranks);
  size_t moves = 0;
  const auto plan = [&] {
    const ExchangePlan exchange = plan_gather(domain, accesses, whole_parts(domain, accesses), ranks / 2);
    moves = exchange.sends.size() + exchange.receives.size();
  };
  char what[96];
  plan();
  std::snprintf(what, sizeof what, "transpose, one of %d ranks (%zu moves)", ranks, moves);
  measure(what, plan);
}

}  // namespace
}  // namespace tilewise::partition

int main() {
  using namespace tilewise::partition;
  bench_boxes();
  for (int ranks : {4, 100, 10000}) bench_halo(ranks);
  for (int ranks : {4, 100, 10000}) bench_transpose(ranks);
}
