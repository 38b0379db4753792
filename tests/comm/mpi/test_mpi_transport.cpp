// The contract of transports on MPI: this program runs under mpirun, and every rank runs the same tests in the same order.
//
//   mpirun -n 3 test_comm_mpi                         MPI initialised by tilewise
//   mpirun -n 2 test_comm_mpi --initialised-before    by the program, with the least thread support, as some programs do
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "comm/collectives.h"
#include "comm/transports.h"
#include "tests/comm/transport_contract.h"

namespace tilewise::comm {

namespace {

std::unique_ptr<Transport> job;       // all ranks
std::unique_ptr<Transport> few_tags;  // the same ranks, with so few MPI tags that they come round at once

class MpiContract : public testing::TestWithParam<contract::Case> {
 protected:
  void TearDown() override { barrier(*job, ~0ull); }
};

TEST_P(MpiContract, Holds) {
  if (job->size() < GetParam().least_ranks) GTEST_SKIP() << "needs " << GetParam().least_ranks << " ranks";
  if (std::string(GetParam().name) == "MoreThan2To31Bytes" && job->size() > 2) GTEST_SKIP() << "two ranks show it";
  GetParam().run(*job);
}

TEST_P(MpiContract, HoldsWithFewTags) {
  if (job->size() < GetParam().least_ranks) GTEST_SKIP() << "needs " << GetParam().least_ranks << " ranks";
  if (std::string(GetParam().name) == "MoreThan2To31Bytes") GTEST_SKIP() << "shown with all tags";
  GetParam().run(*few_tags);
}

INSTANTIATE_TEST_SUITE_P(Ranks, MpiContract, testing::ValuesIn(contract::cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MpiTransport, RanksAreThoseOfTheWorld) {
  int rank = -1, size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(job->rank(), rank);
  EXPECT_EQ(job->size(), size);
}

// One way, in the best of several rounds: others use the machine too.
TEST(MpiTransport, SmallMessagesTakeUnderTenMicroseconds) {
  if (job->size() != 2) GTEST_SKIP() << "measured between two ranks";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  constexpr int kTrips = 2000;
  double best = 1e9;
  uint64_t ball = 0;
  const BufferView view{&ball, sizeof ball, MemoryKind::kHost, -1};
  for (int round = 0; round < 5; ++round) {
    barrier(*job, 1);
    const auto start = std::chrono::steady_clock::now();
    for (int trip = 0; trip < kTrips; ++trip) {
      for (int server : {0, 1}) {
        Request request = job->rank() == server ? job->isend(1 - server, 2, view) : job->irecv(server, 2, view);
        wait(*job, request);
      }
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / kTrips / 2);
  }
  RecordProperty("microseconds", std::to_string(best));
  if (job->rank() == 0) std::printf("small message, one way: %.2f us\n", best);
  EXPECT_LT(best, 10.0);
}

}  // namespace

}  // namespace tilewise::comm

int main(int argc, char** argv) {
  using namespace tilewise::comm;
  testing::InitGoogleTest(&argc, argv);
  const bool before = argc > 1 && std::string(argv[1]) == "--initialised-before";
  int level = 0;
  if (before) MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  job = open_mpi();
  few_tags = open_mpi({.most_tags = 3});
  if (job->rank() != 0) delete testing::UnitTest::GetInstance()->listeners().Release(
      testing::UnitTest::GetInstance()->listeners().default_result_printer());
  const int result = RUN_ALL_TESTS();
  few_tags->shutdown();
  job->shutdown();
  job->shutdown();
  few_tags.reset();
  job.reset();
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (before != (finalised == 0)) return 1;  // exactly whoever initialised MPI finalises it
  if (before) MPI_Finalize();
  return result;
}
