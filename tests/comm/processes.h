// Ranks as processes, for tests: forked and waited for with a limit.
//
// A body runs in each child; its EXPECTs print as usual and make the child's status 1. Nothing is left running,
// whatever happens.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <new>
#include <vector>

namespace tilewise::comm {

// Memory that the ranks of a job share with the test.
template <class T>
class Shared {
 public:
  Shared() : at_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T{}) {}
  ~Shared() { munmap(at_, sizeof(T)); }
  T* operator->() const { return at_; }

 private:
  T* at_;
};

class Processes {
 public:
  using Body = std::function<void(int rank)>;

  // Starts the ranks at once.
  Processes(int size, const Body& body);
  ~Processes();  // kills what is left

  // How each rank ended: its exit status, minus the number of the signal that ended it, or kLate.
  static constexpr int kLate = -1000;
  std::vector<int> wait(std::chrono::milliseconds limit);

  void signal(int rank, int number) const;

 private:
  std::vector<pid_t> pids_;  // 0: has ended
};

// Seconds on a clock that all processes share.
double now();
// Seconds of processor time that this process has used.
double processor_time();

}  // namespace tilewise::comm
