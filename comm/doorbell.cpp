#include "comm/doorbell.h"

#include <algorithm>
#include <thread>

namespace tilewise::comm {

namespace {
constexpr std::chrono::microseconds kPollFor{100};
constexpr std::chrono::microseconds kShortestSleep{50};
constexpr std::chrono::microseconds kLongestSleep{1000};
}  // namespace

void Doorbell::ring() {
  count_.fetch_add(1);
  if (sleepers_.load() == 0) return;
  // Taking the mutex orders this ring after a sleeper's last look at the count, so the notification cannot fall in between.
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
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < kPollFor) {
    // Yielding keeps the poll short for us and leaves the core to a rank that shares it.
    std::this_thread::yield();
    return;
  }
  if (bell_.sleep(seen, sleep_)) {
    start_ = std::chrono::steady_clock::now();
    sleep_ = kShortestSleep;
  } else {
    sleep_ = std::min(2 * sleep_, kLongestSleep);
  }
}

}  // namespace tilewise::comm
