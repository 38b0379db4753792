#include "ops/simd/block_copy.h"

#include <cstring>

#include "runtime/base/error.h"

namespace tilewise::ops::simd {

namespace {

struct Bytes16 {
  uint64_t low, high;
};

// Calls f with a value of an unsigned type of the item size. Elements may be unaligned: they move through memcpy.
template <class F>
void by_size(int itemsize, F&& f) {
  switch (itemsize) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    case 8: return f(uint64_t());
    case 16: return f(Bytes16());
    default: TW_CHECK(false, "no block moves for items of ", itemsize, " bytes");
  }
}

}  // namespace

void fill(char* dst, const char* src, int64_t count, int itemsize) {
  by_size(itemsize, [&](auto v) {
    std::memcpy(&v, src, sizeof v);
    for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * sizeof v, &v, sizeof v);
  });
}

void gather(char* dst, const char* src, int64_t stride, int64_t count, int itemsize) {
  if (stride == itemsize) {
    std::memcpy(dst, src, count * itemsize);
  } else if (stride == 0) {
    fill(dst, src, count, itemsize);
  } else {
    by_size(itemsize, [&](auto v) {
      for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * sizeof v, src + i * stride, sizeof v);
    });
  }
}

void scatter(char* dst, int64_t stride, const char* src, int64_t count, int itemsize) {
  if (stride == itemsize) {
    std::memcpy(dst, src, count * itemsize);
  } else {
    by_size(itemsize, [&](auto v) {
      for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * stride, src + i * sizeof v, sizeof v);
    });
  }
}

void pad(char* block, int64_t count, int64_t padded, int itemsize) {
  if (padded > count && count > 0) fill(block + count * itemsize, block + (count - 1) * itemsize, padded - count, itemsize);
}

void iota(char* dst, int64_t start, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t v = start + i;
    std::memcpy(dst + i * 8, &v, 8);
  }
}

}  // namespace tilewise::ops::simd
