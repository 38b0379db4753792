// Who am I: this process's place in a job, told by the environment alone, and the first words between its ranks.
//
// Nothing here touches MPI except open_transport(). A process that was started by one that already uses Tilewise
// (multiprocessing, subprocess) inherits its environment, and with it the look of a rank: claim_process() tells
// the two apart.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "comm/transports.h"

namespace tilewise::comm {

struct JobPlace {
  int rank = 0;
  int size = 1;          // 0: a job whose size only MPI knows
  std::string launcher;  // "Open MPI", "Slurm", ...; empty outside a job
  std::string identity;  // differs from job to job and from rank to rank; empty outside a job
  bool alone() const { return size == 1; }
};

// From the variables that launchers set.
JobPlace find_job_place();

// The first call in a process leaves its id and its place in TILEWISE_FIRST_PROCESS, for its children to find.
// False in such a child, which runs alone whatever the launcher's variables say. A child that a launcher made a
// rank of a new job is none.
bool claim_process(const JobPlace& place);

// The transport of that place: local when alone, else MPI. Throws Error(kRuntime) with the remedy when independent
// copies were started: the launcher says N ranks, MPI knows but one.
std::unique_ptr<Transport> open_transport(const JobPlace& place, MpiOptions options = {});

// The interfaces or subnets to which the user has bound MPI's own TCP, by comma; empty: none named.
std::string interface_of_job();

// Every rank's blob on every rank, by rank. All ranks call it equally often.
using Exchange = std::function<std::vector<std::string>(std::string_view mine)>;

Exchange exchange_over(Transport& transport);

// Without MPI: through files in a folder that all ranks see and that is new for this job. Throws Error(kRuntime)
// naming the ranks that are missing after the limit.
Exchange exchange_through_folder(std::string folder, int rank, int size,
                                 std::chrono::milliseconds limit = std::chrono::seconds(60));

}  // namespace tilewise::comm
