#include "comm/doorbell.h"

#include <algorithm>

namespace tilewise::comm {

void Doorbell::ring() {
  count_.fetch_add(1);
  if (sleepers_.load() == 0) return;
  // Taking the mutex orders this ring after a sleeper's last look at the count, so the notification cannot fall in
  // between.
  std::lock_guard<std::mutex> lock(mutex_);
  wake_.notify_all();
}

bool Doorbell::sleep(uint64_t seen, std::chrono::microseconds limit) {
  sleepers_.fetch_add(1);
  bool rung;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    rung = wake_.wait_for(lock, limit, [&] { return count_.load() != seen; });
  }
  sleepers_.fetch_sub(1);
  return rung;
}

void Backoff::pause(uint64_t seen) {
  if (poll_.again()) return;
  if (bell_.sleep(seen, sleep_)) {
    poll_.restart();
    sleep_ = kShortest;
  } else {
    sleep_ = std::min(2 * sleep_, kLongest);
  }
}

}  // namespace tilewise::comm
