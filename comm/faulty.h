// A transport with faults, for tests: wraps another one and, by a seeded dice, delays, drops or duplicates what is
// sent.
//
// Delays keep every promise of a transport and only use its freedom: messages of different (peer, tag) overtake
// each other. Drops and duplicates break the promises; a job that meets them must end with an error that names its
// cause, or go on rightly. A dropped message's send ends well, as it would on a network.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "comm/transport.h"

namespace tilewise::comm {

struct Faults {
  uint64_t seed = 1;
  double delay = 0;  // the part of messages that is delayed, 0 to 1; likewise below
  double drop = 0;
  double duplicate = 0;
  std::chrono::microseconds longest_delay{2000};
};

std::unique_ptr<Transport> make_faulty(std::unique_ptr<Transport> inner, const Faults& faults);

}  // namespace tilewise::comm
