// The machine made of CPU devices: finds the cores, deals them, owns pool, memory and devices.

#include <charconv>
#include <optional>
#include <unistd.h>
#include <utility>

#include "runtime/base/env.h"
#include "runtime/base/error.h"
#include "runtime/base/park.h"
#include "runtime/cpu/device.h"

namespace tilewise {

namespace {

using namespace tilewise::cpu;

constexpr int kMaxDevices = 1024;

std::atomic<Machine*> current{nullptr};

// What host_offer() found, for the machine made next: finding it takes milliseconds.
std::optional<Topology> asked;

Topology take_topology() {
  std::optional<Topology> found = std::exchange(asked, std::nullopt);
  return found ? std::move(*found) : find_topology();
}

class CpuMachine final : public Machine {
 public:
  CpuMachine(int devices, Topology topology, int64_t memory_limit)
      : topology_(std::move(topology)), memory_(memory_limit),
        pool_(Pool::make(topology_.cores, !topology_.shared)) {
    int cores = static_cast<int>(topology_.cores.size());
    if (devices == 0) devices = topology_.domains;
    std::vector<CoreRange> ranges = deal_to_devices(cores, devices);
    for (int k = 0; k < devices; ++k) add(str("cpu:", k), k, ranges[k]);
    host_ = std::make_unique<CpuDevice>(info("host", {0, 1}), -1, pool_, CoreRange{0, cores}, memory_);
    for (auto& device : devices_) views_.push_back(device.get());
  }

  std::span<Device* const> devices() const override { return views_; }
  Device& host() override { return *host_; }
  MemoryUse memory_use(int) const override { return memory_.use(); }
  void reset_peaks() override { memory_.reset_peak(); }

  std::string describe() const override {
    std::string text = str("processor: ", topology_.model, ", ", topology_.cores.size(), " cores in ", topology_.domains,
                           topology_.domains == 1 ? " memory domain" : " memory domains",
                           topology_.shared ? ", shared with others" : "", "\n",
                           "host memory: at most ", memory_.limit() >> 20, " MiB of ", topology_.memory >> 20, " MiB\n");
    for (const auto& device : devices_) text += str(device->info().name, ": ", device->info().detail, "\n");
    return text;
  }

 private:
  void add(const std::string& name, int index, CoreRange range) {
    devices_.push_back(std::make_unique<CpuDevice>(info(name, range), index, pool_, range, memory_));
  }

  DeviceInfo info(const std::string& name, CoreRange range) const {
    std::string cores;
    for (int k = range.first; k < range.first + range.count; ++k) {
      cores += str(cores.empty() ? "" : ",", topology_.cores[k].number);
    }
    return {name, str(range.count == 1 ? "core " : "cores ", cores), MemoryKind::kHost, 0, range.count};
  }

  Topology topology_;
  HostMemory memory_;
  Pool& pool_;
  std::vector<std::unique_ptr<CpuDevice>> devices_;
  std::vector<Device*> views_;
  std::unique_ptr<CpuDevice> host_;
};

// "cpu" gives 0 (one device a memory domain), "cpu:3" three.
int parse_devices(const std::string& text) {
  auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kValue, str("TILEWISE_DEVICES='", text, "': ", why,
                                       "; allowed are 'cpu' and 'cpu:N' with N from 1 to ", kMaxDevices));
  };
  if (text.empty() || text == "cpu") return 0;
  if (text.rfind("cuda", 0) == 0) refuse("this build has no CUDA back end");
  int count = 0;
  const char* end = text.data() + text.size();
  bool cpu = text.rfind("cpu:", 0) == 0;
  if (!cpu) refuse("unknown device");
  auto [stop, error] = std::from_chars(text.data() + 4, end, count);
  if (error != std::errc() || stop != end || count < 1 || count > kMaxDevices) refuse("not a number of devices");
  return count;
}

}  // namespace

Machine& make_machine(const std::string& devices, int local_rank, int local_size,
                      std::span<const std::string> local_masks) {
  int count = parse_devices(devices);
  Topology topology = deal_to_rank(take_topology(), local_rank, local_size, local_masks);
  const int64_t memory_limit = settings().host_memory.of(topology.memory) / local_size;
  // Where threads outnumber cores, one that polls keeps another from running.
  Poll::set_limit(std::chrono::microseconds(topology.shared ? 5 : 100));
  auto* made = new CpuMachine(count, std::move(topology), memory_limit);
  current.store(made);
  return *made;
}

Machine& machine() {
  Machine* made = current.load();
  TW_CHECK(made != nullptr, "no machine was made");
  return *made;
}

HostOffer host_offer() {
  asked = find_topology();
  return {mask_of(*asked), settings().host_memory.of(asked->memory)};
}

void after_fork_child() {
  Progress::abandon_all();
  current.store(nullptr);
}

}  // namespace tilewise
