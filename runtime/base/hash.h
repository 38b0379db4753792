// Hashing of plain data: keys of caches and the running hash of a stream. Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tilewise {

inline uint64_t mix(uint64_t h, uint64_t value) {
  h ^= value + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

inline uint64_t hash_bytes(const void* data, size_t bytes, uint64_t h = 0x243f6a8885a308d3ull) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (; bytes >= 8; p += 8, bytes -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = mix(h, word);
  }
  uint64_t rest = bytes;
  for (size_t i = 0; i < bytes; ++i) rest = rest << 8 | p[i];
  return mix(h, rest);
}

}  // namespace tilewise
