// A CPU device: some cores of the process behind the device seam; and the host, the same with one core.
//
// Work that is estimated to take a few microseconds runs in the caller when the queue is idle and everything waited for
// is done; anything else becomes a task of the queue. Owned by the machine; see runtime/device.h for who may call what.
#pragma once

#include <algorithm>

#include "runtime/cpu/memory.h"
#include "runtime/cpu/queue.h"
#include "runtime/serial.h"

namespace tilewise::cpu {

class CpuDevice final : public Device {
 public:
  // `index` is the number among the machine's devices, -1 for the host, whose work always runs in the caller if it can.
  CpuDevice(DeviceInfo info, int index, Pool& pool, CoreRange workers, HostMemory& memory);

  const DeviceInfo& info() const override { return info_; }
  Queue& queue() override { return queue_; }
  BufferView allocate(size_t bytes) override { return memory_.allocate(bytes); }
  BufferView allocate_hollow(size_t bytes) override { return memory_.allocate_hollow(bytes); }
  int64_t block_bytes(size_t bytes) const override { return DeviceMemory::block_bytes(bytes); }
  void release(BufferView buffer, std::span<const Event> after) override { memory_.release(buffer, after); }
  Event run(const Launch& launch, std::shared_ptr<const void> keep, std::span<const Event> after) override;
  Event copy(BufferView to, BufferView from, std::vector<CopyPiece> pieces, std::span<const Event> after) override;
  Event call(std::function<void(Parallel&)> body, std::span<const Event> after, double cost) override;

 private:
  class PoolParallel final : public Parallel {
   public:
    PoolParallel(Pool& pool, CoreRange workers) : pool_(pool), workers_(workers) {}
    // Two at least where there are two workers: a kernel that cuts its work lets idle ones help a device of one core.
    int width() const override { return std::max(workers_.count, std::min(2, pool_.workers())); }
    void run(int64_t count, const std::function<void(int64_t)>& body) override {
      pool_.parallel_for(workers_.first, workers_.count, count, body);
    }

   private:
    Pool& pool_;
    CoreRange workers_;
  };

  bool runs_inline(double cost, std::span<const Event> after) const;

  DeviceInfo info_;
  bool host_;
  CpuQueue queue_;
  DeviceMemory memory_;
  SerialParallel serial_;
  PoolParallel cores_;
  Parallel& parallel_;  // what tasks of the queue get
};

}  // namespace tilewise::cpu
