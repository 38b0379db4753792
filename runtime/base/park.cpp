#include "runtime/base/park.h"

#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tilewise {

namespace {

std::atomic<int64_t> poll_limit_ns{100'000};

// Looks made with a pause of the processor only, about 2 us; after that each look gives up the processor.
constexpr int kQuickLooks = 32;

long futex(const std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* limit) {
  static_assert(sizeof(std::atomic<uint32_t>) == 4);
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected) { futex(word, FUTEX_WAIT, expected, nullptr); }

void futex_wait_for(const std::atomic<uint32_t>& word, uint32_t expected, std::chrono::nanoseconds limit) {
  timespec relative{limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
  futex(word, FUTEX_WAIT, expected, &relative);
}

void futex_wake(const std::atomic<uint32_t>& word, int count) { futex(word, FUTEX_WAKE, count, nullptr); }

void futex_wake_all(const std::atomic<uint32_t>& word) { futex_wake(word, INT_MAX); }

bool Poll::again() {
  if (looks_ < kQuickLooks) {
    if (looks_++ == 0) end_ = std::chrono::steady_clock::now() + limit();
    relax();
    return true;
  }
  sched_yield();
  return std::chrono::steady_clock::now() < end_;
}

void BriefLock::wait() {
  for (int looks = 0; taken_.load(std::memory_order_relaxed); ++looks) looks < kQuickLooks ? relax() : void(sched_yield());
}

std::chrono::nanoseconds Poll::limit() { return std::chrono::nanoseconds(poll_limit_ns.load(std::memory_order_relaxed)); }

void Poll::set_limit(std::chrono::nanoseconds limit) { poll_limit_ns.store(limit.count(), std::memory_order_relaxed); }

}  // namespace tilewise
