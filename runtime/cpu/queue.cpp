#include "runtime/cpu/queue.h"

#include <utility>

namespace tilewise::cpu {

CpuQueue::CpuQueue(Pool& pool, int first_worker, int width)
    : TaskSource(first_worker, width), pool_(pool), progress_(Progress::make()) {
  newest_ = before_first_ = new Task;
}

CpuQueue::~CpuQueue() {
  while (before_first_) delete std::exchange(before_first_, before_first_->next.load());
}

Event CpuQueue::submit(std::function<void()> task, std::span<const Event> after) {
  uint64_t sequence = submitted_.load(std::memory_order_relaxed) + 1;
  auto* linked = new Task{std::move(task), {}, sequence};
  for (const Event& event : after) {
    if (event.queue != id() && !done(event)) linked->after.push_back(event);
  }
  submitted_.store(sequence, std::memory_order_relaxed);
  newest_->next.store(linked, std::memory_order_release);
  newest_ = linked;
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  pool_.submitted(*this);
  return {id(), sequence};
}

// Only the claimant may call this.
bool CpuQueue::first_is_ready() const {
  Task* first = before_first_->next.load(std::memory_order_acquire);
  return first && all_done(first->after);
}

// True too while another looks: who asked may have to be there if that one goes away (see Pool::park).
bool CpuQueue::might_run() {
  if (waiting_.load(std::memory_order_seq_cst) == 0) return false;
  int claim = kFree;
  if (!claim_.compare_exchange_strong(claim, kLooking, std::memory_order_seq_cst)) return claim == kLooking;
  bool ready = first_is_ready();
  claim_.store(kFree, std::memory_order_seq_cst);
  return ready;
}

bool CpuQueue::run_one() {
  if (waiting_.load(std::memory_order_relaxed) == 0) return false;
  int claim = kFree;
  if (!claim_.compare_exchange_strong(claim, kLooking, std::memory_order_seq_cst)) return false;
  if (!first_is_ready()) {
    claim_.store(kFree, std::memory_order_seq_cst);
    return false;
  }
  claim_.store(kRunning, std::memory_order_seq_cst);
  waiting_.fetch_sub(1, std::memory_order_seq_cst);
  Task* task = before_first_->next.load(std::memory_order_acquire);
  delete std::exchange(before_first_, task);
  pool_.wake_for_rest();
  try {
    task->body();
  } catch (...) {
    keep_failure(task->sequence);
  }
  task->body = nullptr;  // what the task held is gone before it counts as finished
  progress_.advance(task->sequence);
  claim_.store(kFree, std::memory_order_seq_cst);
  return true;
}

void CpuQueue::keep_failure(uint64_t sequence) {
  std::lock_guard lock(failures_mutex_);
  failures_.push_back({{id(), sequence}, std::current_exception()});
  Progress::note_failure();
}

std::vector<Failure> CpuQueue::take_failures() {
  std::lock_guard lock(failures_mutex_);
  return std::exchange(failures_, {});
}

}  // namespace tilewise::cpu
