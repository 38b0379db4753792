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

// For float32, float64, complex64, complex128, int32 and int64; of the processor's best instruction set.
const GemmTiles& gemm_tiles(DType dtype);

}  // namespace tilewise::ops::simd
