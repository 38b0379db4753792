// The control channel between processes: order, credits, messages, deaths, and an end that leaves nothing.
#include "comm/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "comm/control/sockets.h"
#include "runtime/base/error.h"
#include "tests/comm/processes.h"

namespace tilewise::comm {

namespace {

using namespace std::chrono_literals;

// Sanitizers and a busy machine make everything slower; the promises are about a machine at rest.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr double kSlower = 4;
#else
constexpr double kSlower = 1;
#endif

ControlOptions options_for(int rank, int size, const std::string& folder) {
  ControlOptions options;
  options.rank = rank;
  options.size = size;
  options.exchange = exchange_through_folder(folder, rank, size, 20s);
  options.timeout = options.connect_limit = 20s;
  options.fan_out = 2;
  return options;
}

// A folder that exists before the ranks do.
class ControlTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void expect_all_well(Processes& job) {
    for (const int end : job.wait(60s)) EXPECT_EQ(end, 0);
  }

  const std::string folder =
      std::filesystem::temp_directory_path() / ("tilewise-control-" + std::to_string(getpid()));
};

// The leader says goodbye, a worker hears it.
void reach_the_end(ControlChannel& channel, int rank, int status = 0) {
  if (rank == 0) {
    channel.goodbye(status);
  } else {
    EXPECT_FALSE(channel.next_batch());
    EXPECT_EQ(channel.exit_status(), status);
  }
}

std::string batch_number(int i) {
  return std::string(static_cast<size_t>(i * i % 70'001), static_cast<char>('a' + i % 26));
}

void lead_and_follow(ControlOptions options) {
  constexpr int kBatches = 200;
  const int rank = options.rank;
  std::atomic<int> failures{0};
  ControlChannel channel(std::move(options), {{}, [&](const RankFailure&) { ++failures; }});
  if (rank == 0) {
    for (int i = 0; i < kBatches; ++i) channel.publish(batch_number(i));
    channel.goodbye(7);
  } else {
    int i = 0;
    while (const auto batch = channel.next_batch()) EXPECT_TRUE(batch->bytes() == batch_number(i++)) << i;
    EXPECT_EQ(i, kBatches);
    EXPECT_EQ(channel.exit_status(), 7);
  }
  EXPECT_TRUE(channel.leave(20s));
  EXPECT_EQ(failures, 0);
  EXPECT_FALSE(channel.first_failure());
}

TEST_F(ControlTest, BatchesComeInOrderDownTheTree) {
  for (int size = 1; size <= 7; ++size) {
    const std::string meeting = folder + "/" + std::to_string(size);
    std::filesystem::create_directory(meeting);
    Processes job(size, [&](int rank) { lead_and_follow(options_for(rank, size, meeting)); });
    expect_all_well(job);
  }
}

TEST_F(ControlTest, BatchesComeInOrderOverTcp) {
  Processes job(5, [&](int rank) {
    ControlOptions options = options_for(rank, 5, folder);
    options.unix_sockets = false;
    lead_and_follow(std::move(options));
  });
  expect_all_well(job);
}

TEST_F(ControlTest, TheLeaderWaitsForTheSlowestWorker) {
  Processes job(3, [&](int rank) {
    ControlOptions options = options_for(rank, 3, folder);
    options.fan_out = 1;  // the slow one is two links away
    options.credit_bytes = 1 << 20;
    std::atomic<bool> go{false};
    ControlChannel channel(std::move(options), {[&](int, uint32_t, std::string_view) { go = true; }, {}});
    const std::string batch(64 << 10, 'x');
    if (rank == 0) {
      int published = 0;
      while (channel.wait_for_credit(200ms)) channel.publish(batch), ++published;
      EXPECT_GE(published, 15);
      EXPECT_LE(published, 18);
      channel.send(2, 1, "go on");
      for (; published < 200; ++published) channel.publish(batch);
      channel.goodbye(0);
    } else {
      while (rank == 2 && !go) std::this_thread::sleep_for(1ms);
      int taken = 0;
      while (channel.next_batch()) ++taken;
      EXPECT_EQ(taken, 200);
    }
    EXPECT_TRUE(channel.leave(20s));
  });
  expect_all_well(job);
}

TEST_F(ControlTest, ABatchLargerThanTheCreditPasses) {
  Processes job(4, [&](int rank) {
    ControlOptions options = options_for(rank, 4, folder);
    options.credit_bytes = 1000;
    ControlChannel channel(std::move(options), {});
    if (rank == 0) {
      for (int i = 0; i < 20; ++i) channel.publish(std::string(3'000'000, 'y'));
      channel.goodbye(0);
    } else {
      while (const auto batch = channel.next_batch()) EXPECT_EQ(batch->bytes().size(), 3'000'000u);
    }
    EXPECT_TRUE(channel.leave(20s));
  });
  expect_all_well(job);
}

TEST_F(ControlTest, AnyRankReachesAnyOther) {
  constexpr int kSize = 7, kEach = 50;
  Processes job(kSize, [&](int rank) {
    std::mutex mutex;
    std::vector<std::vector<std::string>> from(kSize);
    std::atomic<int> count{0};
    Doorbell bell;
    ControlOptions options = options_for(rank, kSize, folder);
    options.doorbell = &bell;
    ControlChannel channel(std::move(options),
                           {[&](int sender, uint32_t kind, std::string_view bytes) {
                              std::lock_guard<std::mutex> lock(mutex);
                              from[static_cast<size_t>(sender)].push_back(str(kind, ":", bytes));
                              ++count;
                            },
                            {}});
    for (int i = 0; i < kEach; ++i)
      for (int to = 0; to < kSize; ++to)
        if (to != rank) channel.send(to, static_cast<uint32_t>(i), str(rank, ">", to));
    channel.broadcast(99, std::string(300'000, 'b'));
    channel.notify((rank + 1) % kSize);
    while (count < (kSize - 1) * (kEach + 1) || bell.count() == 0) std::this_thread::sleep_for(1ms);
    for (int sender = 0; sender < kSize; ++sender) {
      if (sender == rank) continue;
      std::vector<std::string> expected;
      for (int i = 0; i < kEach; ++i) expected.push_back(str(i, ":", sender, ">", rank));
      expected.push_back("99:" + std::string(300'000, 'b'));
      EXPECT_EQ(from[static_cast<size_t>(sender)], expected) << sender;
    }
    EXPECT_EQ(bell.count(), 1u);
    EXPECT_EQ(channel.ranks_on_host().size(), size_t{kSize});
    reach_the_end(channel, rank);
    EXPECT_TRUE(channel.leave(20s));
  });
  expect_all_well(job);
}

// ---- Deaths
// -------------------------------------------------------------------------------------------------------

struct Times {
  std::atomic<double> death{0};
  std::atomic<int> ready{0};
};

// Waits until the channel has seen a failure, checks it, and leaves without ceremony.
void expect_death(ControlChannel& channel, int rank, int victim, const std::string& reason) {
  const auto waits = [&] {
    if (rank == 0) {
      while (true) channel.publish(std::string(1 << 20, 'z'));
    }
    while (channel.next_batch()) {
    }
  };
  EXPECT_THROW(waits(), Error);
  ASSERT_TRUE(channel.first_failure());
  EXPECT_EQ(channel.first_failure()->rank, victim);
  EXPECT_FALSE(channel.first_failure()->host.empty());
  EXPECT_THAT(channel.first_failure()->text(), testing::HasSubstr(reason));
}

class DeathTest : public ControlTest, public testing::WithParamInterface<int> {
 protected:
  static constexpr int kSize = 7;
};

TEST_P(DeathTest, IsKnownToAllWithinHalfASecond) {
  const int victim = GetParam();
  Shared<Times> times;
  Processes job(kSize, [&](int rank) {
    std::atomic<double> told{0};
    ControlChannel channel(options_for(rank, kSize, folder), {{}, [&](const RankFailure& failure) {
                                                                if (failure.rank == victim) told = now();
                                                              }});
    ++times->ready;
    while (times->ready < kSize) std::this_thread::sleep_for(1ms);
    if (rank == victim) {
      times->death = now();
      raise(SIGKILL);
    }
    expect_death(channel, rank, victim, "connection closed");
    while (told == 0) std::this_thread::sleep_for(1ms);
    EXPECT_LT(told - times->death, 0.5 * kSlower);
    // Whoever goes first must not look like the culprit.
    ++times->ready;
    while (times->ready < 2 * kSize - 1) std::this_thread::sleep_for(1ms);
  });
  const std::vector<int> ends = job.wait(30s);
  for (int rank = 0; rank < kSize; ++rank)
    EXPECT_EQ(ends[static_cast<size_t>(rank)], rank == victim ? -SIGKILL : 0) << rank;
}

TEST_P(DeathTest, OfAStoppedRankIsToldByItsSilence) {
  const int victim = GetParam();
  Shared<Times> times;
  constexpr auto kTimeout = 800ms * static_cast<int>(kSlower);
  Processes job(kSize, [&](int rank) {
    ControlOptions options = options_for(rank, kSize, folder);
    options.timeout = kTimeout;
    std::atomic<double> told{0};
    ControlChannel channel(std::move(options), {{}, [&](const RankFailure& failure) {
                                                  if (failure.rank == victim) told = now();
                                                }});
    ++times->ready;
    if (rank == victim) {
      // Stopped by the test, and later let go: the others have buried it, and it learns that.
      while (told == 0) std::this_thread::sleep_for(1ms);
      ++times->ready;
      return;
    }
    expect_death(channel, rank, victim, "no sign of life");
    while (told == 0) std::this_thread::sleep_for(1ms);
    EXPECT_LT(told - times->death, (0.8 + 0.5) * kSlower);
    ++times->ready;
    while (times->ready < 2 * kSize) std::this_thread::sleep_for(1ms);
  });
  for (const double start = now(); times->ready < kSize && now() - start < 60;) std::this_thread::sleep_for(1ms);
  times->death = now();
  job.signal(victim, SIGSTOP);
  while (times->ready < 2 * kSize - 1 && now() - times->death < 20) std::this_thread::sleep_for(1ms);
  job.signal(victim, SIGCONT);
  expect_all_well(job);
}

// The leader, one with children, one without.
INSTANTIATE_TEST_SUITE_P(Victims, DeathTest, testing::Values(0, 1, 6));

TEST_F(ControlTest, ARankThatGivesUpSaysWhy) {
  Processes job(5, [&](int rank) {
    std::atomic<int> told{-1};
    ControlChannel channel(options_for(rank, 5, folder), {{}, [&](const RankFailure& failure) {
                                                            if (told < 0) told = failure.rank;
                                                          }});
    if (rank == 3) {
      channel.fail("out of disk");
    } else {
      expect_death(channel, rank, 3, "out of disk");
      while (told < 0) std::this_thread::sleep_for(1ms);
      EXPECT_EQ(told, 3);
    }
    std::this_thread::sleep_for(300ms);
  });
  expect_all_well(job);
}

TEST_F(ControlTest, ABusyRankIsNotTakenForDead) {
  Processes job(3, [&](int rank) {
    ControlOptions options = options_for(rank, 3, folder);
    options.timeout = 1s * static_cast<int>(kSlower);
    ControlChannel channel(std::move(options), {});
    volatile double work = 0;
    for (const double end = now() + 2.5 * kSlower; rank == 1 && now() < end;) work = work + 1;
    reach_the_end(channel, rank);
    EXPECT_TRUE(channel.leave(20s));
    EXPECT_FALSE(channel.first_failure());
  });
  expect_all_well(job);
}

TEST_F(ControlTest, AChildOfADeadRankDoesNotKeepItAlive) {
  Shared<Times> times;
  Processes job(3, [&](int rank) {
    std::atomic<double> told{0};
    ControlChannel channel(options_for(rank, 3, folder),
                           {{}, [&](const RankFailure&) { told = told == 0 ? now() : told.load(); }});
    ++times->ready;
    while (times->ready < 3) std::this_thread::sleep_for(1ms);
    if (rank == 1) {
      if (fork() == 0) {
        sleep(3);
        _exit(0);
      }
      times->death = now();
      raise(SIGKILL);
    }
    expect_death(channel, rank, 1, "connection closed");
    while (told == 0) std::this_thread::sleep_for(1ms);
    EXPECT_LT(told - times->death, 0.5 * kSlower);
    std::this_thread::sleep_for(100ms);
  });
  EXPECT_EQ(job.wait(20s), (std::vector<int>{0, -SIGKILL, 0}));
}

// ---- Start and end
// ------------------------------------------------------------------------------------------------

TEST_F(ControlTest, AnIdleJobUsesNoProcessor) {
  Processes job(4, [&](int rank) {
    ControlChannel channel(options_for(rank, 4, folder), {});
    std::thread waits([&] {
      if (rank != 0) reach_the_end(channel, rank);
    });
    std::this_thread::sleep_for(200ms);
    const double before = processor_time();
    std::this_thread::sleep_for(2s);
    EXPECT_LT(processor_time() - before, 0.02 * kSlower);
    if (rank == 0) reach_the_end(channel, rank);
    waits.join();
    EXPECT_TRUE(channel.leave(20s));
  });
  expect_all_well(job);
}

size_t open_descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_F(ControlTest, AnOrderlyEndLeavesNothingAndBlamesNobody) {
  Processes job(6, [&](int rank) {
    const size_t before = open_descriptors();
    std::atomic<int> failures{0};
    {
      ControlChannel channel(options_for(rank, 6, folder), {{}, [&](const RankFailure&) { ++failures; }});
      reach_the_end(channel, rank, 3);
      std::this_thread::sleep_for(rank * 7 % 6 * 20ms);  // they go at different times
      EXPECT_TRUE(channel.leave(20s));
    }
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(open_descriptors(), before);
  });
  expect_all_well(job);
}

TEST_F(ControlTest, StrangersAreTurnedAway) {
  Processes job(3, [&](int rank) {
    ControlOptions options = options_for(rank, 3, folder);
    if (rank == 1) {
      // Knocks at the leader's door with a wrong token, and with half a one, before it goes on as a good child.
      options.exchange = [inner = options.exchange, round = 0](std::string_view mine) mutable {
        const std::vector<std::string> all = inner(mine);
        if (++round == 2) {
          const std::string name = all[0].substr(0, all[0].find('\n'));
          const Fd silent = connect_unix(name), stranger = connect_unix(name);
          std::string hello = "twctl001" + std::string(32, '0');
          const int32_t numbers[] = {1, 3};
          hello.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
          const auto deadline = std::chrono::steady_clock::now() + 10s;
          EXPECT_TRUE(write_exactly(stranger.get(), hello.data(), hello.size(), deadline));
          EXPECT_TRUE(write_exactly(silent.get(), hello.data(), 10, deadline));
          char answer;
          EXPECT_TRUE(wait_readable(stranger.get(), deadline));
          EXPECT_LE(recv(stranger.get(), &answer, 1, 0), 0);
        }
        return all;
      };
    }
    lead_and_follow(std::move(options));
  });
  expect_all_well(job);
}

TEST_F(ControlTest, WhoDoesNotComeIsNamed) {
  Processes job(3, [&](int rank) {
    ControlOptions options = options_for(rank, 3, folder);
    options.connect_limit = 500ms;
    if (rank == 2) {
      options.exchange = [inner = options.exchange, round = 0](std::string_view mine) mutable {
        const auto all = inner(mine);
        if (++round == 2) throw Error(ErrorKind::kRuntime, "gone");
        return all;
      };
    }
    try {
      ControlChannel channel(std::move(options), {});
      EXPECT_EQ(rank, 1) << "only its own way to the leader matters to rank 1";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(rank == 0 ? "rank 2 on host " : "gone"));
    }
  });
  expect_all_well(job);
}

}  // namespace

}  // namespace tilewise::comm
