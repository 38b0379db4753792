#include "ops/simd/geometry.h"

#include <algorithm>

#include "partition/tree.h"

namespace tilewise::ops::simd {

namespace {

constexpr int64_t kShortRow = 256;   // elements under which rows are batched
constexpr int64_t kWholeRow = 4;     // blocks that a row may be long and still be one, where phases want it whole

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

bool aligned(const Geometry& g, int a, int itemsize) {
  const int64_t mask = std::min(itemsize, 8) - 1;
  int64_t bits = reinterpret_cast<intptr_t>(g.launch->operands[a].base);
  for (int k = 0; k <= g.last; ++k) bits |= g.stride(a, k);
  return (bits & mask) == 0;
}

// Whether a block of several rows is contiguous: the box is C-ordered in memory.
bool flat(const Geometry& g, int a, int itemsize) {
  int64_t want = itemsize;
  for (int k = g.last; k >= 0; --k) {
    if (g.extents[k] != 1 && g.stride(a, k) != want) return false;
    want *= g.extents[k];
  }
  return true;
}

// Whether a guard begins or ends within a row.
bool cut_rows(const Plan& plan, const Launch& launch) {
  const int last = launch.extents.size() - 1;
  for (int k = 0; plan.forms && k < plan.program.guard_count; ++k) {
    const partition::Box& guard = launch.guards[k];
    if (!guard.empty() && (guard.lo[last] > 0 || guard.hi[last] < launch.extents[last])) return true;
  }
  return false;
}

bool constant_over_rows(const Geometry& g, int a) {
  for (int k = 0; k < g.last; ++k)
    if (g.stride(a, k) != 0 && g.extents[k] != 1) return false;
  return true;
}

AccessPlace place(const Geometry& g, int a, const Access& access) {
  AccessPlace p{};
  p.mode = Mode::kGather;
  p.base = g.launch->operands[a].base;
  p.inner = g.n == 1 && !g.batched ? access.itemsize : g.stride(a, g.last);
  p.itemsize = access.itemsize;
  const bool contiguous = g.batched ? flat(g, a, access.itemsize) : p.inner == access.itemsize;
  if (contiguous && aligned(g, a, access.itemsize)) p.mode = Mode::kDirect;
  else if (!access.write && p.inner == 0 && (!g.batched || constant_over_rows(g, a))) p.mode = Mode::kScalar;
  else if (!access.write && g.batched && constant_over_rows(g, a)) p.mode = Mode::kStatic;
  return p;
}

}  // namespace

int64_t Geometry::row_offset(int a, int64_t row) const {
  if (last == 1) return row * stride(a, 0);
  int64_t offset = 0;
  for (int k = last - 1; k >= 0; --k) {
    offset += row % extents[k] * stride(a, k);
    row /= extents[k];
  }
  return offset;
}

Geometry make_geometry(const Plan& plan, const Launch& launch, int row_axis) {
  Geometry g;
  g.plan = &plan;
  g.launch = &launch;
  g.extents = launch.extents;
  g.origin = launch.origin;
  if (g.extents.empty()) g.extents.push_back(1);
  while (g.origin.size() < g.extents.size()) g.origin.push_back(0);
  g.last = g.extents.size() - 1;
  g.n = g.extents[g.last];
  for (int k = 0; k < g.last; ++k) g.rows *= g.extents[k];
  g.block = plan.block;
  if (plan.phases() > 1 && g.n > g.block && g.n <= kWholeRow * g.block) g.block = round_up(g.n, 128);
  const bool axis_ok = row_axis < 0 || row_axis == g.last - 1;
  g.batched = g.n < kShortRow && 2 * g.n <= g.block && g.rows > 1 && axis_ok && !cut_rows(plan, launch);
  g.rows_per_block = g.batched ? g.block / std::max<int64_t>(g.n, 1) : 1;
  if (g.batched && row_axis >= 0) g.rows_per_block = std::min(g.rows_per_block, partition::kRunUnit);
  // Whole vectors in a block, where that is possible.
  for (int64_t step = plan.quantum; g.batched && step > 1; step /= 2) {
    if (g.rows_per_block < step) continue;
    g.rows_per_block = g.rows_per_block / step * step;
    break;
  }
  g.one_block_rows = g.n <= g.block;
  for (size_t a = 0; a < plan.program.accesses.size(); ++a)
    g.access.push_back(place(g, static_cast<int>(a), plan.program.accesses[a]));
  return g;
}

}  // namespace tilewise::ops::simd
