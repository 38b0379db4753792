// The in-order queue of a CPU device, drained by the workers of the pool.
//
// submit() links a task behind the others; a worker that finds the first one's events done claims the queue, runs that
// task and lets go. One thread submits at a time (the engine's); any worker may drain. Work that the caller ran itself,
// because the queue was idle, is counted through finish_inline() and never takes a worker's time.
#pragma once

#include <mutex>

#include "runtime/cpu/pool.h"

namespace tilewise::cpu {

class CpuQueue final : public Queue, public TaskSource {
 public:
  CpuQueue(Pool& pool, int first_worker, int width);
  ~CpuQueue() override;

  int id() const override { return progress_.id(); }
  Event submit(std::function<void()> task, std::span<const Event> after) override;
  Event last() const override { return {id(), submitted_.load(std::memory_order_relaxed)}; }
  bool idle() const override { return progress_.reached(submitted_.load(std::memory_order_relaxed)); }
  std::vector<Failure> take_failures() override;

  // Whether a task submitted now could begin at once.
  bool ready_for(std::span<const Event> after) const { return idle() && all_done(after); }
  // Runs body here and now; only when ready_for() holds.
  template <class Body>
  Event run_inline(const Body& body) {
    uint64_t sequence = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(sequence, std::memory_order_relaxed);
    try {
      body();
    } catch (...) {
      keep_failure(sequence);
    }
    progress_.advance_unseen(sequence);
    return {id(), sequence};
  }

  bool run_one() override;
  bool might_run() override;

 private:
  struct Task {
    std::function<void()> body;
    std::vector<Event> after;
    uint64_t sequence = 0;
    std::atomic<Task*> next{nullptr};
  };
  enum Claim : int { kFree, kLooking, kRunning };

  bool first_is_ready() const;
  void keep_failure(uint64_t sequence);

  Pool& pool_;
  Progress& progress_;
  alignas(64) std::atomic<uint64_t> submitted_{0};
  Task* newest_;                 // the submitter's end
  alignas(64) Task* before_first_;  // a task already run; the claimant's end
  std::atomic<int> waiting_{0};  // tasks linked and not yet begun
  std::atomic<int> claim_{kFree};
  std::mutex failures_mutex_;
  std::vector<Failure> failures_;
};

}  // namespace tilewise::cpu
