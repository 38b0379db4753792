// Where transports come from. Each back end is a file or library of its own behind these functions.
#pragma once

#include <memory>
#include <vector>

#include "comm/transport.h"

namespace tilewise::comm {

// `size` ranks in this process, joined by memory; element r is rank r's end. Give each rank a thread, or drive them in turn.
// With size 1 it is the transport of a job that runs alone.
std::vector<std::unique_ptr<Transport>> make_local(int size);

}  // namespace tilewise::comm
