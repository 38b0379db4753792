#include "runtime/base/park.h"

#include <algorithm>
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

// A busy thread of others had the processor if a look that gave it up took kTaken. Time lost so is a debt, which time pays
// off by a quarter; at kMostDebt no wait polls, for many times as long as the last look took. Then one more is tried.
constexpr std::chrono::nanoseconds kTaken{1'000'000}, kMostDebt{15'000'000}, kShunnedAtMost{1'000'000'000};
constexpr int kShunnedFor = 64;
std::atomic<int64_t> debt{0}, debt_at{0}, shunned_until{0};  // ns; the latter two of the steady clock

void lost_processor(int64_t now, int64_t lost) {
  const int64_t paid = (now - debt_at.exchange(now, std::memory_order_relaxed)) / 4;
  const int64_t owed = std::max<int64_t>(0, debt.load(std::memory_order_relaxed) - std::max<int64_t>(0, paid)) + lost;
  debt.store(std::min(owed, kMostDebt.count()), std::memory_order_relaxed);
  if (owed < kMostDebt.count()) return;
  const int64_t until = now + std::min(kShunnedFor * lost, kShunnedAtMost.count());
  shunned_until.store(until, std::memory_order_relaxed);
  debt_at.store(until, std::memory_order_relaxed);
}

long futex(const std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* limit) {
  static_assert(sizeof(std::atomic<uint32_t>) == 4);
  return syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

timespec relative(std::chrono::nanoseconds limit) { return {limit.count() / 1'000'000'000, limit.count() % 1'000'000'000}; }

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected) { futex(word, FUTEX_WAIT_PRIVATE, expected, nullptr); }

void futex_wait_for(const std::atomic<uint32_t>& word, uint32_t expected, std::chrono::nanoseconds limit) {
  const timespec time = relative(limit);
  futex(word, FUTEX_WAIT_PRIVATE, expected, &time);
}

void futex_wake(const std::atomic<uint32_t>& word, int count) { futex(word, FUTEX_WAKE_PRIVATE, count, nullptr); }

void futex_wake_all(const std::atomic<uint32_t>& word) { futex_wake(word, INT_MAX); }

void shared_futex_wait_for(const std::atomic<uint32_t>& word, uint32_t expected, std::chrono::nanoseconds limit) {
  const timespec time = relative(limit);
  futex(word, FUTEX_WAIT, expected, &time);
}

void shared_futex_wake_all(const std::atomic<uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

bool Poll::again() {
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); };
  if (looks_ < kQuickLooks) {
    if (looks_++ == 0) {
      const int64_t begin = now();
      end_ = begin < shunned_until.load(std::memory_order_relaxed) ? begin : begin + limit().count();
    }
    relax();
    return true;
  }
  const int64_t before = now();
  if (before >= end_) return false;
  sched_yield();
  const int64_t after = now();
  if (after - before > kTaken.count()) lost_processor(after, after - before);
  return after < end_;
}

void BriefLock::wait() {
  for (int looks = 0; taken_.load(std::memory_order_relaxed); ++looks) looks < kQuickLooks ? relax() : void(sched_yield());
}

std::chrono::nanoseconds Poll::limit() { return std::chrono::nanoseconds(poll_limit_ns.load(std::memory_order_relaxed)); }

void Poll::set_limit(std::chrono::nanoseconds limit) { poll_limit_ns.store(limit.count(), std::memory_order_relaxed); }

}  // namespace tilewise
