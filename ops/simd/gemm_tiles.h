// The innermost step of a matrix product: a small tile of the result held in registers.
//
// Element (i, j) of a tile is one chain over k in order: acc = fma(a[k][i], b[k][j], acc) from zero (integers: products
// and sums that wrap; complex numbers: four such chains in a fixed order). Its bits depend on its row of A, its column of B
// and the depth alone, not on where it lies in a tile or how tall the tile is; that no BLAS promises, hence our own.
#pragma once

#include <cstdint>

#include "runtime/base/dtype.h"

namespace tilewise::ops::simd {

// Adds the product of packed panels to (or, without `accumulate`, writes it to) `c`, whose rows are `ldc` elements apart.
// a: [depth][rows] and b: [depth][columns], dense; complex panels hold for each k the real parts, then the imaginary ones.
using GemmTile = void (*)(int64_t depth, const void* a, const void* b, void* c, int64_t ldc, bool accumulate);

struct GemmTiles {
  static constexpr int kMaxRows = 14;
  int rows = 0;                  // of the tallest tile
  int columns = 0;               // of every tile
  GemmTile tile[kMaxRows + 1] = {};  // by rows; some heights are missing (null)

  // The height of the tile for the next rows of a block that has `left` of them.
  int height(int64_t left) const {
    if (left >= rows) return rows;
    int h = static_cast<int>(left);
    while (!tile[h]) ++h;
    return h;
  }
};

// The same chains for products with one column, straight from the operand: packing would cost more than the product.
// Both write `count` sums over `depth` positions, densely, to `sums`.
struct GemvKernels {
  static constexpr int kRows = 8;
  // Rows of `a`, each contiguous and `row` bytes from the last, times x (the same for all, or `x_row` bytes apart).
  void (*rows)(int64_t depth, const char* a, int64_t row, const char* x, int64_t x_row, int count, void* sums) = nullptr;
  // The other layout: position k of all rows lies contiguous at a + k * position.
  void (*lanes)(int64_t depth, const char* a, int64_t position, const char* x, int64_t count, void* sums) = nullptr;
};

// For float32, float64, int32 and int64.
const GemvKernels& gemv_kernels(DType dtype);

// For float32, float64, complex64, complex128, int32 and int64; of the processor's best instruction set.
const GemmTiles& gemm_tiles(DType dtype);

}  // namespace tilewise::ops::simd
