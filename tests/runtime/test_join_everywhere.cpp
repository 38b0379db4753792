// The rounds of join_everywhere.h, played for all ranks in one thread, over values in which every join leaves a trace.
#include <gtest/gtest.h>

#include <algorithm>

#include <random>

#include "partition/cuts.h"
#include "runtime/base/hash.h"
#include "runtime/join_everywhere.h"

namespace tilewise {
namespace {

using partition::Interval;
using partition::TreeNode;

constexpr int64_t kUnit = 32;

uint64_t joined(uint64_t a, uint64_t b) { return tilewise::mix(a, b); }

uint64_t value_of(const TreeNode& node) {
  if (node.end - node.begin <= kUnit) return static_cast<uint64_t>(node.begin + 1);
  int64_t half = kUnit;
  while (2 * half < node.end - node.begin) half *= 2;
  return joined(value_of({0, 0, node.begin, node.begin + half}), value_of({0, 0, node.begin + half, node.end}));
}

void run_merge(const NodeMerge& merge, std::vector<uint64_t>& values) {
  for (const auto& join : merge.joins) values[join.left] = joined(values[join.left], values[join.right]);
  std::vector<uint64_t> kept;
  for (int place : merge.places) kept.push_back(values[place]);
  values = kept;
}

void check(int64_t extent, const std::vector<int64_t>& cuts, int ranks, int devices) {
  SCOPED_TRACE(::testing::Message() << extent << " positions, " << ranks << " ranks x " << devices);
  const auto part = [&](int device) { return Interval{cuts[device], cuts[device + 1]}; };
  const auto of_rank = [&](int rank) { return Interval{cuts[rank * devices], cuts[(rank + 1) * devices]}; };
  std::vector<EverywherePlan> plans;
  std::vector<std::vector<uint64_t>> known(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Interval> ours;
    for (int d = 0; d < devices; ++d) ours.push_back(part(rank * devices + d));
    plans.push_back(plan_everywhere(rank, ranks, of_rank, ours, extent, kUnit));
    for (const Interval& at : ours)
      if (!at.empty())
        for (const TreeNode& node : partition::tree_nodes(at.lo, at.hi, extent, kUnit)) known[rank].push_back(value_of(node));
    run_merge(plans[rank].first, known[rank]);
  }
  int rounds = 0;
  while (1 << rounds < ranks) ++rounds;
  for (int round = 0; round < rounds; ++round) {
    const auto before = known;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& step = plans[rank].rounds[round];
      ASSERT_EQ(plans[step.from].rounds[round].to, rank);
      ASSERT_EQ(step.sent, std::ssize(before[rank]));
      ASSERT_EQ(step.received, std::ssize(before[step.from]));
      known[rank].insert(known[rank].end(), before[step.from].begin(), before[step.from].end());
      run_merge(step.merge, known[rank]);
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    ASSERT_EQ(plans[rank].rounds.size(), static_cast<size_t>(rounds));
    ASSERT_EQ(known[rank], std::vector<uint64_t>{value_of({0, 0, 0, extent})});
  }
}

TEST(JoinEverywhere, EveryRankGetsTheRoot) {
  std::mt19937 random(3);
  for (int ranks = 1; ranks <= 20; ++ranks) {
    for (int devices : {1, 2, 3}) {
      for (int64_t extent : {int64_t{1}, int64_t{32}, int64_t{33}, int64_t{700}, int64_t{32 * 97 + 5}}) {
        const int64_t units = (extent + kUnit - 1) / kUnit;
        std::vector<int64_t> cuts{0};
        for (int i = 1; i < ranks * devices; ++i) cuts.push_back(static_cast<int64_t>(random() % (units + 1)));
        cuts.push_back(units);
        std::sort(cuts.begin(), cuts.end());
        for (int64_t& cut : cuts) cut = std::min(cut * kUnit, extent);
        check(extent, cuts, ranks, devices);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace tilewise
