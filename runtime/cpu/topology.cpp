#include "runtime/cpu/topology.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <hwloc.h>
#include <memory>
#include <sched.h>
#include <set>
#include <thread>
#include <unistd.h>

#include "runtime/base/error.h"

namespace tilewise::cpu {

namespace {

struct Hwloc {
  hwloc_topology_t topology = nullptr;
  // Caches, groups and devices are of no interest here, and leaving them out makes loading quick.
  Hwloc() {
    if (hwloc_topology_init(&topology) != 0) {
      topology = nullptr;
      return;
    }
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING | HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) != 0) {
      hwloc_topology_destroy(topology);
      topology = nullptr;
    }
  }
  ~Hwloc() {
    if (topology) hwloc_topology_destroy(topology);
  }
};

// A mask of any length, as the system gives it.
std::vector<int> allowed_cpus() {
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(capacity), [](cpu_set_t* s) { CPU_FREE(s); });
    size_t bytes = CPU_ALLOC_SIZE(capacity);
    if (sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<int> cpus;
    for (int cpu = 0; cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.push_back(cpu);
    }
    return cpus;
  }
  return {};
}

// The host's memory, or the control group's limit where that is less.
int64_t host_memory() {
  int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    int64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

std::vector<Core> cores_by_hwloc(std::string& model) {
  std::vector<Core> cores;
  Hwloc hwloc;
  if (!hwloc.topology) return cores;
  std::vector<int> allowed = allowed_cpus();
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(hwloc.topology, HWLOC_OBJ_CORE, object)) != nullptr) {
    Core core;
    core.number = static_cast<int>(object->logical_index);
    if (object->nodeset && !hwloc_bitmap_iszero(object->nodeset)) core.domain = hwloc_bitmap_first(object->nodeset);
    for (int cpu : allowed) {
      if (hwloc_bitmap_isset(object->cpuset, cpu)) core.cpus.push_back(cpu);
    }
    if (!core.cpus.empty()) cores.push_back(std::move(core));
  }
  const char* text = hwloc_obj_get_info_by_name(hwloc_get_root_obj(hwloc.topology), "CPUModel");
  if (text) model = text;
  return cores;
}

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "";
}

}  // namespace

int count_domains(const std::vector<Core>& cores) {
  std::set<int> domains;
  for (const Core& core : cores) domains.insert(core.domain);
  return std::max<int>(1, domains.size());
}

Topology find_topology() {
  Topology found;
  found.cores = cores_by_hwloc(found.model);
  if (found.model.empty()) found.model = processor_model();
  if (found.cores.empty()) {  // hwloc knows no cores here (some virtual machines): each processor is one
    for (int cpu : allowed_cpus()) found.cores.push_back({cpu, 0, {cpu}});
  }
  if (found.cores.empty()) found.cores.push_back({0, 0, {0}});
  found.domains = count_domains(found.cores);
  size_t cpus = 0;
  for (const Core& core : found.cores) cpus += core.cpus.size();
  found.whole_machine = static_cast<long>(cpus) >= sysconf(_SC_NPROCESSORS_ONLN);
  found.memory = host_memory();
  return limit_to_quota(std::move(found), processor_quota());
}

double processor_quota() {
  double quota = 0, period = 0;
  std::ifstream current("/sys/fs/cgroup/cpu.max");  // "200000 100000", or "max 100000"
  if (current >> quota >> period && period > 0) return quota / period;
  std::ifstream old_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), old_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (old_quota >> quota && old_period >> period && quota > 0 && period > 0) return quota / period;
  return 0;
}

Topology limit_to_quota(Topology topology, double processors) {
  auto paid = static_cast<size_t>(std::ceil(processors));
  if (processors <= 0 || paid >= topology.cores.size()) return topology;
  topology.cores.resize(paid);
  topology.domains = count_domains(topology.cores);
  topology.shared = true;
  return topology;
}

bool bind_this_thread(const Core& core) {
  int capacity = core.cpus.empty() ? 1 : core.cpus.back() + 1;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(capacity), [](cpu_set_t* s) { CPU_FREE(s); });
  size_t bytes = CPU_ALLOC_SIZE(capacity);
  CPU_ZERO_S(bytes, set.get());
  for (int cpu : core.cpus) CPU_SET_S(cpu, bytes, set.get());
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

}  // namespace tilewise::cpu
