#include "comm/transport.h"

#include "runtime/base/error.h"

namespace tilewise::comm {

void Request::check() const {
  if (failed()) throw Error(ErrorKind::kRuntime, state_->error);
}

bool Transport::test(Request& request) {
  if (!request.done()) {
    progress();
    if (!request.done()) return false;
  }
  request.check();
  return true;
}

void wait(Transport& transport, Request& request) {
  wait_until(transport.doorbell(), [&] { return transport.test(request); });
}

void wait_all(Transport& transport, std::span<Request> requests) {
  size_t first_open = 0;
  wait_until(transport.doorbell(), [&] {
    transport.progress();
    while (first_open < requests.size() && requests[first_open].done()) ++first_open;
    return first_open == requests.size();
  });
  for (const Request& request : requests) request.check();
}

}  // namespace tilewise::comm
