#include "tests/comm/processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <thread>

namespace tilewise::comm {

namespace {

double read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

[[noreturn]] void run_rank(int rank, const Processes::Body& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    body(rank);
  } catch (const std::exception& error) {
    std::printf("rank %d: %s\n", rank, error.what());
    std::fflush(stdout);
    std::exit(2);
  }
  std::fflush(stdout);
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

}  // namespace

double now() { return read_clock(CLOCK_MONOTONIC); }
double processor_time() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

Processes::Processes(int size, const Body& body) {
  std::fflush(stdout);
  for (int rank = 0; rank < size; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) run_rank(rank, body);
    pids_.push_back(pid);
  }
}

Processes::~Processes() {
  for (const pid_t pid : pids_) {
    if (pid == 0) continue;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

std::vector<int> Processes::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::vector<int> ends(pids_.size(), kLate);
  for (size_t left = pids_.size(); left > 0 && std::chrono::steady_clock::now() < deadline;) {
    for (size_t rank = 0; rank < pids_.size(); ++rank) {
      int status = 0;
      if (pids_[rank] == 0 || waitpid(pids_[rank], &status, WNOHANG) != pids_[rank]) continue;
      ends[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      pids_[rank] = 0;
      --left;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ends;
}

void Processes::signal(int rank, int number) const { kill(pids_[static_cast<size_t>(rank)], number); }

}  // namespace tilewise::comm
