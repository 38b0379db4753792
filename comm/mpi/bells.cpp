#include "comm/mpi/bells.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "comm/mpi/session.h"

namespace tilewise::comm {

std::vector<Doorbell::Words*> share_bells(MPI_Comm comm) {
  int rank = 0, size = 1, here = 0, ranks_here = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  MPI_Comm_rank(host, &here);
  MPI_Comm_size(host, &ranks_here);
  std::vector<int> ranks(static_cast<size_t>(ranks_here));
  MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, host);

  // The first rank makes a file that has a name only until all have opened it.
  char path[64] = "/dev/shm/tilewise-XXXXXX";
  const size_t bytes = ranks.size() * sizeof(Doorbell::Words);
  int file = -1;
  if (here == 0) {
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) std::memset(path, 0, sizeof path);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, host);
  if (here != 0 && path[0]) file = open(path, O_RDWR | O_CLOEXEC);
  void* memory = path[0] && file >= 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (file >= 0) close(file);
  int mapped = memory != MAP_FAILED, all_mapped = 0;
  MPI_Allreduce(&mapped, &all_mapped, 1, MPI_INT, MPI_MIN, host);
  if (here == 0 && path[0]) unlink(path);
  MPI_Comm_free(&host);

  std::vector<Doorbell::Words*> bells(static_cast<size_t>(size), nullptr);
  for (size_t i = 0; all_mapped && i < ranks.size(); ++i)
    bells[static_cast<size_t>(ranks[i])] = static_cast<Doorbell::Words*>(memory) + i;  // zeros, as new words are
  return bells;
}

}  // namespace tilewise::comm
