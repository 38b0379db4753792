#include "ops/matmul/pack.h"

#include <algorithm>
#include <cstring>

namespace tilewise::ops {

namespace {

constexpr int64_t kStrip = 16;  // positions of all lanes at a time: what is written stays in the first-level cache

template <class From, class To>
To load_as(const char* at) {
  From v;
  std::memcpy(&v, at, sizeof v);
  if constexpr (std::is_same_v<From, bool>) return v ? To(1) : To(0);
  else if constexpr (std::is_integral_v<To>) return static_cast<To>(v);
  else return convert<To>(v);
}

template <class From, class To>
void pack_real(const PackSource& source, int lanes, int width, int64_t depth, void* panel) {
  To* to = static_cast<To*>(panel);
  if (source.lane == sizeof(From)) {
    for (int64_t k = 0; k < depth; ++k) {
      const char* from = source.data + k * source.position;
      if constexpr (std::is_same_v<From, To>) std::memcpy(to + k * width, from, lanes * sizeof(To));
      else
        for (int l = 0; l < lanes; ++l) to[k * width + l] = load_as<From, To>(from + l * sizeof(From));
      for (int l = lanes; l < width; ++l) to[k * width + l] = to[k * width + lanes - 1];
    }
      return;
  }
  for (int64_t k = 0; k < depth; k += kStrip) {
    const int64_t strip = std::min(kStrip, depth - k);
    for (int l = 0; l < width; ++l) {
      const char* from = source.data + std::min(l, lanes - 1) * source.lane + k * source.position;
      To* lane = to + k * width + l;
      if (source.position == sizeof(From) && strip == kStrip) {
        for (int64_t i = 0; i < kStrip; ++i) lane[i * width] = load_as<From, To>(from + i * sizeof(From));
      } else {
        for (int64_t i = 0; i < strip; ++i) lane[i * width] = load_as<From, To>(from + i * source.position);
      }
    }
  }
}

template <class Part>
void pack_complex(const PackSource& source, int lanes, int width, int64_t depth, void* panel) {
  Part* to = static_cast<Part*>(panel);
  for (int64_t k = 0; k < depth; k += kStrip) {
    const int64_t strip = std::min(kStrip, depth - k);
    for (int l = 0; l < width; ++l) {
      const char* from = source.data + std::min(l, lanes - 1) * source.lane + k * source.position;
      Part* lane = to + 2 * k * width + l;
      for (int64_t i = 0; i < strip; ++i) {
        Part parts[2];
        std::memcpy(parts, from + i * source.position, sizeof parts);
        lane[2 * i * width] = parts[0];
        lane[(2 * i + 1) * width] = parts[1];
      }
    }
  }
}

}  // namespace

Packer packer(DType from) {
  switch (from) {
    case DType::kBool: return pack_real<bool, float>;
    case DType::kInt8: return pack_real<int8_t, uint32_t>;
    case DType::kInt16: return pack_real<int16_t, uint32_t>;
    case DType::kInt32: return pack_real<uint32_t, uint32_t>;
    case DType::kInt64: return pack_real<uint64_t, uint64_t>;
    case DType::kUInt8: return pack_real<uint8_t, uint32_t>;
    case DType::kUInt16: return pack_real<uint16_t, uint32_t>;
    case DType::kUInt32: return pack_real<uint32_t, uint32_t>;
    case DType::kUInt64: return pack_real<uint64_t, uint64_t>;
    case DType::kFloat16: return pack_real<Half, float>;
    case DType::kFloat32: return pack_real<float, float>;
    case DType::kFloat64: return pack_real<double, double>;
    case DType::kComplex64: return pack_complex<float>;
    case DType::kComplex128: return pack_complex<double>;
    case DType::kVoid: break;
  }
  TW_CHECK(false, "no products of ", name(from));
}

}  // namespace tilewise::ops
