// Who takes part: the ranks, their devices, and the road between them.
//
// Devices are numbered through the job, rank by rank; every rank has as many. A plain value that the engine keeps; the
// machine and the transport outlive it.
#pragma once

#include "comm/transport.h"
#include "runtime/device.h"

namespace tilewise {

struct Job {
  int rank = 0;
  int size = 1;
  std::vector<Device*> local;            // devices of this rank
  comm::Transport* transport = nullptr;  // null in a job of one rank
  Queue* comm_queue = nullptr;
  int few_ranks = 8;  // up to so many send small results from each to each

  int devices_per_rank() const { return static_cast<int>(local.size()); }
  int devices() const { return size * devices_per_rank(); }
  int rank_of(int device) const { return device / devices_per_rank(); }
  int first_device(int of_rank) const { return of_rank * devices_per_rank(); }
  // The device, if it is ours.
  Device* device(int number) const {
    return rank_of(number) == rank ? local[number % devices_per_rank()] : nullptr;
  }
};

}  // namespace tilewise
