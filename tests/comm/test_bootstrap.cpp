// Who am I: what launchers' variables mean, whose process this is, and the exchanges.
#include "comm/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

using Variables = std::map<std::string, std::string>;

// The environment without any launcher in it, plus what a test sets.
class BootstrapTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "PMI_RANK",
          "PMI_SIZE", "PMIX_RANK", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_PROCID",
          "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID", "SLURM_JOB_ID", "TILEWISE_FIRST_PROCESS"})
      unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static void set(const Variables& variables) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
};

TEST_F(BootstrapTest, OutsideAJobOneIsAlone) {
  const JobPlace place = find_job_place();
  EXPECT_TRUE(place.alone());
  EXPECT_EQ(place.rank, 0);
  EXPECT_TRUE(place.launcher.empty());
  EXPECT_STREQ(open_transport(place)->name(), "local");
}

TEST_F(BootstrapTest, LaunchersAreRecognised) {
  const std::pair<Variables, JobPlace> cases[] = {
      {{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "2"}}, {2, 4, "Open MPI", ""}},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}, {0, 3, "MPICH or Intel MPI", ""}},
      {{{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_ID", "0"}}, {1, 2, "Slurm", ""}},
      {{{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}}, {0, 1, "", ""}},  // a batch script
      {{{"PMIX_RANK", "5"}}, {5, 0, "PMIx", ""}},
      {{{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, {0, 1, "", ""}},
      {{{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, {0, 1, "", ""}},
  };
  for (const auto& [variables, expected] : cases) {
    SetUp();
    set(variables);
    const JobPlace place = find_job_place();
    EXPECT_EQ(place.rank, expected.rank);
    EXPECT_EQ(place.size, expected.size);
    EXPECT_EQ(place.launcher, expected.launcher);
    EXPECT_EQ(place.identity.empty(), place.launcher.empty());
  }
}

TEST_F(BootstrapTest, ChildrenOfARankAreToldApart) {
  set({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_NAMESPACE", "job7"}});
  EXPECT_TRUE(claim_process(find_job_place()));
  EXPECT_TRUE(claim_process(find_job_place())) << "again, in the same process";
  const std::string stamp = std::getenv("TILEWISE_FIRST_PROCESS");
  EXPECT_EQ(stamp, std::to_string(getpid()) + "@" + find_job_place().identity);

  set({{"TILEWISE_FIRST_PROCESS", "1" + stamp}});
  EXPECT_FALSE(claim_process(find_job_place())) << "another process of the same rank left the stamp";
  set({{"PMIX_NAMESPACE", "job8"}});
  EXPECT_TRUE(claim_process(find_job_place())) << "a rank of a new job, started by a stamped process";
  SetUp();
  set({{"TILEWISE_FIRST_PROCESS", "1@"}});
  EXPECT_FALSE(claim_process(find_job_place()));
}

TEST_F(BootstrapTest, ExchangesGiveEveryonesBlobs) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("tilewise-exchange-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  auto ends = make_local(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto blob = [](int of, int round) {
        return std::string(static_cast<size_t>(of * 1000), 'x') + std::to_string(round);
      };
      Exchange exchanges[] = {exchange_over(*ends[static_cast<size_t>(rank)]),
                              exchange_through_folder(folder, rank, 3)};
      for (Exchange& exchange : exchanges)
        for (int round = 0; round < 3; ++round)
          EXPECT_EQ(exchange(blob(rank, round)),
                    (std::vector<std::string>{blob(0, round), blob(1, round), blob(2, round)}));
    });
  }
  for (auto& rank : ranks) rank.join();
  std::filesystem::remove_all(folder);
}

TEST_F(BootstrapTest, AFolderExchangeNamesWhoIsMissing) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("tilewise-missing-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  try {
    exchange_through_folder(folder, 1, 4, std::chrono::milliseconds(20))("here");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("from rank 0, 2, 3 "));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

}  // namespace tilewise::comm
