// Doorbells that the ranks of one host ring for each other: MPI's messages wake nobody.
#pragma once

#include <mpi.h>

#include <vector>

#include "comm/doorbell.h"

namespace tilewise::comm {

// Collective. The bell of each rank of `comm`, in memory that the ranks of this host share; null for ranks of other
// hosts, and for all where the host has no such memory. Stays mapped until the process ends: who rings may be late.
std::vector<Doorbell::Words*> share_bells(MPI_Comm comm);

}  // namespace tilewise::comm
