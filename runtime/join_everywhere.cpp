#include "runtime/join_everywhere.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/progress.h"

namespace tilewise {

using partition::Interval;
using partition::TreeNode;

namespace {

class Merger {
 public:
  Merger(const std::vector<TreeNode>& from, int64_t unit) : from_(from), unit_(unit) {}

  // The place of the node over these positions, made of its halves where nobody has it.
  int place(int64_t begin, int64_t end) {
    for (size_t i = 0; i < from_.size(); ++i)
      if (from_[i].begin == begin && from_[i].end == end) return static_cast<int>(i);
    TW_CHECK(end - begin > unit_, "no rank has positions ", begin, " to ", end);
    int64_t half = unit_;
    while (2 * half < end - begin) half *= 2;
    const int left = place(begin, begin + half);
    const int right = place(begin + half, end);
    merge.joins.push_back({left, right, half, end - begin - half});
    return left;
  }
  NodeMerge merge;

 private:
  const std::vector<TreeNode>& from_;
  int64_t unit_;
};

// The nodes of ranks first, first + 1, ..., `count` of them, beginning again after the last rank.
std::vector<TreeNode> nodes_of_run(int first, int count, int size, const std::function<Interval(int)>& part_of,
                                   int64_t extent, int64_t unit) {
  if (count >= size) return partition::tree_nodes(0, extent, extent, unit);
  std::vector<TreeNode> nodes;
  auto add = [&](int from, int to) {
    const Interval run{part_of(from).lo, part_of(to).hi};
    if (run.empty()) return;
    for (const TreeNode& node : partition::tree_nodes(run.lo, run.hi, extent, unit)) nodes.push_back(node);
  };
  const int last = first + count - 1;
  add(first, std::min(last, size - 1));
  if (last >= size) add(0, last - size);
  return nodes;
}

// Room for the nodes of a merge, then only those that it leaves.
void apply(const NodeMerge& merge, EverywhereStates& one) {
  const StateArray& in = one.array;
  const int64_t row = in.n * in.bytes();
  for (const NodeMerge::Join& join : merge.joins)
    combine(in, one.states.data() + join.left * row, one.states.data() + join.right * row, in.n, join.left_positions,
            join.right_positions);
  std::vector<char> kept(merge.places.size() * static_cast<size_t>(row));
  for (size_t i = 0; i < merge.places.size(); ++i)
    std::memcpy(kept.data() + static_cast<int64_t>(i) * row, one.states.data() + merge.places[i] * row, static_cast<size_t>(row));
  one.states = std::move(kept);
}

}  // namespace

NodeMerge merge_nodes(const std::vector<TreeNode>& from, const std::vector<TreeNode>& to, int64_t unit) {
  Merger merger(from, unit);
  for (const TreeNode& node : to) merger.merge.places.push_back(merger.place(node.begin, node.end));
  return std::move(merger.merge);
}

EverywherePlan plan_everywhere(int rank, int size, const std::function<Interval(int)>& part_of,
                               const std::vector<Interval>& devices, int64_t extent, int64_t unit) {
  EverywherePlan plan;
  const auto run = [&](int first, int count) { return nodes_of_run(first % size, count, size, part_of, extent, unit); };
  std::vector<TreeNode> known;
  for (const Interval& part : devices)
    if (!part.empty())
      for (const TreeNode& node : partition::tree_nodes(part.lo, part.hi, extent, unit)) known.push_back(node);
  plan.first = merge_nodes(known, run(rank, 1), unit);
  known = run(rank, 1);
  for (int distance = 1; distance < size; distance *= 2) {
    EverywherePlan::Round round;
    round.to = (rank - distance + size) % size;
    round.from = (rank + distance) % size;
    const auto come = run(round.from, distance);
    round.sent = static_cast<int64_t>(known.size());
    round.received = static_cast<int64_t>(come.size());
    known.insert(known.end(), come.begin(), come.end());
    const auto next = run(rank, 2 * distance);
    round.merge = merge_nodes(known, next, unit);
    known = next;
    plan.rounds.push_back(std::move(round));
  }
  return plan;
}

void run_everywhere(const EverywherePlan& plan, comm::Transport& transport, uint64_t tag, std::vector<EverywhereStates>& all) {
  for (EverywhereStates& one : all) apply(plan.first, one);
  int64_t node_bytes = 0;
  for (const EverywhereStates& one : all) node_bytes += one.array.n * one.array.bytes();
  for (const EverywherePlan::Round& round : plan.rounds) {
    // As every message it ends with a word that says whether the sender knows of a failed task.
    std::vector<char> out(static_cast<size_t>(round.sent * node_bytes + 8)), in(static_cast<size_t>(round.received * node_bytes + 8));
    char* at = out.data();
    for (const EverywhereStates& one : all) at = std::copy(one.states.begin(), one.states.end(), at);
    uint64_t failed = Progress::failed();
    std::memcpy(at, &failed, 8);
    comm::Request both[] = {transport.irecv(round.from, tag, {in.data(), in.size(), MemoryKind::kHost, -1}),
                            transport.isend(round.to, tag, {out.data(), out.size(), MemoryKind::kHost, -1})};
    comm::wait_all(transport, both);
    std::memcpy(&failed, in.data() + in.size() - 8, 8);
    if (failed) Progress::note_failure();
    const char* from = in.data();
    for (EverywhereStates& one : all) {
      const int64_t bytes = round.received * one.array.n * one.array.bytes();
      one.states.insert(one.states.end(), from, from + bytes);
      from += bytes;
      apply(round.merge, one);
    }
  }
}

}  // namespace tilewise
