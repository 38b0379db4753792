// Waiting without burning a core: a short poll, then sleep on a futex.
//
// A wait polls for at most Poll::limit() (100 us unless lowered, when ranks outnumber cores) and then parks. While
// polling it gives up the processor between looks, so that a poller never keeps a worker from running. Where others take
// it, polling is given up for a time: who yields to a busy thread waits out that thread's time slice, milliseconds, while
// who sleeps and is woken gets the processor back at once.
// Thread-safe; a futex word belongs to whoever waits on it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tilewise {

// Sleeps while *word == expected; may return early. The caller looks at its condition again.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected);
// The same, for at most `limit`.
void futex_wait_for(const std::atomic<uint32_t>& word, uint32_t expected, std::chrono::nanoseconds limit);
void futex_wake(const std::atomic<uint32_t>& word, int count);
void futex_wake_all(const std::atomic<uint32_t>& word);
// For a word in memory that processes share.
void shared_futex_wait_for(const std::atomic<uint32_t>& word, uint32_t expected, std::chrono::nanoseconds limit);
void shared_futex_wake_all(const std::atomic<uint32_t>& word);

// while (!condition) if (!poll.again()) park...
class Poll {
 public:
  // Pauses for a moment; false once the time is up.
  bool again();
  void restart() { looks_ = 0; }

  static std::chrono::nanoseconds limit();
  static void set_limit(std::chrono::nanoseconds limit);

 private:
  int looks_ = 0;
  int64_t end_ = 0;  // of the steady clock, in nanoseconds
};

// A lock for a few instructions: cheaper than a mutex where nobody else wants it, and gives up the processor where
// somebody does.
class BriefLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  void wait();
  std::atomic<bool> taken_{false};
};

}  // namespace tilewise
