#include "runtime/fp_events.h"

namespace tilewise {

std::string fp_operation(const FpOrigin& origin) {
  static constexpr const char* kNames[kFpNames] = {"",       "",       "matmul",   "dot",    "vecdot", "matvec",
                                                   "vecmat", "reduce", "subtract", "square", "divide", "accumulate"};
  if (origin.told_as >= kFpMatmul && origin.told_as < kFpNames) return kNames[origin.told_as];
  std::string name = origin.op >= kFirstRow ? std::string(op_info(origin.op).name) : origin.op == kCast ? "cast" : "reduce";
  return origin.told_as == kFpScalar ? "scalar " + name : name;
}

}  // namespace tilewise
