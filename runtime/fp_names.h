// Under which name an operation's floating-point conditions are told, where it is not that of a row.
//
// NumPy's functions have names of their own for what is one operation here: a product is a dot in `numpy.dot`. A record says
// which it is, and every rank tells it so. Plain values.
#pragma once

#include <cstdint>

namespace tilewise {

enum FpName : uint8_t {
  kFpOwn,     // the row's name, "cast" or "reduce"
  kFpScalar,  // "scalar " and the row's name
  kFpMatmul,
  kFpDot,
  kFpVecdot,
  kFpMatvec,
  kFpVecmat,
  kFpReduce,
  kFpSubtract,  // the parts of moments, beside their sums: in the order of launch.h
  kFpSquare,
  kFpQuotient,
  kFpAccumulate,
  kFpNames,
};

// For ToldAs: nothing is told, as by numpy.vdot.
inline constexpr uint8_t kFpSilent = 0xff;

}  // namespace tilewise
