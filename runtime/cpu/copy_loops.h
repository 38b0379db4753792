// The innermost loops of the copy kernel, one set for each number of bytes moved at once (1, 2, 4, 8, 16).
//
// Plain functions of pointers and strides in bytes; nothing need be aligned.
#pragma once

#include <cstdint>

namespace tilewise::cpu {

struct CopyLoops {
  // n items along one axis.
  void (*line)(char* to, const char* from, int64_t n, int64_t to_stride, int64_t from_stride) = nullptr;
  // n x m items. The source runs along the first axis (from_n is its smallest stride), the target along the second.
  void (*tiles)(char* to, const char* from, int64_t n, int64_t to_n, int64_t from_n, int64_t m, int64_t to_m,
                int64_t from_m) = nullptr;
};

// Items along the edge of a tile: whole cache lines for every size, while two tiles stay in L1.
inline constexpr int64_t kTileEdge = 64;

CopyLoops copy_loops(int64_t unit);

// n rows of `bytes` contiguous bytes each.
void copy_rows(char* to, const char* from, int64_t n, int64_t to_stride, int64_t from_stride, int64_t bytes);

}  // namespace tilewise::cpu
