// How the ranks of a job find each other: each parent in the tree listens, its children connect and show the job's
// token.
//
// The token is drawn by the leader and travels by the bootstrap exchange alone, so a connection from outside the
// job is turned away before anything of it is read. Listeners are gone once the tree stands.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "comm/control.h"
#include "comm/control/sockets.h"
#include "comm/control/tree.h"

namespace tilewise::comm {

struct Wiring {
  std::vector<std::pair<int, Fd>> links;  // neighbours: the parent first, then the children
  std::vector<std::string> hosts;         // names, by rank
  std::vector<std::string> host_ids;      // equal where a Unix socket connects two ranks
  std::vector<std::string> cards;         // what each rank tells
};

Wiring wire_up(const ControlOptions& options, const Tree& tree);

}  // namespace tilewise::comm
