// The contract of transports on local ranks, each a thread; and what only the local transport can show.
#include "comm/transports.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <tuple>

#include "comm/collectives.h"
#include "runtime/base/error.h"
#include "tests/comm/transport_contract.h"

namespace tilewise::comm {

namespace {

// Runs a body on every rank, each in its own thread.
template <class Body>
void on_all_ranks(std::vector<std::unique_ptr<Transport>>& ends, Body body) {
  std::vector<std::thread> threads;
  for (auto& end : ends) threads.emplace_back([&] { body(*end); });
  for (auto& thread : threads) thread.join();
}

class LocalContract : public testing::TestWithParam<std::tuple<contract::Case, int>> {};

TEST_P(LocalContract, Holds) {
  const auto& [example, size] = GetParam();
  if (size < example.least_ranks) GTEST_SKIP() << "needs " << example.least_ranks << " ranks";
  if (std::string(example.name) == "MoreThan2To31Bytes" && size > 2) GTEST_SKIP() << "two ranks show it";
  auto ends = make_local(size);
  on_all_ranks(ends, example.run);
}

INSTANTIATE_TEST_SUITE_P(Ranks, LocalContract,
                         testing::Combine(testing::ValuesIn(contract::cases()), testing::Values(1, 2, 3, 5, 8)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(LocalTransport, AbortEndsWaitsWithTheReason) {
  auto ends = make_local(2);
  char byte = 0;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ends[0]->abort("rank 1 died");
  });
  Request receive = ends[0]->irecv(1, 1, {&byte, 1, MemoryKind::kHost, -1});
  try {
    wait(*ends[0], receive);
    ADD_FAILURE() << "the wait returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    EXPECT_STREQ(error.what(), "rank 1 died");
  }
  other.join();
  ends[0]->abort("again");
  Request late = ends[0]->isend(1, 2, {&byte, 1, MemoryKind::kHost, -1});
  EXPECT_THROW(wait(*ends[0], late), Error);
}

TEST(LocalTransport, AbortWithdrawsTheSendersBuffer) {
  auto ends = make_local(2);
  std::vector<char> buffer(100'000, 'x'), target(100'000);
  Request send = ends[0]->isend(1, 1, {buffer.data(), buffer.size(), MemoryKind::kHost, -1});
  EXPECT_FALSE(send.done());
  ends[0]->abort("enough");
  EXPECT_TRUE(send.failed());
  Request receive = ends[1]->irecv(0, 1, {target.data(), target.size(), MemoryKind::kHost, -1});
  EXPECT_FALSE(receive.done());
}

TEST(LocalTransport, RefusesDeviceMemory) {
  auto ends = make_local(1);
  EXPECT_EQ(ends[0]->capabilities() & kDeviceMemory, 0u);
  char byte = 0;
  EXPECT_THROW(ends[0]->isend(0, 1, {&byte, 1, MemoryKind::kDevice, 0}), Error);
}

}  // namespace

}  // namespace tilewise::comm
