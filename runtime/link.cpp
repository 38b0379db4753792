// Joining a job. A process that runs alone needs a machine and nothing else.
#include "runtime/base/env.h"
#include "runtime/session_state.h"

namespace tilewise::session {

std::unique_ptr<Link> join_job(State& s) {
  s.role = Role{};
  make_machine(settings().devices, 0, 1);
  return nullptr;
}

}  // namespace tilewise::session
