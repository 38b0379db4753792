// Host memory for the CPU devices: stream-ordered blocks, reused by size, with statistics and a limit.
//
// Each device has its own cache. A block given back may be handed out again by the same device at once, since later work
// of that device runs after the work that still uses the block; before anyone else gets it or it returns to the system,
// the device's queue must have come that far. Where other queues still use a block, new memory is taken at first; once
// some such blocks have gathered, the oldest is handed out and the device's later work waits for them. So a program that
// runs ahead of its devices reuses memory as one in step with them does. Small blocks come from malloc in size classes; large ones are
// mapped, aligned for huge pages and untouched, so that the workers' first touch places the pages. The cache is
// bounded; what exceeds the bound goes back to the system, oldest first.
//
// One HostMemory a machine, one DeviceMemory a device. Thread-safe (one lock a machine). A DeviceMemory that goes waits for
// what still uses its blocks and frees what it caches.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/park.h"
#include "runtime/device.h"

namespace tilewise::cpu {

class DeviceMemory;

class HostMemory {
 public:
  explicit HostMemory(int64_t limit);
  int64_t limit() const { return limit_; }
  MemoryUse use() const;
  void reset_peak();

 private:
  friend class DeviceMemory;

  int64_t limit_, cache_bound_;
  int generation_;  // of forks
  mutable BriefLock lock_;
  MemoryUse use_;
  uint64_t clock_ = 0;  // counts releases
  int colour_ = 0;      // of the next mapped block, see map_block()
  std::vector<DeviceMemory*> devices_;
};

class DeviceMemory {
 public:
  // `queue` orders the work of the device, -1 in `device` stands for the host.
  DeviceMemory(HostMemory& host, Queue& queue, int device);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;

  // 64-byte aligned, contents undefined. Throws Error(kMemory) over the limit.
  BufferView allocate(size_t bytes);
  void release(const BufferView& buffer, std::span<const Event> after);
  // Holds nothing and counts for nothing; see hollow.h.
  BufferView allocate_hollow(size_t bytes);
  static int64_t block_bytes(size_t bytes);

 private:
  struct Block {
    void* data = nullptr;
    size_t capacity = 0;
  };
  struct Cached {
    Block block;
    Event released;      // when all work of the device that may use the block has run
    uint64_t stamp = 0;  // the host's clock at the release
  };
  struct Pending {
    Block block;
    std::vector<Event> after;
  };
  static constexpr size_t kSmall = 32 << 10;  // bytes: up to here size classes
  static constexpr int kAhead = 2;            // blocks of about one size that other queues may still use
  static constexpr int kClasses = 8 + 4 * 6;  // steps of 64 up to 512, then four to a doubling

  static int class_of(size_t bytes);
  static size_t class_bytes(int index);

  Block take_cached(size_t bytes);
  Block take_pending(size_t bytes, std::vector<Event>& after);
  Block obtain(std::unique_lock<BriefLock>& lock, size_t bytes);
  Block new_block(size_t capacity);
  void free_block(const Block& block);
  void dump_change(const char* what, size_t capacity) const;
  void keep(const Block& block);
  void free_leaving();
  void settle_pending();
  void trim(int64_t bound);
  bool drop_oldest();
  bool drop_all_done();
  bool wait_for_cached(std::unique_lock<BriefLock>& lock);
  void free_hollow();

  HostMemory& host_;
  Queue& queue_;
  int device_;
  std::array<std::vector<void*>, kClasses> small_;
  std::multimap<size_t, Cached> large_;                // by capacity
  std::unordered_map<void*, size_t> large_in_use_;     // capacity of what is handed out
  std::vector<Pending> pending_;                       // other queues may still use these; oldest first
  std::unordered_map<void*, size_t> hollow_;           // bytes of what is handed out
  std::vector<Pending> hollow_leaving_;
  std::deque<Cached> leaving_;                         // small ones on their way back to malloc
};

}  // namespace tilewise::cpu
