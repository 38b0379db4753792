#include "runtime/cpu/memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <sys/mman.h>

#include "runtime/base/error.h"
#include "runtime/cpu/hollow.h"
#include "runtime/dump.h"
#include "runtime/progress.h"

namespace tilewise::cpu {

namespace {

constexpr size_t kPage = 4096, kHugePage = 2 << 20;
constexpr size_t kMapped = 256 << 10;      // bytes: from here on mapped, below from malloc
constexpr size_t kKeptPerClass = 1 << 20;  // bytes of small blocks kept for reuse in each class

alignas(64) char no_bytes[64];  // what zero bytes give

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Rounding wastes at most a sixteenth.
size_t large_capacity(size_t bytes) {
  return round_up(bytes, bytes < (1 << 20) ? kPage : bytes < (32 << 20) ? 16 * kPage : kHugePage);
}

// The largest cached block that serves for a need.
size_t most_for(size_t capacity) { return capacity + capacity / 16; }

// Blocks that all begin at a multiple of 2 MiB would meet in the same cache sets, element by element; each begins a few
// lines later than the one before.
constexpr int kColours = 8;
constexpr size_t kColourStep = 5 * 64;

size_t mapped_bytes(size_t capacity) { return round_up(capacity + kColours * kColourStep, kPage); }

void* map_block(size_t capacity, int colour) {
  size_t bytes = mapped_bytes(capacity), slack = bytes >= kHugePage ? kHugePage : 0;
  void* base = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(base);
  if (slack) {
    char* aligned = reinterpret_cast<char*>(round_up(reinterpret_cast<size_t>(begin), kHugePage));
    if (aligned > begin) munmap(begin, aligned - begin);
    munmap(aligned + bytes, begin + slack - aligned);
    begin = aligned;
    madvise(begin, bytes, MADV_HUGEPAGE);
  }
  return begin + colour * kColourStep;
}

void unmap_block(void* data, size_t capacity) {
  auto begin = reinterpret_cast<size_t>(data) / kPage * kPage;
  munmap(reinterpret_cast<void*>(begin), mapped_bytes(capacity));
}

std::string mebibytes(int64_t bytes) { return str((bytes + (1 << 19)) >> 20, " MiB"); }

}  // namespace

HostMemory::HostMemory(int64_t limit)
    : limit_(limit), cache_bound_(limit / 8), generation_(Progress::generation()) {
  use_.limit = limit;
}

MemoryUse HostMemory::use() const {
  std::lock_guard lock(lock_);
  return use_;
}

void HostMemory::reset_peak() {
  std::lock_guard lock(lock_);
  use_.peak = use_.current;
}

DeviceMemory::DeviceMemory(HostMemory& host, Queue& queue, int device)
    : host_(host), queue_(queue), device_(device) {
  std::lock_guard lock(host_.lock_);
  host_.devices_.push_back(this);
}

DeviceMemory::~DeviceMemory() {
  for (const Pending& pending : pending_) {
    for (const Event& event : pending.after) wait(event);
  }
  for (const Pending& pending : hollow_leaving_) {
    for (const Event& event : pending.after) wait(event);
  }
  wait(queue_.last());
  std::lock_guard lock(host_.lock_);
  settle_pending();
  free_hollow();
  drop_all_done();
  std::erase(host_.devices_, this);
}

// ---- Sizes ----------------------------------------------------------------------------------------------------------

int DeviceMemory::class_of(size_t bytes) {
  if (bytes <= 512) return static_cast<int>((bytes - 1) / 64);
  int doubling = std::bit_width(bytes - 1) - 1;  // bytes is in (2^doubling, 2^(doubling + 1)]
  size_t step = size_t{1} << (doubling - 2);
  return 8 + 4 * (doubling - 9) + static_cast<int>((bytes - 1 - (size_t{1} << doubling)) / step);
}

size_t DeviceMemory::class_bytes(int index) {
  if (index < 8) return 64 * (index + 1);
  int doubling = 9 + (index - 8) / 4;
  return (size_t{1} << doubling) + ((index - 8) % 4 + 1) * (size_t{1} << (doubling - 2));
}

// ---- Handing out ----------------------------------------------------------------------------------------------------

BufferView DeviceMemory::allocate(size_t bytes) {
  if (bytes == 0) return {no_bytes, 0, MemoryKind::kHost, device_};
  std::unique_lock lock(host_.lock_);
  if (!pending_.empty()) settle_pending();
  Block block = take_cached(bytes);
  std::vector<Event> after;
  if (!block.data && !pending_.empty()) block = take_pending(bytes, after);
  if (block.data) {
    host_.use_.cached -= block.capacity;
  } else {
    block = obtain(lock, bytes);
  }
  host_.use_.current += block.capacity;
  host_.use_.peak = std::max(host_.use_.peak, host_.use_.current);
  if (bytes > kSmall) large_in_use_[block.data] = block.capacity;
  lock.unlock();
  if (!after.empty()) queue_.submit([] {}, after);
  return {block.data, bytes, MemoryKind::kHost, device_};
}

int64_t DeviceMemory::block_bytes(size_t bytes) {
  if (bytes == 0) return 0;
  return static_cast<int64_t>(bytes <= kSmall ? class_bytes(class_of(bytes)) : large_capacity(bytes));
}

BufferView DeviceMemory::allocate_hollow(size_t bytes) {
  if (bytes == 0) return {no_bytes, 0, MemoryKind::kHost, device_};
  void* data = map_hollow(bytes);
  std::lock_guard lock(host_.lock_);
  hollow_[data] = bytes;
  return {data, bytes, MemoryKind::kHost, device_};
}

void DeviceMemory::free_hollow() {
  std::erase_if(hollow_leaving_, [](const Pending& pending) {
    const bool free = all_done(pending.after);
    if (free) unmap_hollow(pending.block.data, pending.block.capacity);
    return free;
  });
}

DeviceMemory::Block DeviceMemory::take_cached(size_t bytes) {
  if (bytes <= kSmall) {
    int index = class_of(bytes);
    if (small_[index].empty()) return {};
    void* data = small_[index].back();
    small_[index].pop_back();
    return {data, class_bytes(index)};
  }
  size_t need = large_capacity(bytes);
  auto found = large_.lower_bound(need);
  if (found == large_.end() || found->first > most_for(need)) return {};
  auto newest = std::prev(large_.upper_bound(found->first));  // its bytes are the likeliest to be in cache
  Block block = newest->second.block;
  large_.erase(newest);
  return block;
}

// The oldest of the large blocks that other queues still use, if there are kAhead of this size.
DeviceMemory::Block DeviceMemory::take_pending(size_t bytes, std::vector<Event>& after) {
  size_t need = large_capacity(bytes);
  auto oldest = pending_.end();
  int fitting = 0;
  for (auto it = pending_.begin(); bytes > kSmall && it != pending_.end(); ++it) {
    if (it->block.capacity < need || it->block.capacity > most_for(need)) continue;
    if (fitting++ == 0) oldest = it;
  }
  if (fitting < kAhead) return {};
  Block block = oldest->block;
  after = std::move(oldest->after);
  pending_.erase(oldest);
  return block;
}

// New memory from the system, after making room for it.
DeviceMemory::Block DeviceMemory::obtain(std::unique_lock<BriefLock>& lock, size_t bytes) {
  auto capacity = static_cast<size_t>(block_bytes(bytes));
  auto fits = [&](int64_t others) { return static_cast<int64_t>(capacity) <= host_.limit_ - others; };
  while (true) {
    if (fits(host_.use_.current + host_.use_.cached)) {
      Block block = new_block(capacity);
      if (block.data) return block;
    }
    bool dropped = false;
    for (DeviceMemory* device : host_.devices_) {
      device->settle_pending();
      dropped |= device->drop_all_done();
    }
    if (dropped) continue;
    bool waited = false;
    if (fits(host_.use_.current)) {
      for (DeviceMemory* device : host_.devices_) {
        if ((waited = device->wait_for_cached(lock))) break;
      }
    }
    if (waited) continue;
    throw Error(ErrorKind::kMemory,
                str("cannot allocate ", mebibytes(bytes), " of host memory: ", mebibytes(host_.use_.current),
                    " are in use and the limit is ", mebibytes(host_.limit_), " (TILEWISE_HOST_MEMORY)"));
  }
}

DeviceMemory::Block DeviceMemory::new_block(size_t capacity) {
  void* data;
  if (capacity >= kMapped) {
    data = map_block(capacity, host_.colour_);
    host_.colour_ = (host_.colour_ + 1) % kColours;
    dump_change("takes from", capacity);
  } else {
    data = std::aligned_alloc(64, capacity);
  }
  return {data, capacity};
}

// For TILEWISE_DUMP=memory; before `current` is changed.
void DeviceMemory::dump_change(const char* what, size_t capacity) const {
  dump(Stage::kMemory, [&] {
    return str(device_ < 0 ? std::string("host") : str("cpu:", device_), " ", what, " the system ", capacity, " bytes; ",
               host_.use_.current, " are in use, ", host_.use_.cached, " cached, at most ", host_.limit_);
  });
}

void DeviceMemory::free_block(const Block& block) {
  block.capacity >= kMapped ? unmap_block(block.data, block.capacity) : std::free(block.data);
}

// ---- Taking back ----------------------------------------------------------------------------------------------------

void DeviceMemory::release(const BufferView& buffer, std::span<const Event> after) {
  if (!buffer.data || buffer.data == no_bytes) return;
  // In a forked child the parent's blocks stay where they are: a thread that is gone may have held the lock.
  if (host_.generation_ != Progress::generation()) return;
  std::lock_guard lock(host_.lock_);
  if (!hollow_leaving_.empty()) free_hollow();
  if (const auto hollow = hollow_.find(buffer.data); hollow != hollow_.end()) {
    hollow_leaving_.push_back({{buffer.data, hollow->second}, {after.begin(), after.end()}});
    hollow_leaving_.back().after.push_back(queue_.last());
    hollow_.erase(hollow);
    return;
  }
  Block block{buffer.data, 0};
  if (buffer.bytes <= kSmall) {
    block.capacity = class_bytes(class_of(buffer.bytes));
  } else {
    auto found = large_in_use_.find(buffer.data);
    TW_CHECK(found != large_in_use_.end(), "a buffer was released that this device did not allocate");
    block.capacity = found->second;
    large_in_use_.erase(found);
  }
  host_.use_.current -= block.capacity;
  host_.use_.cached += block.capacity;
  std::vector<Event> others;
  for (const Event& event : after) {
    if (event.queue != queue_.id() && !done(event)) others.push_back(event);
  }
  if (others.empty()) {
    keep(block);
  } else {
    pending_.push_back({block, std::move(others)});
  }
  trim(host_.cache_bound_);
}

void DeviceMemory::settle_pending() {
  std::erase_if(pending_, [this](const Pending& pending) {
    bool free = all_done(pending.after);
    if (free) keep(pending.block);
    return free;
  });
}

void DeviceMemory::keep(const Block& block) {
  Cached cached{block, queue_.last(), ++host_.clock_};
  if (block.capacity > kSmall) {
    large_.emplace(block.capacity, cached);
    return;
  }
  auto& list = small_[class_of(block.capacity)];
  if ((list.size() + 1) * block.capacity <= kKeptPerClass) {
    list.push_back(block.data);
    return;
  }
  leaving_.push_back(cached);
  free_leaving();
}

void DeviceMemory::free_leaving() {
  while (!leaving_.empty() && done(leaving_.front().released)) {
    host_.use_.cached -= leaving_.front().block.capacity;
    free_block(leaving_.front().block);
    leaving_.pop_front();
  }
}

void DeviceMemory::trim(int64_t bound) {
  while (host_.use_.cached > bound && drop_oldest()) {
  }
}

// Gives the oldest large block that no work uses any more back to the system; false when there is none.
bool DeviceMemory::drop_oldest() {
  auto oldest = large_.end();
  for (auto it = large_.begin(); it != large_.end(); ++it) {
    if ((oldest == large_.end() || it->second.stamp < oldest->second.stamp) && done(it->second.released)) oldest = it;
  }
  if (oldest == large_.end()) return false;
  host_.use_.cached -= oldest->second.block.capacity;
  free_block(oldest->second.block);
  dump_change("gives back to", oldest->first);
  large_.erase(oldest);
  return true;
}

// Everything cached that no work uses any more.
bool DeviceMemory::drop_all_done() {
  bool dropped = false;
  while (drop_oldest()) dropped = true;
  if (!queue_.idle()) return dropped;
  free_leaving();
  for (int index = 0; index < kClasses; ++index) {
    for (void* data : small_[index]) {
      host_.use_.cached -= class_bytes(index);
      std::free(data);
      dropped = true;
    }
    small_[index].clear();
  }
  return dropped;
}

// Waits, without the lock, for one event that keeps a block of this device from being given back; false when there is
// none.
bool DeviceMemory::wait_for_cached(std::unique_lock<BriefLock>& lock) {
  std::vector<Event> events;
  if (!pending_.empty()) {
    events = pending_.front().after;
  } else if (!large_.empty()) {
    events = {large_.begin()->second.released};
  }
  if (events.empty()) return false;
  lock.unlock();
  for (const Event& event : events) wait(event);
  lock.lock();
  return true;
}

}  // namespace tilewise::cpu
