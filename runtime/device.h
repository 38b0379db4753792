// The device seam: what the planner asks of a CPU or a GPU.
//
// Every device works through in-order queues, a CPU too. Work is submitted in the order of the operation stream and
// waits, on its queue, for events of other queues; an event names a queue and how far it must have come. Since every
// event belongs to work submitted earlier, no order of execution can deadlock. Submitting never waits for the work.
// A CPU device runs small work at once in the caller when its queue is empty and everything waited for is done.
//
// Owned by the Machine, for the life of the process. Submission comes from one thread at a time (the engine's);
// done() and wait() may be called from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/buffer_view.h"
#include "runtime/launch.h"

namespace tilewise {

// "Queue `queue` has finished its first `sequence` tasks." queue < 0: nothing to wait for.
struct Event {
  int32_t queue = -1;
  uint64_t sequence = 0;
};
bool done(Event event);
void wait(Event event);  // polls at most 100 us, then sleeps
bool wait_for(Event event, std::chrono::milliseconds limit);  // true when it is done

// A failed task. It is kept by the queue under its sequence number; the planner turns it into poisoned outputs.
struct Failure {
  Event event;
  std::exception_ptr error;
};

class Queue {
 public:
  virtual ~Queue() = default;
  virtual int id() const = 0;
  // Runs `task` after all earlier tasks of this queue and after the events. A task that throws counts as finished;
  // the exception is kept for take_failures().
  virtual Event submit(std::function<void()> task, std::span<const Event> after) = 0;
  virtual Event last() const = 0;  // of the newest task submitted
  virtual bool idle() const = 0;
  virtual std::vector<Failure> take_failures() = 0;
};

// A queue with a thread of its own that sleeps while there is nothing to do: for communication.
std::unique_ptr<Queue> make_thread_queue(const std::string& name);

// Elements moved from one place to another of the same or another memory that the device can reach: an affine piece.
struct CopyPiece {
  Dims shape;
  Dims to_strides, from_strides;  // bytes
  int64_t to_offset = 0, from_offset = 0;
  int64_t itemsize = 0;
};

struct DeviceInfo {
  std::string name;     // "cpu:0", "cuda:1"
  std::string detail;   // cores or model, memory
  MemoryKind memory = MemoryKind::kHost;
  int memory_space = 0;  // devices with equal numbers share physical memory
  int width = 1;         // cores; 1 for a GPU
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Queue& queue() = 0;

  // Stream-ordered memory: usable by work submitted from now on; 64-byte aligned, contents undefined. Throws
  // Error(kMemory) when there is none. Zero bytes give a non-null pointer.
  virtual BufferView allocate(size_t bytes) = 0;
  // Memory that holds nothing, for work that must be issued all the same: what is read from it is anything.
  virtual BufferView allocate_hollow(size_t bytes) = 0;
  // What allocate() takes of the limit, rounding included.
  virtual int64_t block_bytes(size_t bytes) const = 0;
  // Gives the memory back for work of this device submitted later; `after` are events of other queues that still use it.
  virtual void release(BufferView buffer, std::span<const Event> after = {}) = 0;

  // Runs the installed interpreter (or the kernel made from the program). Everything that `launch` points to is copied,
  // but for the Program, which the caller keeps alive through `keep`.
  virtual Event run(const Launch& launch, std::shared_ptr<const void> keep, std::span<const Event> after) = 0;
  virtual Event copy(BufferView to, BufferView from, std::vector<CopyPiece> pieces, std::span<const Event> after) = 0;
  // A library call or other host-side kernel: body gets the device's cores. On a GPU it enqueues to the native stream.
  // `cost` is a rough number of nanoseconds on one core: a CPU device runs what is cheap in the caller.
  virtual Event call(std::function<void(Parallel&)> body, std::span<const Event> after, double cost) = 0;
};

struct MemoryUse {
  int64_t current = 0, peak = 0, cached = 0;  // bytes: handed out now, at most since the last reset, kept for reuse
  int64_t limit = 0;
};

// The devices of this process, from TILEWISE_DEVICES ("cpu", "cpu:3"); found once, never destroyed.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual std::span<Device* const> devices() const = 0;
  // The host as a device for small work of the leader: inline, one core.
  virtual Device& host() = 0;
  virtual MemoryUse memory_use(int memory_space) const = 0;
  virtual void reset_peaks() = 0;
  virtual std::string describe() const = 0;  // for `tilewise info`
};
// Throws Error(kValue) naming the variable, its value and what is allowed when `devices` is malformed.
// local_rank of local_size: the cores that ranks of one host may use are divided among them.
// local_masks: the masks of these ranks; without them, masks overlap if ours is the whole machine.
// The rank's memory is its even share of what the host offers.
// A second call makes a second machine (tests do); the first stays as it is.
Machine& make_machine(const std::string& devices, int local_rank, int local_size,
                      std::span<const std::string> local_masks = {});
Machine& machine();  // the newest one made

// What the ranks of a host tell each other before they make their machines.
struct HostOffer {
  std::string mask;            // the cores that this process may use
  int64_t memory_limit = 0;    // bytes that all ranks of the host may hold together
};
HostOffer host_offer();

// In the child after fork, where no worker thread exists: forgets the machine, so that another can be made. Whatever
// belongs to the old one may be released (nothing happens) and its finished values read; waiting for others throws.
void after_fork_child();

}  // namespace tilewise
