// A bell that cuts sleeps short. Whoever makes something happen for a rank rings its bell; whoever waits sleeps on
// it with a time limit, because not everything that happens rings.
//
// Thread-safe. Ringing costs one atomic add while nobody sleeps. To lose no ring, read count() first, then look
// for what is awaited, then sleep with the count read: a ring in between makes the sleep return at once. The bell
// itself is two words, which may lie in memory that other processes map and ring, too.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/base/park.h"

namespace tilewise::comm {

class Doorbell {
 public:
  struct Words {
    alignas(64) std::atomic<uint32_t> count{0};
    std::atomic<uint32_t> sleepers{0};
  };

  // From now on the bell is these words. Before anybody else uses it; they outlive it.
  void share(Words* words) { words_ = words; }

  uint32_t count() const { return words_->count.load(); }
  void ring() { ring(*words_); }
  static void ring(Words& words);

  // Sleeps until the bell has been rung since `seen` was read, or until `limit` has passed. True when it was rung.
  bool sleep(uint32_t seen, std::chrono::microseconds limit);

 private:
  Words own_;
  Words* words_ = &own_;
};

// One episode of waiting: polls (see Poll), then sleeps on the bell for a time that doubles up to 1 ms.
class Backoff {
 public:
  explicit Backoff(Doorbell& bell) : bell_(bell) {}
  void pause(uint32_t seen);

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
    const uint32_t seen = bell.count();
    if (done()) return;
    backoff.pause(seen);
  }
}

}  // namespace tilewise::comm
