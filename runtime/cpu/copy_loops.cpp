#include "runtime/cpu/copy_loops.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"

namespace tilewise::cpu {

namespace {

struct Bytes16 {
  uint64_t low, high;
};

template <class T>
T get(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void put(char* to, const T& value) {
  std::memcpy(to, &value, sizeof(T));
}

// The strides known to the compiler, so that it can vectorise; 0 in kFrom or kTo stands for "not known".
template <class T, int64_t kTo, int64_t kFrom>
void line_of(char* to, const char* from, int64_t n, int64_t to_stride, int64_t from_stride) {
  const int64_t step_to = kTo ? kTo : to_stride, step_from = kFrom ? kFrom : from_stride;
  for (int64_t i = 0; i < n; ++i) put(to + i * step_to, get<T>(from + i * step_from));
}

template <class T>
void line(char* to, const char* from, int64_t n, int64_t to_stride, int64_t from_stride) {
  constexpr int64_t kSize = sizeof(T);
  if (to_stride != kSize) return line_of<T, 0, 0>(to, from, n, to_stride, from_stride);
  if (from_stride == 0) {
    const T value = get<T>(from);
    for (int64_t i = 0; i < n; ++i) put(to + i * kSize, value);
  } else if (from_stride == -kSize) {
    line_of<T, kSize, -kSize>(to, from, n, to_stride, from_stride);
  } else if (from_stride == 2 * kSize) {
    line_of<T, kSize, 2 * kSize>(to, from, n, to_stride, from_stride);
  } else {
    line_of<T, kSize, 0>(to, from, n, to_stride, from_stride);
  }
}

// A tile at a time, so that each cache line of source and target is touched once while it is near.
template <class T>
void tiles(char* to, const char* from, int64_t n, int64_t to_n, int64_t from_n, int64_t m, int64_t to_m,
           int64_t from_m) {
  for (int64_t i0 = 0; i0 < n; i0 += kTileEdge) {
    int64_t i1 = std::min(n, i0 + kTileEdge);
    for (int64_t j0 = 0; j0 < m; j0 += kTileEdge) {
      int64_t j1 = std::min(m, j0 + kTileEdge);
      for (int64_t i = i0; i < i1; ++i) {
        line<T>(to + i * to_n + j0 * to_m, from + i * from_n + j0 * from_m, j1 - j0, to_m, from_m);
      }
    }
  }
}

template <class T>
CopyLoops loops_of() {
  return {line<T>, tiles<T>};
}

}  // namespace

CopyLoops copy_loops(int64_t unit) {
  switch (unit) {
    case 1: return loops_of<uint8_t>();
    case 2: return loops_of<uint16_t>();
    case 4: return loops_of<uint32_t>();
    case 8: return loops_of<uint64_t>();
    case 16: return loops_of<Bytes16>();
  }
  TW_CHECK(false, "no copy loops for ", unit, " bytes");
}

}  // namespace tilewise::cpu
