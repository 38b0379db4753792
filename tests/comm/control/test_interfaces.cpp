#include "comm/control/interfaces.h"

#include <gtest/gtest.h>

namespace tilewise::comm {

namespace {

const Interface kBridge{"docker0", "172.17.0.1", 16};
const Interface kSlow{"eth0", "192.168.1.5", 24};
const Interface kFast{"ib0", "10.4.0.5", 16};

std::vector<Interface> host(int number, bool with_slow) {
  const std::string last = std::to_string(number);
  std::vector<Interface> all{kBridge, {"ib1", "10.4.7." + last, 16}};
  if (with_slow) all.insert(all.begin() + 1, {"eth0", "192.168.1." + last, 24});
  return all;
}

TEST(Interfaces, TheFirstThatAllShareIsChosen) {
  const std::vector<Interface> mine{kBridge, kSlow, kFast};
  EXPECT_EQ(choose_address(mine, {host(7, true), host(8, true)}, ""), kSlow.address);
  EXPECT_EQ(choose_address(mine, {host(7, true), host(8, false)}, ""), kFast.address);
}

TEST(Interfaces, AnAddressThatAnotherHostHasTooIsNone) {
  EXPECT_EQ(choose_address({kBridge}, {host(7, true)}, ""), "");
}

TEST(Interfaces, WithoutACommonNetworkTheFirstMustDo) {
  EXPECT_EQ(choose_address({kBridge, kSlow, kFast}, {{{"eth0", "203.0.113.9", 24}}, {kBridge}}, ""),
            kSlow.address);
}

TEST(Interfaces, TheUserMayNameOne) {
  const std::vector<Interface> mine{kSlow, kFast};
  EXPECT_EQ(choose_address(mine, {host(7, true)}, "ib0"), kFast.address);
  EXPECT_EQ(choose_address(mine, {host(7, true)}, "10.4.0.0/16"), kFast.address);
  EXPECT_EQ(choose_address(mine, {host(7, true)}, "nope,192.168.0.0/16"), kSlow.address);
  EXPECT_EQ(choose_address(mine, {host(7, true)}, "nope"), "");
}

TEST(Interfaces, SubnetsCompareTheirBitsOnly) {
  EXPECT_TRUE(interface_matches(kSlow, "192.168.1.4/30"));
  EXPECT_FALSE(interface_matches(kSlow, "192.168.1.8/30"));
  EXPECT_TRUE(interface_matches({"eth1", "fd00::12", 64}, "fd00::/64"));
  EXPECT_FALSE(interface_matches({"eth1", "fd00:0:0:1::12", 64}, "fd00::/64"));
}

}  // namespace

}  // namespace tilewise::comm
