// Memory for the tiles, buffers and messages of steps, and what became of it.
//
// A process alone gets an exception where there is none. In a job the other ranks already wait for what this rank sends in
// the step: there it gets hollow memory instead, the step is issued as ever, and whoever issues it asks afterwards whether
// something was missing. So no rank ever decides otherwise than the others. Used from the engine's thread.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/job.h"

namespace tilewise {

class Shortage {
 public:
  // `hollow`, if given, is set where the memory holds nothing.
  BufferView allocate(const Job& job, Device& device, int64_t bytes, bool* hollow = nullptr) {
    if (hollow) *hollow = false;
    try {
      if (fails_in_test(job, bytes)) throw Error(ErrorKind::kMemory, "no memory, says a test");
      return device.allocate(static_cast<size_t>(bytes));
    } catch (const Error& error) {
      if (job.size == 1 || error.kind() != ErrorKind::kMemory) throw;
      if (!first_) first_ = std::current_exception();
    }
    if (hollow) *hollow = true;
    return device.allocate_hollow(static_cast<size_t>(bytes));
  }
  // Why the work issued since the last call has no memory; null: it has.
  std::exception_ptr take() { return std::exchange(first_, nullptr); }

 private:
  // TILEWISE_TEST_NO_MEMORY=1:5000000 makes rank 1 get no blocks of so many bytes or more; a third number says how often.
  static bool fails_in_test(const Job& job, int64_t bytes) {
    static const char* const wanted = std::getenv("TILEWISE_TEST_NO_MEMORY");
    if (!wanted) return false;
    static int rank = -1, left = std::numeric_limits<int>::max();
    static long long least = 0;
    if (rank < 0) std::sscanf(wanted, "%d:%lld:%d", &rank, &least, &left);
    return rank == job.rank && bytes >= least && left-- > 0;
  }
  std::exception_ptr first_;
};

}  // namespace tilewise
