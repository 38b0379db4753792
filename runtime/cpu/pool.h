// The workers of this process: one thread a core, shared by all its logical devices.
//
// A worker looks for work in this order: the head of a queue of a device it belongs to, an open loop, the head of any
// other queue. So there are never more running threads than cores, however many devices there are, and idle cores help
// where others are busy. A loop's pieces are first divided evenly among the workers of its device (who get the same
// part of the same data again and again), then taken from whoever is behind. Idle workers poll at most 100 us, then
// park; whoever finds more ready work than it takes wakes one more.
//
// Threads start when first needed and live as long as the process, as the pool does. Bodies of loops may open loops; loops may be
// opened by any thread, and the opener takes part. A task must not wait for an event (its queue does that), since it
// occupies a worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/cpu/topology.h"
#include "runtime/progress.h"

namespace tilewise::cpu {

// A queue as the workers see it.
class TaskSource {
 public:
  TaskSource(int first_worker, int width) : first_worker_(first_worker), width_(width) {}
  virtual ~TaskSource() = default;
  // Runs one task if the next one is ready and no other worker runs one of this source.
  virtual bool run_one() = 0;
  // Whether run_one() might find something; never wrongly false.
  virtual bool might_run() = 0;

  bool is_home(int worker) const { return worker >= first_worker_ && worker < first_worker_ + width_; }
  int first_worker() const { return first_worker_; }
  int width() const { return width_; }

 private:
  int first_worker_, width_;
};

class Pool final : private ProgressListener {
 public:
  // bind: keep each worker on its core. Never destroyed: any queue's progress may call it.
  static Pool& make(std::vector<Core> cores, bool bind);

  int workers() const { return static_cast<int>(workers_.size()); }
  // Before the first work.
  void add_source(TaskSource& source) { sources_.push_back(&source); }

  // A source has a new task.
  void submitted(TaskSource& source);
  // The calling worker is about to be busy: another may be needed for the rest.
  void wake_for_rest();

  // body(i) for each i in [0, count), in `width` contiguous parts for the workers from `first_worker`. Returns when all
  // are done; the first exception of a body is thrown, the pieces not yet begun are then left out.
  void parallel_for(int first_worker, int width, int64_t count, const std::function<void(int64_t)>& body);

 private:
  enum State : uint32_t { kBusy, kPolling, kParked };
  struct alignas(64) Worker {
    std::atomic<uint32_t> state{kPolling};
    std::vector<TaskSource*> home, away;  // sources, in the order in which it looks
    std::thread thread;
  };
  struct Loop;

  Pool(std::vector<Core> cores, bool bind);
  void start();
  void work(int index);
  bool work_once(int index);
  bool help(int index);
  bool home_calls(const Worker& worker) const;
  bool anything_to_do() const;
  void park(Worker& worker);
  bool wake(Worker& worker);
  void wake_one(int first, int width);
  void wake_helpers(const Loop& loop);
  void progressed() override;

  Loop* take_loop();
  void run_pieces(Loop& loop, int start, const Worker* helper);
  void open(Loop& loop);
  void close(Loop& loop);

  std::vector<Core> cores_;
  bool bind_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<TaskSource*> sources_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::atomic<uint64_t> free_loops_, open_loops_{0};  // bit per loop
  std::atomic<int> parked_{0};
  std::atomic<bool> started_{false};
  std::mutex start_mutex_;
};

}  // namespace tilewise::cpu
