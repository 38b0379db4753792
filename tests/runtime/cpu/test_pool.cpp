// Loops on the pool: each piece once, nested, from many threads, with exceptions; and no processor time while idle.

#include "runtime/cpu/pool.h"

#include <gtest/gtest.h>

#include <ctime>
#include <set>
#include <thread>

namespace tilewise::cpu {

namespace {

using namespace std::chrono_literals;

Pool& pool_of(int workers) {
  std::vector<Core> cores = find_topology().cores;
  std::vector<Core> chosen;
  for (int k = 0; k < workers; ++k) chosen.push_back(cores[k % cores.size()]);
  return Pool::make(chosen, false);
}

void expect_each_once(Pool& pool, int first, int width, int64_t count) {
  std::vector<std::atomic<int>> seen(count);
  pool.parallel_for(first, width, count, [&](int64_t i) { ++seen[i]; });
  for (int64_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], 1) << i << " of " << count;
}

TEST(Pool, EachPieceRunsOnce) {
  for (int workers : {1, 2, 5}) {
    Pool& pool = pool_of(workers);
    for (int64_t count : {0, 1, 2, 3, 4, 5, 6, 100, 10'000}) {
      expect_each_once(pool, 0, workers, count);
      expect_each_once(pool, workers - 1, 1, count);
    }
  }
}

TEST(Pool, ManyShortLoops) {
  Pool& pool = pool_of(3);
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 20'000; ++round) {
    pool.parallel_for(0, 3, 4, [&](int64_t i) { sum.fetch_add(i, std::memory_order_relaxed); });
  }
  EXPECT_EQ(sum, 20'000 * 6);
}

TEST(Pool, LoopsInLoops) {
  Pool& pool = pool_of(4);
  std::atomic<int> leaves{0};
  pool.parallel_for(0, 4, 10, [&](int64_t) {
    pool.parallel_for(0, 4, 10, [&](int64_t) { pool.parallel_for(1, 2, 10, [&](int64_t) { ++leaves; }); });
  });
  EXPECT_EQ(leaves, 1000);
}

TEST(Pool, LoopsOfManyThreads) {
  Pool& pool = pool_of(4);
  std::vector<std::thread> openers;
  std::vector<std::atomic<int64_t>> sums(100);  // more than may be open at once
  for (int t = 0; t < 100; ++t) {
    openers.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        pool.parallel_for(t % 4, 1, 50, [&](int64_t i) { sums[t] += i; });
      }
    });
  }
  for (auto& opener : openers) opener.join();
  for (auto& sum : sums) EXPECT_EQ(sum, 20 * 50 * 49 / 2);
}

TEST(Pool, TheFirstExceptionIsThrownAndTheRestLeftOut) {
  Pool& pool = pool_of(3);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> ran{0};
    try {
      pool.parallel_for(0, 3, 100'000, [&](int64_t i) {
        ++ran;
        if (i % 1000 == 3) throw static_cast<int>(i);
      });
      FAIL();
    } catch (int piece) {
      EXPECT_EQ(piece % 1000, 3);
    }
    EXPECT_LT(ran, 100'000);
  }
  expect_each_once(pool, 0, 3, 1000);
}

TEST(Pool, IdleWorkersHelpWhoeverIsBusy) {
  Pool& pool = pool_of(3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (int round = 0; round < 100 && threads.size() < 4; ++round) {
    pool.parallel_for(0, 1, 30, [&](int64_t) {  // a device of one core
      std::this_thread::sleep_for(200us);
      std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
  }
  EXPECT_EQ(threads.size(), 4u);  // three workers and the opener
}

TEST(Pool, IdleWorkersUseNoProcessorTime) {
  Pool& pool = pool_of(4);
  expect_each_once(pool, 0, 4, 1000);
  std::this_thread::sleep_for(10ms);
  auto processor_time = [] {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
  };
  double before = processor_time();
  std::this_thread::sleep_for(2s);
  EXPECT_LT(processor_time() - before, 0.01 * 2);
}

}  // namespace

}  // namespace tilewise::cpu
