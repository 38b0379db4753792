// The process's part in an MPI job: initialisation, a communicator of our own, finalisation.
//
// MPI is initialised only if nobody (mpi4py, say) has done so, and finalised only if we initialised it, by the
// same thread. Errors are returned, not fatal, on our communicator: the job names its dead itself.
#pragma once

#include <mpi.h>

#include <string>

namespace tilewise::comm {

struct MpiSession {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  int thread_level = MPI_THREAD_SINGLE;
  int largest_tag = 32767;
  bool initialised_here = false;
};

// `shared`: the program calls MPI too, from threads of its own.
MpiSession open_session(bool shared);

// Collective. Ends what open_session began; harmless when MPI has been finalised by others meanwhile.
void close_session(MpiSession& session);

// Throws Error(kRuntime) with MPI's own words when `code` is an error.
void check_mpi(int code, const char* call);
std::string mpi_error(int code, const char* call);

}  // namespace tilewise::comm
