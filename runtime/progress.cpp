#include "runtime/progress.h"

#include "runtime/base/error.h"
#include "runtime/base/park.h"

namespace tilewise {

namespace {

constexpr int kMaxQueues = 1 << 16;
std::atomic<Progress*> queues[kMaxQueues];
std::atomic<int> queue_count{0};
std::atomic<ProgressListener*> listeners{nullptr};
std::atomic<int> fork_generation{0};
std::atomic<bool> has_failed{false}, has_conditions{false}, has_been_told{false};

}  // namespace

Progress::Progress(int id) : id_(id), generation_(generation()) {}

Progress& Progress::make() {
  int id = queue_count.fetch_add(1);
  TW_CHECK(id < kMaxQueues, "more than ", kMaxQueues, " queues were made");
  auto* progress = new Progress(id);
  queues[id].store(progress, std::memory_order_release);
  return *progress;
}

Progress& Progress::of(int queue) {
  Progress* progress = queue >= 0 && queue < kMaxQueues ? queues[queue].load(std::memory_order_acquire) : nullptr;
  TW_CHECK(progress != nullptr, "no queue has the number ", queue);
  return *progress;
}

void Progress::listen(ProgressListener& listener) {
  listener.next_ = listeners.load();
  while (!listeners.compare_exchange_weak(listener.next_, &listener)) {
  }
}

void Progress::abandon_all() {
  fork_generation.fetch_add(1);
  listeners.store(nullptr);
}

bool Progress::failed() { return has_failed.load(std::memory_order_acquire); }

void Progress::note_failure() { has_failed.store(true, std::memory_order_release); }

bool Progress::met_conditions() { return has_conditions.load(std::memory_order_acquire); }

bool Progress::told_of_conditions() { return has_been_told.load(std::memory_order_acquire); }

void Progress::note_conditions() { has_conditions.store(true, std::memory_order_release); }

void Progress::note_told_of_conditions() { has_been_told.store(true, std::memory_order_release); }

void Progress::forget_conditions() {
  has_conditions.store(false, std::memory_order_release);
  has_been_told.store(false, std::memory_order_release);
}

int Progress::generation() { return fork_generation.load(std::memory_order_relaxed); }

// The stores and loads of finished_ and sleepers_ here and in wait() are sequentially consistent: either the sleeper
// sees the new count, or we see the sleeper.
void Progress::advance(uint64_t sequence) {
  finished_.store(sequence, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) {
    bell_.fetch_add(1);
    futex_wake_all(bell_);
  }
  for (ProgressListener* l = listeners.load(std::memory_order_acquire); l; l = l->next_) l->progressed();
}

void Progress::wait(uint64_t sequence) {
  while (!wait_for(sequence, std::chrono::hours(1))) {
  }
}

bool Progress::wait_for(uint64_t sequence, std::chrono::milliseconds limit) {
  if (reached(sequence)) return true;
  const auto end = std::chrono::steady_clock::now() + limit;
  for (Poll poll; !reached(sequence);) {
    if (generation_ != generation()) {
      throw Error(ErrorKind::kRuntime, "this value was still being computed when the process forked; compute it "
                                       "before the fork, or start processes with 'spawn'");
    }
    if (poll.again()) continue;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    while (true) {
      uint32_t bell = bell_.load();
      if (finished_.load(std::memory_order_seq_cst) >= sequence) break;
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= std::chrono::nanoseconds(0)) {
        sleepers_.fetch_sub(1);
        return false;
      }
      futex_wait_for(bell_, bell, left);
    }
    sleepers_.fetch_sub(1);
  }
  return true;
}

bool done(Event event) { return event.queue < 0 || Progress::of(event.queue).reached(event.sequence); }

void wait(Event event) {
  if (event.queue >= 0) Progress::of(event.queue).wait(event.sequence);
}

bool wait_for(Event event, std::chrono::milliseconds limit) {
  return event.queue < 0 || Progress::of(event.queue).wait_for(event.sequence, limit);
}

bool all_done(std::span<const Event> events) {
  for (const Event& event : events) {
    if (!done(event)) return false;
  }
  return true;
}

}  // namespace tilewise
