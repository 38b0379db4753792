// Delays keep the contract; drops and duplicates do what their names say.
#include "comm/faulty.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>

#include "comm/transports.h"
#include "runtime/base/error.h"
#include "tests/comm/transport_contract.h"

namespace tilewise::comm {

namespace {

std::vector<std::unique_ptr<Transport>> faulty_ranks(int size, const Faults& faults) {
  std::vector<std::unique_ptr<Transport>> ends;
  for (auto& end : make_local(size)) ends.push_back(make_faulty(std::move(end), faults));
  return ends;
}

template <class T>
BufferView value(T& one) {
  return {&one, sizeof(T), MemoryKind::kHost, -1};
}

class DelayedContract : public testing::TestWithParam<contract::Case> {};

TEST_P(DelayedContract, Holds) {
  if (std::string(GetParam().name) == "MoreThan2To31Bytes") GTEST_SKIP() << "nothing about delays";
  auto ends = faulty_ranks(3, {.seed = 5, .delay = 0.5});
  std::vector<std::thread> threads;
  for (auto& end : ends) threads.emplace_back([&] { GetParam().run(*end); });
  for (auto& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Faulty, DelayedContract, testing::ValuesIn(contract::cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Faulty, DelaysLetMessagesOvertake) {
  auto ends = faulty_ranks(2, {.seed = 3, .delay = 0.5});
  std::vector<int> numbers(50), order;
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<Request> sends, receives;
  for (int& number : numbers) sends.push_back(ends[0]->isend(1, static_cast<uint64_t>(number), value(number)));
  std::vector<int> got(50, -1);
  for (int& number : numbers)
    receives.push_back(ends[1]->irecv(0, static_cast<uint64_t>(number), value(got[static_cast<size_t>(number)])));
  while (order.size() < numbers.size()) {
    ends[0]->progress();
    for (int i = 0; i < 50; ++i)
      if (receives[static_cast<size_t>(i)].done() && std::count(order.begin(), order.end(), i) == 0)
        order.push_back(i);
  }
  EXPECT_EQ(got, numbers);
  EXPECT_NE(order, numbers);
  wait_all(*ends[0], sends);
}

TEST(Faulty, WhatIsDroppedNeverComes) {
  auto ends = faulty_ranks(2, {.drop = 1});
  int sent = 1, got = 0;
  Request send = ends[0]->isend(1, 1, value(sent)), receive = ends[1]->irecv(0, 1, value(got));
  wait(*ends[0], send);
  for (int i = 0; i < 100; ++i) ends[0]->progress(), ends[1]->progress();
  EXPECT_FALSE(receive.done());
  ends[1]->abort("rank 0 is silent");
  EXPECT_THROW(wait(*ends[1], receive), Error);
}

TEST(Faulty, WhatIsDuplicatedComesTwice) {
  auto ends = faulty_ranks(2, {.duplicate = 1});
  int sent = 7, got[2] = {0, 0};
  Request send = ends[0]->isend(1, 1, value(sent));
  wait(*ends[0], send);
  for (int& one : got) {
    Request receive = ends[1]->irecv(0, 1, value(one));
    wait(*ends[1], receive);
    EXPECT_EQ(one, 7);
  }
}

TEST(Faulty, AbortFailsWhatIsHeld) {
  auto ends = faulty_ranks(2, {.delay = 1, .longest_delay = std::chrono::seconds(100)});
  int sent = 7;
  Request send = ends[0]->isend(1, 1, value(sent));
  ends[0]->abort("enough");
  EXPECT_THROW(wait(*ends[0], send), Error);
}

}  // namespace

}  // namespace tilewise::comm
