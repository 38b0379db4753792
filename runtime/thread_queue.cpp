// A queue with a thread of its own: communication, and whatever else may block.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/park.h"
#include "runtime/progress.h"

namespace tilewise {

namespace {

struct Item {
  std::function<void()> task;
  std::vector<Event> after;
};

class ThreadQueue final : public Queue {
 public:
  explicit ThreadQueue(const std::string& name) : progress_(Progress::make()), process_(getpid()) {
    // Signals go to the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { drain(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
  }

  // Finishes what was submitted. In a forked child there is no thread to join.
  ~ThreadQueue() override {
    if (getpid() != process_) {
      thread_.detach();
      return;
    }
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  int id() const override { return progress_.id(); }

  Event submit(std::function<void()> task, std::span<const Event> after) override {
    uint64_t sequence;
    {
      std::lock_guard lock(mutex_);
      sequence = submitted_.load(std::memory_order_relaxed) + 1;
      submitted_.store(sequence, std::memory_order_release);
      items_.push_back({std::move(task), {after.begin(), after.end()}});
    }
    changed_.notify_one();
    return {id(), sequence};
  }

  Event last() const override { return {id(), submitted_.load(std::memory_order_acquire)}; }
  bool idle() const override { return progress_.reached(submitted_.load(std::memory_order_acquire)); }

  std::vector<Failure> take_failures() override {
    std::lock_guard lock(mutex_);
    return std::exchange(failures_, {});
  }

 private:
  void drain() {
    for (uint64_t sequence = 1;; ++sequence) {
      Item item;
      if (!next(item)) return;
      try {
        for (const Event& event : item.after) wait(event);
        item.task();
      } catch (...) {
        std::lock_guard lock(mutex_);
        failures_.push_back({{id(), sequence}, std::current_exception()});
        Progress::note_failure();
      }
      item = {};  // what the task held is gone before it counts as finished
      progress_.advance(sequence);
    }
  }

  // Blocks until there is an item; false at the end.
  bool next(Item& item) {
    for (Poll poll; idle() && poll.again();) {
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || !items_.empty(); });
    if (items_.empty()) return false;
    item = std::move(items_.front());
    items_.pop_front();
    return true;
  }

  Progress& progress_;
  pid_t process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::vector<Failure> failures_;
  std::atomic<uint64_t> submitted_{0};
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Queue> make_thread_queue(const std::string& name) { return std::make_unique<ThreadQueue>(name); }

}  // namespace tilewise
