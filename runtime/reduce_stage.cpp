#include "runtime/reduce_stage.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tilewise {

using partition::kRunUnit;
using partition::TreeNode;

void combine(const StateArray& in, char* into, const char* from, int64_t n, int64_t into_positions,
             int64_t from_positions) {
  uint8_t seen[kMomentParts] = {};
  interpreter().combine(in.reduction, in.dtype, into, from, n, into_positions * in.weight, from_positions * in.weight,
                        in.flags ? seen : nullptr);
  for (int part = 0; part < kMomentParts; ++part)
    if (seen[part]) std::atomic_ref(in.flags[part]).fetch_or(seen[part], std::memory_order_relaxed);
}

namespace {

// Fewer inner states than this are combined for many units at once instead.
constexpr int64_t kWideInner = 64;

// Unit results for positions of one outer index: units is [unit][inner].
void reduce_units(const StateArray& in, const char* states, int64_t count, char* units) {
  const int64_t row = in.inner * in.bytes();
  const int64_t whole = count / kRunUnit;
  if (in.inner >= kWideInner || whole < 2) {
    for (int64_t u = 0; u * kRunUnit < count; ++u) {
      const int64_t first = u * kRunUnit;
      const int64_t length = std::min(kRunUnit, count - first);
      std::memcpy(units + u * row, states + first * row, row);
      for (int64_t p = 1; p < length; ++p)
        combine(in, units + u * row, states + (first + p) * row, in.inner, p, 1);
    }
    return;
  }
  // Position p of every whole unit side by side, so that one call combines them all.
  std::vector<char> side(whole * row);
  for (int64_t p = 0; p < kRunUnit; ++p) {
    char* to = p == 0 ? units : side.data();
    for (int64_t u = 0; u < whole; ++u) std::memcpy(to + u * row, states + (u * kRunUnit + p) * row, row);
    if (p > 0) combine(in, units, side.data(), whole * in.inner, p, 1);
  }
  if (const int64_t rest = count - whole * kRunUnit) {
    StateArray tail = in;
    reduce_units(tail, states + whole * kRunUnit * row, rest, units + whole * row);
  }
}

// The node over units [first, first + count) of `units`, left in the first; positions of each unit but the last are full.
void join_units(const StateArray& in, char* units, int64_t count, int64_t positions) {
  const int64_t row = in.inner * in.bytes();
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t u = 0; u + width < count; u += 2 * width) {
      const int64_t middle = (u + width) * kRunUnit;
      const int64_t end = std::min((u + 2 * width) * kRunUnit, positions);
      combine(in, units + u * row, units + (u + width) * row, in.inner, width * kRunUnit, end - middle);
    }
  }
}

}  // namespace

void reduce_run_axis(const StateArray& in, int64_t begin, int64_t end, int64_t extent, const char* states, char* nodes,
                     Parallel& parallel) {
  const auto tree = partition::tree_nodes(begin, end, extent, kRunUnit);
  const int64_t row = in.inner * in.bytes();
  const int64_t units = (end - begin + kRunUnit - 1) / kRunUnit;
  parallel.run(in.outer, [&](int64_t o) {
    std::vector<char> work(units * row);
    reduce_units(in, states + o * (end - begin) * row, end - begin, work.data());
    for (size_t k = 0; k < tree.size(); ++k) {
      const TreeNode& node = tree[k];
      const int64_t first = (node.begin - begin) / kRunUnit;
      const int64_t count = (node.end - node.begin + kRunUnit - 1) / kRunUnit;
      join_units(in, work.data() + first * row, count, node.end - node.begin);
      std::memcpy(nodes + (static_cast<int64_t>(k) * in.outer + o) * row, work.data() + first * row, row);
    }
  });
}

void join_nodes(const StateArray& in, const std::vector<TreeNode>& nodes, int64_t extent, int64_t unit, char* states) {
  const int64_t row = in.n * in.bytes();
  std::vector<int64_t> positions;
  for (const TreeNode& node : nodes) positions.push_back(node.end - node.begin);
  for (const auto& join : partition::tree_joins(nodes, extent, unit)) {
    combine(in, states + join.left * row, states + join.right * row, in.n, positions[join.left], positions[join.right]);
    positions[join.left] += positions[join.right];
  }
}

void finish_states(const Reduction& reduction, DType dtype, const char* states, char* values, int64_t n) {
  const int64_t bytes = state_bytes(reduction, dtype);
  int64_t offset = 0, width = bytes;
  if (reduction.state == ReduceState::kMoments) {
    offset = itemsize(dtype);
    width = bytes - offset;
  } else if (reduction.state != ReduceState::kPlain) {
    offset = arg_index_offset(dtype);
    width = 8;
  }
  if (offset == 0) {
    std::memcpy(values, states, n * width);
    return;
  }
  for (int64_t i = 0; i < n; ++i) std::memcpy(values + i * width, states + i * bytes + offset, width);
}

}  // namespace tilewise
