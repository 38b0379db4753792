// Integer helpers that C++'s division lacks: rounding towards minus and plus infinity.
#pragma once

#include <cstdint>
#include <numeric>

namespace tilewise::partition {

// b > 0 in all of these.
inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
inline int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }
inline int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r < 0 ? r + b : r;
}

}  // namespace tilewise::partition
