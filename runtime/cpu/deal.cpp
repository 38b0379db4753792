// Which of a host's ranks gets which core. Every rank computes the same from the masks of all.
#include <algorithm>
#include <map>
#include <sstream>

#include "runtime/base/error.h"
#include "runtime/cpu/topology.h"

namespace tilewise::cpu {

namespace {

// A core as the ranks see it: processors that some rank takes for one core.
struct SharedCore {
  int first_cpu = 0;           // its lowest
  std::vector<int> ranks;      // whose masks have it, ascending
  int owner = -1;
  int users = 0;
};

using CoreCpus = std::vector<int>;

std::vector<CoreCpus> parse(const std::string& mask) {
  std::vector<CoreCpus> cores;
  std::istringstream text(mask);
  for (std::string core; text >> core;) {
    std::istringstream numbers(core);
    cores.emplace_back();
    for (std::string cpu; std::getline(numbers, cpu, ',');) cores.back().push_back(std::stoi(cpu));
  }
  return cores;
}

// The cores of all masks, and for each rank and core of its mask which that is.
struct Cores {
  std::vector<SharedCore> all;
  std::vector<std::vector<int>> of_rank;
};

Cores meet(const std::vector<std::vector<CoreCpus>>& masks) {
  std::map<int, int> leader;  // processor -> a lower one of the same core, or itself
  const auto find = [&](int cpu) {
    while (leader.at(cpu) != cpu) cpu = leader[cpu];
    return cpu;
  };
  for (const auto& mask : masks) {
    for (const CoreCpus& core : mask) {
      for (int cpu : core) leader.try_emplace(cpu, cpu);
      for (int cpu : core) {
        const int a = find(core[0]), b = find(cpu);
        leader[std::max(a, b)] = std::min(a, b);
      }
    }
  }
  Cores cores;
  std::map<int, int> number;  // by the lowest processor
  for (const auto& [cpu, lower] : leader)
    if (cpu == lower) number[cpu] = static_cast<int>(cores.all.size()), cores.all.push_back({cpu, {}, -1, 0});
  for (size_t rank = 0; rank < masks.size(); ++rank) {
    cores.of_rank.emplace_back();
    for (const CoreCpus& core : masks[rank]) {
      const int at = number.at(find(core[0]));
      cores.of_rank.back().push_back(at);
      auto& ranks = cores.all[static_cast<size_t>(at)].ranks;
      if (ranks.empty() || ranks.back() != static_cast<int>(rank)) ranks.push_back(static_cast<int>(rank));
    }
  }
  return cores;
}

// A first division: cores that the same ranks may use are dealt in runs, so that neighbours stay together.
std::vector<int> deal_runs(Cores& cores, size_t ranks) {
  std::vector<SharedCore*> order;
  for (SharedCore& core : cores.all) order.push_back(&core);
  std::stable_sort(order.begin(), order.end(), [](const SharedCore* a, const SharedCore* b) {
    return std::pair(a->ranks.size(), a->ranks) < std::pair(b->ranks.size(), b->ranks);
  });
  std::vector<int> held(ranks, 0);
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin; end < order.size() && order[end]->ranks == order[begin]->ranks; ++end) {
    }
    std::map<int, int> more;  // by rank
    for (size_t k = begin; k < end; ++k) {
      int least = order[begin]->ranks[0];
      for (int rank : order[begin]->ranks)
        if (held[rank] <= held[least]) least = rank;
      ++held[least];
      ++more[least];
    }
    size_t next = begin;
    for (auto [rank, count] : more)
      for (int k = 0; k < count; ++k) order[next++]->owner = rank;
  }
  return held;
}

// One core more for `poor`, from a rank that has at least two more, perhaps through others; false if there is none.
bool balance(Cores& cores, std::vector<int>& held, int poor) {
  std::vector<int> through(held.size(), -1);  // the core that a rank would give up
  std::vector<int> taker(held.size(), -1);
  std::vector<int> reached{poor};
  taker[poor] = poor;
  for (size_t at = 0; at < reached.size(); ++at) {
    for (int core : cores.of_rank[reached[at]]) {
      int rank = cores.all[core].owner;
      if (taker[rank] >= 0) continue;
      taker[rank] = reached[at];
      through[rank] = core;
      reached.push_back(rank);
      if (held[rank] < held[poor] + 2) continue;
      --held[rank];
      ++held[poor];
      for (; rank != poor; rank = taker[rank]) cores.all[through[rank]].owner = taker[rank];
      return true;
    }
  }
  return false;
}

}  // namespace

Topology deal_to_rank(Topology topology, int local_rank, int local_size, std::span<const std::string> masks) {
  TW_CHECK(local_rank >= 0 && local_rank < local_size, "rank ", local_rank, " of ", local_size);
  std::vector<std::vector<CoreCpus>> parsed;
  for (const std::string& mask : masks) parsed.push_back(parse(mask));
  if (masks.empty()) {
    if (local_size == 1 || !topology.whole_machine) return topology;
    parsed.assign(static_cast<size_t>(local_size), parse(mask_of(topology)));
  }
  TW_CHECK(static_cast<int>(parsed.size()) == local_size, masks.size(), " masks for ", local_size, " ranks");

  Cores cores = meet(parsed);
  std::vector<int> held = deal_runs(cores, parsed.size());
  for (bool better = true; better;) {
    better = false;
    for (int rank = 0; rank < local_size; ++rank) better |= balance(cores, held, rank);
  }
  // Where ranks are more than cores, some share.
  for (SharedCore& core : cores.all) core.users = 1;
  std::vector<int> shared_with(parsed.size(), -1);
  for (int rank = 0; rank < local_size; ++rank) {
    if (held[rank] > 0 || cores.of_rank[rank].empty()) continue;
    int least = cores.of_rank[rank][0];
    for (int core : cores.of_rank[rank])
      if (cores.all[core].users < cores.all[least].users) least = core;
    ++cores.all[least].users;
    shared_with[rank] = least;
  }
  std::vector<Core> mine;
  const std::vector<int>& places = cores.of_rank[local_rank];
  TW_CHECK(places.size() == topology.cores.size(), "a mask of ", places.size(), " cores for ", topology.cores.size());
  for (size_t k = 0; k < places.size(); ++k) {
    const SharedCore& core = cores.all[places[k]];
    if (core.owner != local_rank && places[k] != shared_with[local_rank]) continue;
    topology.shared |= core.users > 1;
    mine.push_back(std::move(topology.cores[k]));
  }
  topology.cores = std::move(mine);
  topology.domains = count_domains(topology.cores);
  return topology;
}

std::string mask_of(const Topology& topology) {
  std::string text;
  for (const Core& core : topology.cores) {
    if (!text.empty()) text += " ";
    for (size_t k = 0; k < core.cpus.size(); ++k) text += (k ? "," : "") + std::to_string(core.cpus[k]);
  }
  return text;
}

std::vector<CoreRange> deal_to_devices(int cores, int devices) {
  std::vector<CoreRange> ranges;
  for (int64_t d = 0; d < devices; ++d) {
    int first = static_cast<int>(d * cores / devices), next = static_cast<int>((d + 1) * cores / devices);
    ranges.push_back({first, std::max(1, next - first)});
  }
  return ranges;
}

}  // namespace tilewise::cpu
