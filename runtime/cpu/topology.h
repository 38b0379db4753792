// The cores this process may use, and how they are dealt.
//
// hwloc finds the physical cores within the process's affinity mask and the memory domain of each. Where several ranks
// of one host may use the same cores these are divided among them; what is left is dealt to the logical devices in
// order of the topology, so that neighbours share a memory domain. Plain values; no state is kept.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tilewise::cpu {

struct Core {
  int number = 0;         // logical number of the core in the machine
  int domain = 0;         // memory domain (NUMA node)
  std::vector<int> cpus;  // the operating system's processors of this core that may be used
};

struct Topology {
  std::vector<Core> cores;       // that this process may use
  int domains = 1;               // memory domains among them
  bool whole_machine = false;    // the affinity mask excludes nothing
  bool shared = false;           // others use these very cores: threads are not bound to them
  int64_t memory = 0;            // bytes of the host, or of the control group where that is less
  std::string model;             // of the processor
};

// What this process may use, before any dealing to ranks.
Topology find_topology();

// A container's share of processor time, in processors, which the affinity mask does not show; 0 where there is none.
double processor_quota();
// As many cores as the quota pays for. Which they are is the system's choice: they are shared.
Topology limit_to_quota(Topology topology, double processors);

int count_domains(const std::vector<Core>& cores);

// The cores as text, to be exchanged among the ranks of a host: "0,4 1,5" is two cores of two processors each.
std::string mask_of(const Topology& topology);

// This rank's part. `masks` has mask_of() of each local rank, in order; when it is empty, masks are taken to be equal if
// ours is the whole machine, else disjoint. Each core goes to one rank whose mask has it, as evenly as the masks allow.
// Ranks that get none share one.
Topology deal_to_rank(Topology topology, int local_rank, int local_size, std::span<const std::string> masks = {});

// [first, first + count) of the process's cores for each of `devices` devices; devices share cores where they are more.
struct CoreRange {
  int first = 0, count = 0;
};
std::vector<CoreRange> deal_to_devices(int cores, int devices);

// Keeps the calling thread on the core; false where the system refuses.
bool bind_this_thread(const Core& core);

}  // namespace tilewise::cpu
