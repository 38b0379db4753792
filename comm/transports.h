// Where transports come from. Each back end is a file or library of its own behind these functions.
#pragma once

#include <memory>
#include <vector>

#include "comm/transport.h"

namespace tilewise::comm {

// `size` ranks in this process, joined by memory; element r is rank r's end. Give each rank a thread, or drive
// them in turn. With size 1 it is the transport of a job that runs alone.
std::vector<std::unique_ptr<Transport>> make_local(int size);

struct MpiOptions {
  bool program_calls_mpi = false;  // the program uses MPI itself, from any of its threads
  int most_tags = 0;               // use no more MPI tags than this; 0: all. For tests
};

// This process's end of the MPI job that it was started in: loads libtilewise_mpi.so, which lies beside our own
// library, and initialises MPI unless that is done. The thread that calls this also calls shutdown(). Throws
// Error(kRuntime) with the remedy when the library or MPI is missing. Outside a job do not call it: use
// make_local(1).
std::unique_ptr<Transport> open_mpi(const MpiOptions& options = {});

}  // namespace tilewise::comm
