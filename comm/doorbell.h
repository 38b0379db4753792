// A bell that cuts sleeps short. Whoever makes something happen for a rank rings its bell; whoever waits sleeps on
// it with a time limit, because transports such as MPI ring nothing.
//
// Thread-safe. Ringing costs one atomic add while nobody sleeps. To lose no ring, read count() first, then look
// for what is awaited, then sleep with the count read: a ring in between makes the sleep return at once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "runtime/base/park.h"

namespace tilewise::comm {

class Doorbell {
 public:
  uint64_t count() const { return count_.load(); }
  void ring();

  // Sleeps until the bell has been rung since `seen` was read, or until `limit` has passed. True when it was rung.
  bool sleep(uint64_t seen, std::chrono::microseconds limit);

 private:
  // Both sequentially consistent: a ringer adds and then looks for sleepers, a sleeper registers and then looks at
  // the count.
  std::atomic<uint64_t> count_{0};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

// One episode of waiting: polls (see Poll), then sleeps on the bell for a time that doubles up to 1 ms.
class Backoff {
 public:
  explicit Backoff(Doorbell& bell) : bell_(bell) {}
  void pause(uint64_t seen);

 private:
  static constexpr std::chrono::microseconds kShortest{50}, kLongest{1000};
  Doorbell& bell_;
  Poll poll_;
  std::chrono::microseconds sleep_ = kShortest;
};

// Calls `done` until it answers true, with pauses as above. What `done` throws passes through.
template <class Done>
void wait_until(Doorbell& bell, Done&& done) {
  Backoff backoff(bell);
  while (true) {
    const uint64_t seen = bell.count();
    if (done()) return;
    backoff.pause(seen);
  }
}

}  // namespace tilewise::comm
