#include "runtime/cpu/topology.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <set>
#include <sstream>
#include <thread>

namespace tilewise::cpu {

namespace {

Topology of_cores(int count, bool whole) {
  Topology topology;
  for (int k = 0; k < count; ++k) topology.cores.push_back({k, k / 4, {k}});
  topology.whole_machine = whole;
  return topology;
}

std::vector<int> numbers(const Topology& topology) {
  std::vector<int> result;
  for (const Core& core : topology.cores) result.push_back(core.number);
  return result;
}

TEST(Topology, FindsTheCoresOfTheMask) {
  Topology found = find_topology();
  ASSERT_FALSE(found.cores.empty());
  EXPECT_GT(found.memory, 1 << 20);
  EXPECT_GE(found.domains, 1);
  std::set<int> seen;
  cpu_set_t mask;
  sched_getaffinity(0, sizeof(mask), &mask);
  for (const Core& core : found.cores) {
    EXPECT_FALSE(core.cpus.empty());
    for (int cpu : core.cpus) {
      EXPECT_TRUE(seen.insert(cpu).second);
      EXPECT_TRUE(CPU_ISSET(cpu, &mask));
    }
  }
}

TEST(Topology, ABoundThreadSeesItsCoreOnly) {
  Core core = find_topology().cores.back();
  std::thread([&] {
    ASSERT_TRUE(bind_this_thread(core));
    Topology found = find_topology();
    ASSERT_EQ(found.cores.size(), 1u);
    EXPECT_EQ(found.cores[0].cpus, core.cpus);
    EXPECT_EQ(mask_of(found), std::to_string(core.cpus[0]) + (core.cpus.size() > 1 ? "," + std::to_string(core.cpus[1]) : ""));
  }).join();
}

TEST(Topology, RanksOnTheWholeMachineDivideIt) {
  EXPECT_EQ(numbers(deal_to_rank(of_cores(8, true), 0, 1)).size(), 8u);
  EXPECT_EQ(numbers(deal_to_rank(of_cores(8, true), 1, 2)), (std::vector{4, 5, 6, 7}));
  EXPECT_EQ(numbers(deal_to_rank(of_cores(8, true), 0, 3)), (std::vector{0, 1}));
  EXPECT_EQ(numbers(deal_to_rank(of_cores(8, true), 2, 3)), (std::vector{5, 6, 7}));
  EXPECT_FALSE(deal_to_rank(of_cores(8, true), 2, 3).shared);
  EXPECT_EQ(deal_to_rank(of_cores(8, true), 1, 2).domains, 1);
}

TEST(Topology, RanksWithMasksOfTheirOwnKeepThem) {
  EXPECT_EQ(numbers(deal_to_rank(of_cores(2, false), 1, 2)), (std::vector{0, 1}));
}

TEST(Topology, EqualMasksAreDivided) {
  std::vector<std::string> masks{"0 1 2 3", "4 5 6 7", "0 1 2 3", "4 5 6 7"};
  EXPECT_EQ(numbers(deal_to_rank(of_cores(4, false), 0, 4, masks)), (std::vector{0, 1}));
  EXPECT_EQ(numbers(deal_to_rank(of_cores(4, false), 2, 4, masks)), (std::vector{2, 3}));
}

// The processors that each rank gets, of cores with these processors.
std::vector<std::vector<int>> deal(const std::vector<std::string>& masks) {
  std::vector<std::vector<int>> dealt;
  for (size_t rank = 0; rank < masks.size(); ++rank) {
    Topology topology;
    std::istringstream text(masks[rank]);
    for (std::string core; text >> core;) {
      topology.cores.push_back({0, 0, {}});
      std::istringstream numbers(core);
      for (std::string cpu; std::getline(numbers, cpu, ',');) topology.cores.back().cpus.push_back(std::stoi(cpu));
    }
    dealt.emplace_back();
    for (const Core& core : deal_to_rank(topology, static_cast<int>(rank), static_cast<int>(masks.size()), masks).cores)
      dealt.back().push_back(core.cpus[0]);
  }
  return dealt;
}

TEST(Topology, MasksThatOverlapInPartAreDividedAsEvenlyAsTheyAllow) {
  using Dealt = std::vector<std::vector<int>>;
  EXPECT_EQ(deal({"0 1 2 3", "2 3 4 5"}), (Dealt{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(deal({"0 1 2 3", "2 3"}), (Dealt{{0, 1}, {2, 3}}));
  EXPECT_EQ(deal({"0", "0 1", "1 2"}), (Dealt{{0}, {1}, {2}}));        // through others
  EXPECT_EQ(deal({"0 1", "0 1 2 3 4 5 6 7", "2 3 4 5 6 7"})[0], (std::vector{0, 1}));
  EXPECT_EQ(deal({"0,4 1,5", "0,4 2,6"}), (Dealt{{1}, {0, 2}}));       // cores, not processors
  EXPECT_EQ(deal({"0", "4"}), (Dealt{{0}, {4}}));
  EXPECT_EQ(deal({"0,4", "4"}), (Dealt{{0}, {4}}));                    // one core as one of them sees it: shared
}

TEST(Topology, EveryCoreOfAnyMasksGoesToOneRank) {
  uint32_t random = 1;
  for (int round = 0; round < 300; ++round) {
    const int ranks = 1 + round % 5;
    std::vector<std::string> masks(static_cast<size_t>(ranks));
    std::set<int> all;
    for (std::string& mask : masks) {
      for (int core = 0; core < 9; ++core) {
        random = random * 1664525 + 1013904223;
        if ((random >> 24) % 2 == 0 && (core < 8 || !mask.empty())) continue;
        mask += (mask.empty() ? "" : " ") + std::to_string(core);
        all.insert(core);
      }
    }
    std::multiset<int> given;
    size_t least = 99;
    for (const auto& mine : deal(masks)) {
      given.insert(mine.begin(), mine.end());
      least = std::min(least, mine.size());
    }
    EXPECT_GE(least, 1u);
    EXPECT_EQ(std::set<int>(given.begin(), given.end()), all);
    if (given.size() != all.size()) {
      EXPECT_EQ(least, 1u);  // shared only by ranks that got none
    }
  }
}

TEST(Topology, MoreRanksThanCoresShareThem) {
  for (int rank = 0; rank < 5; ++rank) {
    Topology mine = deal_to_rank(of_cores(2, true), rank, 5);
    EXPECT_EQ(mine.cores.size(), 1u);
    EXPECT_TRUE(mine.shared);
  }
}

TEST(Topology, AContainersQuotaLimitsTheCores) {
  Topology limited = limit_to_quota(of_cores(8, true), 2.5);
  EXPECT_EQ(limited.cores.size(), 3u);
  EXPECT_TRUE(limited.shared);
  EXPECT_EQ(limited.domains, 1);
  EXPECT_TRUE(deal_to_rank(limited, 0, 1).shared);
  EXPECT_EQ(limit_to_quota(of_cores(8, true), 0.1).cores.size(), 1u);
  for (double plenty : {0.0, 8.0, 100.0}) {
    Topology all = limit_to_quota(of_cores(8, true), plenty);
    EXPECT_EQ(all.cores.size(), 8u);
    EXPECT_FALSE(all.shared);
  }
  EXPECT_GE(processor_quota(), 0);
}

TEST(Topology, DevicesGetNeighbours) {
  for (int cores : {1, 2, 7, 64}) {
    for (int devices : {1, 2, 3, 7, 100}) {
      std::vector<CoreRange> ranges = deal_to_devices(cores, devices);
      ASSERT_EQ(ranges.size(), static_cast<size_t>(devices));
      int next = 0;
      for (const CoreRange& range : ranges) {
        EXPECT_GE(range.count, 1);
        EXPECT_GE(range.first, 0);
        EXPECT_LE(range.first + range.count, cores);
        if (devices <= cores) {
          EXPECT_EQ(range.first, next);
        }
        next = range.first + range.count;
      }
      EXPECT_EQ(next, cores);
    }
  }
}

}  // namespace

}  // namespace tilewise::cpu
