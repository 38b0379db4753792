#include "runtime/base/error.h"

namespace tilewise {

void fail_check(const char* file, int line, const char* condition, const std::string& message) {
  throw Error(ErrorKind::kInternal, str("internal error at ", file, ":", line, ": ", condition,
                                        message.empty() ? "" : ": ", message));
}

}  // namespace tilewise
