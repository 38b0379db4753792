// Moves between arrays and block registers: strided, broadcast and packed, for elements of 1 to 16 bytes. Plain
// functions on memory; any thread.
#pragma once

#include <cstdint>

namespace tilewise::ops::simd {

// dst[i] = src[i * stride bytes], dense, for i < count. Stride 0 repeats the one element.
void gather(char* dst, const char* src, int64_t stride, int64_t count, int itemsize);
// dst[i * stride bytes] = src[i].
void scatter(char* dst, int64_t stride, const char* src, int64_t count, int itemsize);
// dst[i] = the element at src, for i < count.
void fill(char* dst, const char* src, int64_t count, int itemsize);
// Repeats the last of `count` elements up to `padded`.
void pad(char* block, int64_t count, int64_t padded, int itemsize);
// The coordinates start, start + 1, ... as int64; or one value repeated.
void iota(char* dst, int64_t start, int64_t count);

}  // namespace tilewise::ops::simd
