#include "comm/doorbell.h"

#include <algorithm>

namespace tilewise::comm {

// A ringer adds to the count and then looks for sleepers; a sleeper registers, and the kernel looks at the count once
// more before it sleeps. All of it is sequentially consistent, so one of the two sees the other.
void Doorbell::ring(Words& words) {
  words.count.fetch_add(1);
  if (words.sleepers.load() != 0) shared_futex_wake_all(words.count);
}

bool Doorbell::sleep(uint32_t seen, std::chrono::microseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  words_->sleepers.fetch_add(1);
  bool rung;
  while (!(rung = words_->count.load() != seen)) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0)) break;
    shared_futex_wait_for(words_->count, seen, left);
  }
  words_->sleepers.fetch_sub(1);
  return rung;
}

void Backoff::pause(uint32_t seen) {
  if (poll_.again()) return;
  if (bell_.sleep(seen, sleep_)) {
    poll_.restart();
    sleep_ = kShortest;
  } else {
    sleep_ = std::min(2 * sleep_, kLongest);
  }
}

}  // namespace tilewise::comm
