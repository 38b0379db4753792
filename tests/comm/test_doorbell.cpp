#include "comm/doorbell.h"

#include <gtest/gtest.h>

#include <thread>

namespace tilewise::comm {

namespace {

using namespace std::chrono_literals;

TEST(Doorbell, ARingBetweenLookingAndSleepingIsNotLost) {
  Doorbell bell;
  const uint64_t seen = bell.count();
  bell.ring();
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(bell.sleep(seen, 10s));
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

TEST(Doorbell, SleepsEndAtTheirLimit) {
  Doorbell bell;
  EXPECT_FALSE(bell.sleep(bell.count(), 2000us));
}

TEST(Doorbell, ARingCutsASleepShort) {
  Doorbell bell;
  for (int round = 0; round < 200; ++round) {
    const uint64_t seen = bell.count();
    std::thread ringer([&] { bell.ring(); });
    EXPECT_TRUE(bell.sleep(seen, 10s));
    ringer.join();
  }
}

TEST(Doorbell, WaitUntilLooksAgainWithoutBeingRung) {
  Doorbell bell;
  int looks = 0;
  wait_until(bell, [&] { return ++looks == 500; });
  EXPECT_EQ(looks, 500);
}

}  // namespace

}  // namespace tilewise::comm
