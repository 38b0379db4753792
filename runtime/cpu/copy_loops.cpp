#include "runtime/cpu/copy_loops.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

// ---- Tiles ----------------------------------------------------------------------------------------------------------

// A vector register of items.
template <class T>
struct Lanes {
  static constexpr int kCount = 16 / sizeof(T);
  typedef T Type __attribute__((vector_size(16)));
};

// The first (kHalf = 0) or last halves of a and b, item by item in turn.
template <class T, int kHalf, int... k>
typename Lanes<T>::Type interleave(typename Lanes<T>::Type a, typename Lanes<T>::Type b,
                                   std::integer_sequence<int, k...>) {
  constexpr int kCount = Lanes<T>::kCount;
  return __builtin_shufflevector(a, b, (k / 2 + kHalf * (kCount / 2) + k % 2 * kCount)...);
}

// A square of registers transposed: interleaving row r with row r + half, for all rows, as often as the side doubles.
template <class T>
void transpose_square(char* to, int64_t to_n, const char* from, int64_t from_m) {
  constexpr int kCount = Lanes<T>::kCount;
  using Vector = typename Lanes<T>::Type;
  using Order = std::make_integer_sequence<int, kCount>;
  Vector rows[kCount], next[kCount];  // in registers once the loops are unrolled
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) std::memcpy(&rows[r], from + r * from_m, 16);
#pragma GCC unroll 16
  for (int side = 1; side < kCount; side *= 2) {
#pragma GCC unroll 16
    for (int r = 0; r < kCount / 2; ++r) {
      next[2 * r] = interleave<T, 0>(rows[r], rows[r + kCount / 2], Order());
      next[2 * r + 1] = interleave<T, 1>(rows[r], rows[r + kCount / 2], Order());
    }
#pragma GCC unroll 16
    for (int r = 0; r < kCount; ++r) rows[r] = next[r];
  }
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) std::memcpy(to + r * to_n, &rows[r], 16);
}

template <>
void transpose_square<Bytes16>(char* to, int64_t, const char* from, int64_t) {
  std::memcpy(to, from, 16);
}

// A square of whole cache lines on both sides, so that each line is touched once.
template <class T>
void transpose_lines(char* to, int64_t to_n, const char* from, int64_t from_m) {
  constexpr int64_t kSize = sizeof(T), kSide = 64 / kSize, kStep = std::max<int64_t>(16 / kSize, 1);
  for (int64_t j = 0; j < kSide; j += kStep) {
    for (int64_t i = 0; i < kSide; i += kStep) {
      transpose_square<T>(to + i * to_n + j * kSize, to_n, from + i * kSize + j * from_m, from_m);
    }
  }
}

template <class T>
void tile(char* to, const char* from, int64_t n, int64_t to_n, int64_t from_n, int64_t m, int64_t to_m,
          int64_t from_m) {
  for (int64_t i = 0; i < n; ++i) line<T>(to + i * to_n, from + i * from_n, m, to_m, from_m);
}

// A tile at a time, so that each cache line of source and target is touched once while it is near.
template <class T>
void tiles(char* to, const char* from, int64_t n, int64_t to_n, int64_t from_n, int64_t m, int64_t to_m,
           int64_t from_m) {
  constexpr int64_t kSize = sizeof(T);
  const bool dense = from_n == kSize && to_m == kSize;
  const int64_t edge = dense ? 64 / kSize : kTileEdge;
  for (int64_t i = 0; i < n; i += edge) {
    for (int64_t j = 0; j < m; j += edge) {  // along the target, whose lines are then written one after another
      char* corner = to + i * to_n + j * to_m;
      const char* source = from + i * from_n + j * from_m;
      if (dense && i + edge <= n && j + edge <= m) {
        transpose_lines<T>(corner, to_n, source, from_m);
      } else {
        tile<T>(corner, source, std::min(edge, n - i), to_n, from_n, std::min(edge, m - j), to_m, from_m);
      }
    }
  }
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

// Rows of a length between sizeof(T) and twice that: two moves that may overlap.
template <class T>
void short_rows(char* to, const char* from, int64_t n, int64_t to_stride, int64_t from_stride, int64_t bytes) {
  const int64_t last = bytes - sizeof(T);
  for (; n > 0; --n, to += to_stride, from += from_stride) {
    T first = get<T>(from), second = get<T>(from + last);
    put(to, first);
    put(to + last, second);
  }
}

struct Bytes32 {
  Bytes16 low, high;
};

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

void copy_rows(char* to, const char* from, int64_t n, int64_t to_stride, int64_t from_stride, int64_t bytes) {
  if (bytes > 64) {
    for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
    return;
  }
  auto rows = bytes >= 32   ? short_rows<Bytes32>
              : bytes >= 16 ? short_rows<Bytes16>
              : bytes >= 8  ? short_rows<uint64_t>
              : bytes >= 4  ? short_rows<uint32_t>
              : bytes >= 2  ? short_rows<uint16_t>
                            : short_rows<uint8_t>;
  rows(to, from, n, to_stride, from_stride, bytes);
}

}  // namespace tilewise::cpu
