// Packing of operands for the tiles of a matrix product: panels of `width` lanes, position by position along the
// contracted axis, in the type that products are added in. Lanes beyond the operand repeat its last one, so that they raise
// the same floating-point flags and no others.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/base/convert.h"

namespace tilewise::ops {

// Lanes and positions of an operand, strides in bytes.
struct PackSource {
  const char* data;
  int64_t lane, position;
};

using Packer = void (*)(const PackSource& source, int lanes, int width, int64_t depth, void* panel);

// For operands of any type but kVoid; the panel has type product_type(from).
Packer packer(DType from);

// Calls f with the C++ type of a product type.
template <class F>
decltype(auto) visit_product(DType type, F&& f) {
  switch (type) {
    case DType::kFloat32: return f(TypeOf<float>());
    case DType::kFloat64: return f(TypeOf<double>());
    case DType::kComplex64: return f(TypeOf<std::complex<float>>());
    case DType::kComplex128: return f(TypeOf<std::complex<double>>());
    case DType::kInt32: return f(TypeOf<uint32_t>());
    default: return f(TypeOf<uint64_t>());
  }
}

}  // namespace tilewise::ops
