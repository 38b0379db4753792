// What every transport owes: one list of cases, run by each back end's test as a program on all its ranks.
//
// A case is called on every rank with that rank's transport, and checks with EXPECT. Ranks run the cases in the
// same order.
#pragma once

#include <vector>

#include "comm/transport.h"

namespace tilewise::comm::contract {

struct Case {
  const char* name;
  int least_ranks;
  void (*run)(Transport& transport);
};

const std::vector<Case>& cases();

}  // namespace tilewise::comm::contract
