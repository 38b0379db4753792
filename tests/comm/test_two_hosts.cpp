// The control channel over a real network: two network namespaces of this machine, joined by a cable (veth), stand
// for two hosts. Needs root and the `ip` command; skipped where namespaces cannot be made.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "comm/control.h"
#include "runtime/base/error.h"
#include "tests/comm/processes.h"

namespace tilewise::comm {

namespace {

using namespace std::chrono_literals;

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

class TwoHosts : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder);
    made_ = run("ip netns add " + space(0)) && run("ip netns add " + space(1)) &&
            run("ip link add " + cable(0) + " netns " + space(0) + " type veth peer name " + cable(1) + " netns " +
                space(1));
    for (int host = 0; host < 2 && made_; ++host) {
      const std::string in = "ip -n " + space(host) + " ";
      made_ = run(in + "link set lo up") && run(in + "link set " + cable(host) + " up") &&
              run(in + "addr add 10.77.5." + std::to_string(host + 1) + "/24 dev " + cable(host)) &&
              // A bridge that both hosts have under one address, as containers' bridges are.
              run(in + "link add br0 type bridge") && run(in + "link set br0 up") &&
              run(in + "addr add 172.17.0.1/16 dev br0");
    }
    if (!made_) GTEST_SKIP() << "network namespaces need root and iproute2";
  }
  void TearDown() override {
    run("ip netns del " + space(0));
    run("ip netns del " + space(1));
    std::filesystem::remove_all(folder);
  }

  static void move_to(int host) {
    const int fd = open(("/run/netns/" + space(host)).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(setns(fd, CLONE_NEWNET), 0);
    close(fd);
  }

  ControlOptions options_for(int rank) const {
    ControlOptions options;
    options.rank = rank;
    options.size = kSize;
    options.fan_out = 2;
    options.timeout = options.connect_limit = 20s;
    options.exchange = exchange_through_folder(folder, rank, kSize, 20s);
    return options;
  }

  static std::string space(int host) { return "tw" + std::to_string(owner) + "h" + std::to_string(host); }
  static std::string cable(int host) {
    return "tw" + std::to_string(owner % 100'000) + "c" + std::to_string(host);
  }

  static constexpr int kSize = 5;  // ranks 0, 2, 4 on one host, 1 and 3 on the other
  static inline const pid_t owner = getpid();
  const std::string folder = std::filesystem::temp_directory_path() / ("tilewise-hosts-" + std::to_string(owner));

 private:
  bool made_ = false;
};

TEST_F(TwoHosts, BatchesAndMessagesCross) {
  Processes job(kSize, [&](int rank) {
    move_to(rank % 2);
    std::atomic<int> heard{0};
    ControlChannel channel(options_for(rank), {[&](int, uint32_t, std::string_view) { ++heard; }, {}});
    EXPECT_EQ(channel.ranks_on_host(), rank % 2 ? (std::vector<int>{1, 3}) : (std::vector<int>{0, 2, 4}));
    channel.broadcast(1, std::string(100'000, 'm'));
    if (rank == 0) {
      for (int i = 0; i < 100; ++i) channel.publish(std::string(50'000, static_cast<char>(i)));
      channel.goodbye(0);
    } else {
      int i = 0;
      while (const auto batch = channel.next_batch())
        EXPECT_TRUE(batch->bytes() == std::string(50'000, static_cast<char>(i++)));
      EXPECT_EQ(i, 100);
    }
    while (heard < kSize - 1) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(channel.leave(20s));
  });
  for (const int end : job.wait(60s)) EXPECT_EQ(end, 0);
}

TEST_F(TwoHosts, ACutCableIsASilenceThatIsNamed) {
  Processes job(kSize, [&](int rank) {
    move_to(rank % 2);
    ControlOptions options = options_for(rank);
    options.timeout = 1s;
    ControlChannel channel(std::move(options), {});
    if (rank == 1) {
      std::this_thread::sleep_for(300ms);
      EXPECT_TRUE(run("ip link set " + cable(1) + " down"));
    }
    const double start = now();
    while (!channel.first_failure() && now() - start < 20) std::this_thread::sleep_for(1ms);
    ASSERT_TRUE(channel.first_failure());
    EXPECT_THAT(channel.first_failure()->reason, testing::HasSubstr("no sign of life"));
    std::this_thread::sleep_for(1500ms);  // nobody leaves before all have judged
  });
  for (const int end : job.wait(60s)) EXPECT_EQ(end, 0);
}

TEST_F(TwoHosts, AnInterfaceThatDoesNotExistIsNamed) {
  Processes job(kSize, [&](int rank) {
    move_to(rank % 2);
    ControlOptions options = options_for(rank);
    options.interface = "eth9";
    options.connect_limit = 1s;
    if (rank != 0) options.exchange = exchange_through_folder(folder, rank, kSize, 1s);
    try {
      ControlChannel channel(std::move(options), {});
      ADD_FAILURE() << "rank " << rank << " is connected";
    } catch (const Error& error) {
      if (rank <= 1) {
        EXPECT_THAT(error.what(), testing::HasSubstr("has no network interface 'eth9' (it has "));
      }
    }
  });
  for (const int end : job.wait(60s)) EXPECT_EQ(end, 0);
}

}  // namespace

}  // namespace tilewise::comm
