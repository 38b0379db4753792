#include "runtime/cpu/pool.h"

#include <bit>
#include <pthread.h>
#include <signal.h>
#include <string>

#include "runtime/base/park.h"

namespace tilewise::cpu {

namespace {

constexpr int kMaxLoops = 64;  // open at once; any more run serially in their opener

// The worker that the calling thread is, of which pool.
thread_local const Pool* own_pool = nullptr;
thread_local int own_index = 0;

}  // namespace

// A loop in progress. The Pool keeps a fixed number, used again and again. Helpers come and go by counting themselves in
// `state`; what the other members hold may be looked at only by one who counted himself while the loop was open.
struct Pool::Loop {
  static constexpr uint32_t kOpen = 1u << 31, kOwnerParked = 1u << 30, kHelpers = kOwnerParked - 1;
  struct alignas(64) Part {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  std::atomic<uint32_t> state{0};
  std::atomic<bool> exhausted{false};  // all pieces are taken
  std::atomic<bool> failed{false};
  std::atomic<int> first_worker{0}, width{0};
  const std::function<void(int64_t)>* body = nullptr;
  std::vector<Part> parts;
  std::exception_ptr error;
  int number = 0;
};

Pool::Pool(std::vector<Core> cores, bool bind)
    : cores_(std::move(cores)), bind_(bind), free_loops_(~uint64_t{0}) {
  static_assert(kMaxLoops == 64);
  for (size_t k = 0; k < cores_.size(); ++k) workers_.push_back(std::make_unique<Worker>());
  for (int k = 0; k < kMaxLoops; ++k) {
    loops_.push_back(std::make_unique<Loop>());
    loops_.back()->parts = std::vector<Loop::Part>(cores_.size());
    loops_.back()->number = k;
  }
  Progress::listen(*this);
}

Pool& Pool::make(std::vector<Core> cores, bool bind) { return *new Pool(std::move(cores), bind); }

void Pool::start() {
  if (started_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(start_mutex_);
  if (started_.load()) return;
  // Signals go to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int k = 0; k < workers(); ++k) {
    Worker& worker = *workers_[k];
    for (TaskSource* source : sources_) (source->is_home(k) ? worker.home : worker.away).push_back(source);
    worker.thread = std::thread([this, k] { work(k); });
    pthread_setname_np(worker.thread.native_handle(), ("tilewise/" + std::to_string(k)).c_str());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  started_.store(true, std::memory_order_release);
}

// ---- Workers --------------------------------------------------------------------------------------------------------

void Pool::work(int index) {
  if (bind_) bind_this_thread(cores_[index]);
  own_pool = this;
  own_index = index;
  Worker& worker = *workers_[index];
  Poll poll;
  while (true) {
    if (work_once(index)) {
      poll.restart();
      worker.state.store(kPolling, std::memory_order_relaxed);
    } else if (!poll.again()) {
      park(worker);
      poll.restart();
    }
  }
}

bool Pool::work_once(int index) {
  Worker& worker = *workers_[index];
  for (TaskSource* source : worker.home) {
    if (source->run_one()) return true;
  }
  if (open_loops_.load(std::memory_order_acquire) != 0 && help(index)) return true;
  for (TaskSource* source : worker.away) {
    if (source->run_one()) return true;
  }
  return false;
}

bool Pool::home_calls(const Worker& worker) const {
  for (TaskSource* source : worker.home) {
    if (source->might_run()) return true;
  }
  return false;
}

bool Pool::anything_to_do() const {
  for (uint64_t mask = open_loops_.load(std::memory_order_seq_cst); mask; mask &= mask - 1) {
    if (!loops_[std::countr_zero(mask)]->exhausted.load(std::memory_order_relaxed)) return true;
  }
  for (TaskSource* source : sources_) {
    if (source->might_run()) return true;
  }
  return false;
}

// Whoever makes work publishes it and then looks for parked workers; a worker says that it parks and then looks for
// work once more. All four steps are sequentially consistent, so one of the two sees the other.
void Pool::park(Worker& worker) {
  worker.state.store(kParked, std::memory_order_seq_cst);
  parked_.fetch_add(1, std::memory_order_seq_cst);
  while (!anything_to_do() && worker.state.load() == kParked) futex_wait(worker.state, kParked);
  parked_.fetch_sub(1);
  worker.state.store(kPolling);
}

bool Pool::wake(Worker& worker) {
  uint32_t expected = kParked;
  if (!worker.state.compare_exchange_strong(expected, kPolling)) return false;
  futex_wake(worker.state, 1);
  return true;
}

// Wakes a parked worker, one of [first, first + width) if there is any, unless one that polls will find the work.
void Pool::wake_one(int first, int width) {
  for (int round = 0; round < 2; ++round) {
    int begin = round == 0 ? first : 0, end = round == 0 ? first + width : workers();
    for (int k = begin; k < end; ++k) {
      if (workers_[k]->state.load(std::memory_order_relaxed) == kPolling) return;
    }
    for (int k = begin; k < end; ++k) {
      if (workers_[k]->state.load(std::memory_order_seq_cst) == kParked && wake(*workers_[k])) return;
    }
  }
}

void Pool::submitted(TaskSource& source) {
  start();
  if (parked_.load(std::memory_order_seq_cst) != 0) wake_one(source.first_worker(), source.width());
}

void Pool::wake_for_rest() {
  if (own_pool == this) workers_[own_index]->state.store(kBusy, std::memory_order_seq_cst);
  progressed();
}

// Called by any thread that finished a task: one that waited for it may now be ready.
void Pool::progressed() {
  if (parked_.load(std::memory_order_seq_cst) == 0) return;
  for (TaskSource* source : sources_) {
    if (source->might_run()) wake_one(source->first_worker(), source->width());
  }
}

// ---- Loops ----------------------------------------------------------------------------------------------------------

Pool::Loop* Pool::take_loop() {
  uint64_t mask = free_loops_.load(std::memory_order_relaxed);
  while (mask) {
    if (free_loops_.compare_exchange_weak(mask, mask & (mask - 1), std::memory_order_acquire)) {
      return loops_[std::countr_zero(mask)].get();
    }
  }
  return nullptr;
}

void Pool::parallel_for(int first_worker, int width, int64_t count, const std::function<void(int64_t)>& body) {
  Loop* loop = count > 1 && workers() > 1 ? take_loop() : nullptr;
  if (!loop) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  loop->body = &body;
  loop->width.store(static_cast<int>(std::min<int64_t>(width, count)), std::memory_order_relaxed);
  loop->first_worker.store(first_worker, std::memory_order_relaxed);
  int64_t parts = loop->width, begin = 0;
  for (int64_t k = 0; k < parts; ++k) {
    int64_t end = begin + count / parts + (k < count % parts);
    loop->parts[k].next.store(begin, std::memory_order_relaxed);
    loop->parts[k].end = end;
    begin = end;
  }
  open(*loop);
  bool member = own_pool == this && own_index >= first_worker && own_index < first_worker + parts;
  run_pieces(*loop, member ? own_index - first_worker : 0, nullptr);
  close(*loop);
  std::exception_ptr error = std::exchange(loop->error, nullptr);
  free_loops_.fetch_or(uint64_t{1} << loop->number, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

void Pool::open(Loop& loop) {
  start();
  loop.exhausted.store(false, std::memory_order_relaxed);
  loop.failed.store(false, std::memory_order_relaxed);
  loop.state.fetch_or(Loop::kOpen, std::memory_order_acq_rel);
  open_loops_.fetch_or(uint64_t{1} << loop.number, std::memory_order_seq_cst);
  wake_helpers(loop);
}

// Two at a time, and each who comes wakes two more: a large machine is up in a few steps.
void Pool::wake_helpers(const Loop& loop) {
  int left = 2;
  for (int k = 0; k < workers() && left > 0 && parked_.load(std::memory_order_seq_cst) != 0; ++k) {
    Worker& worker = *workers_[(loop.first_worker.load(std::memory_order_relaxed) + k) % workers()];
    if (worker.state.load(std::memory_order_seq_cst) == kParked && wake(worker)) --left;
  }
}

// Takes pieces, from part `start` first, until none is left. A helper leaves when its own device has work.
void Pool::run_pieces(Loop& loop, int start, const Worker* helper) {
  int parts = loop.width.load(std::memory_order_relaxed);
  bool stranger = helper && !helper->home.empty();
  for (int k = 0; k < parts; ++k) {
    Loop::Part& part = loop.parts[(start + k) % parts];
    while (part.next.load(std::memory_order_relaxed) < part.end) {
      if (stranger && home_calls(*helper)) return;
      int64_t i = part.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= part.end || loop.failed.load(std::memory_order_relaxed)) break;
      try {
        (*loop.body)(i);
      } catch (...) {
        if (!loop.failed.exchange(true)) loop.error = std::current_exception();
      }
    }
  }
  loop.exhausted.store(true, std::memory_order_relaxed);
}

// Waits for the helpers that are still at a piece.
void Pool::close(Loop& loop) {
  open_loops_.fetch_and(~(uint64_t{1} << loop.number), std::memory_order_relaxed);
  loop.state.fetch_and(~Loop::kOpen, std::memory_order_acq_rel);
  for (Poll poll; loop.state.load(std::memory_order_acquire) & Loop::kHelpers;) {
    if (poll.again()) continue;
    uint32_t state = loop.state.fetch_or(Loop::kOwnerParked) | Loop::kOwnerParked;
    if (state & Loop::kHelpers) futex_wait(loop.state, state);
  }
  loop.state.fetch_and(~Loop::kOwnerParked, std::memory_order_acquire);
}

// Joins one open loop, one of its own device if there is any.
bool Pool::help(int index) {
  uint64_t mask = open_loops_.load(std::memory_order_acquire);
  Loop* choice = nullptr;
  int start = 0;
  for (; mask; mask &= mask - 1) {
    Loop& loop = *loops_[std::countr_zero(mask)];
    if (loop.exhausted.load(std::memory_order_relaxed)) continue;
    int place = index - loop.first_worker.load(std::memory_order_relaxed);
    bool member = place >= 0 && place < loop.width.load(std::memory_order_relaxed);
    if (!choice || member) {
      choice = &loop;
      start = member ? place : 0;
    }
    if (member) break;
  }
  if (!choice) return false;
  bool joined = choice->state.fetch_add(1, std::memory_order_acq_rel) & Loop::kOpen;
  if (joined) {
    wake_for_rest();
    if (!choice->exhausted.load(std::memory_order_relaxed)) wake_helpers(*choice);
    run_pieces(*choice, start, workers_[index].get());
  }
  uint32_t before = choice->state.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & Loop::kHelpers) == 1 && (before & Loop::kOwnerParked)) futex_wake(choice->state, 1);
  return joined;
}

}  // namespace tilewise::cpu
