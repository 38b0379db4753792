// One matrix product on one device: blocks, packing and the tiles of ops/simd/gemm_tiles.h.
//
// The contracted axis is cut into chunks of a fixed depth; a chunk's chain is one tile's, chunks are added in order. So the
// bits of C[i, j] depend on row i of A, column j of B and the depth alone: any cut of rows or columns, and any number of
// cores, gives the same. Operands have any strides. Free functions, any thread; packing buffers belong to the threads.
#pragma once

#include "runtime/base/dtype.h"
#include "runtime/launch.h"

namespace tilewise::ops {

// A matrix anywhere in memory; strides in bytes, of any sign, zero too.
struct MatrixIn {
  const char* data = nullptr;
  int64_t row = 0, column = 0;
};
struct MatrixOut {
  char* data = nullptr;
  int64_t row = 0, column = 0;
};

// The contracted axis is added up in chunks of this many positions; a cut of it must fall on a multiple.
inline constexpr int64_t kChunk = 384;

// The type in which products of `dtype` are added: float32 for float16 and bool, int32 or int64 for integers.
DType product_type(DType dtype);

// C = A B, or C += A B: rows x depth times depth x columns. A and B are of type `from` (any but kVoid), C of type `to`:
// the same type (16-bit floats are rounded, bools tested for not zero) or product_type(from). Integers wrap.
void gemm(DType from, DType to, int64_t rows, int64_t columns, int64_t depth, const MatrixIn& a, const MatrixIn& b,
          const MatrixOut& c, bool accumulate, Parallel& parallel);

}  // namespace tilewise::ops
