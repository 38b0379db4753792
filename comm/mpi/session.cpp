#include "comm/mpi/session.h"

#include <csignal>

#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

// Threads that MPI starts meanwhile take none of the signals that are meant for the program.
class OnlyHere {
 public:
  OnlyHere() {
    sigset_t ours;
    sigemptyset(&ours);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH})
      sigaddset(&ours, number);
    pthread_sigmask(SIG_BLOCK, &ours, &before_);
  }
  ~OnlyHere() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::string mpi_error(int code, const char* call) {
  char text[MPI_MAX_ERROR_STRING + 1] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return str(call, ": ", text);
}

void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw Error(ErrorKind::kRuntime, mpi_error(code, call));
}

MpiSession open_session(bool shared) {
  MpiSession session;
  int initialised = 0, finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised)
    throw Error(ErrorKind::kRuntime, "MPI was finalised before tilewise could use it: import tilewise earlier");
  MPI_Initialized(&initialised);
  if (!initialised) {
    // Our calls come from one thread at a time, under a lock; more is needed only when the program's own calls run
    // beside.
    const int wanted = shared ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    const OnlyHere signals;
    check_mpi(MPI_Init_thread(nullptr, nullptr, wanted, &session.thread_level), "MPI_Init_thread");
    session.initialised_here = true;
  } else {
    MPI_Query_thread(&session.thread_level);
  }
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &session.comm), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(session.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(session.comm, &session.rank);
  MPI_Comm_size(session.comm, &session.size);
  int* limit = nullptr;
  int known = 0;
  MPI_Comm_get_attr(session.comm, MPI_TAG_UB, &limit, &known);
  if (known) session.largest_tag = *limit;
  return session;
}

void close_session(MpiSession& session) {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised) return;
  if (session.comm != MPI_COMM_NULL) MPI_Comm_free(&session.comm);
  if (session.initialised_here) MPI_Finalize();
}

}  // namespace tilewise::comm
