#include "ops/matmul/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "ops/matmul/pack.h"
#include "ops/simd/gemm_tiles.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

constexpr int64_t kColumnBlock = 4096;       // columns of B packed at a time
constexpr int64_t kRowBlockBytes = 256 << 10;  // of packed A: half of a small second-level cache
constexpr int64_t kSerialWork = 100'000;     // products that are not worth a second core

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// A packing buffer that a thread keeps and uses again.
template <int kWhich>
char* thread_buffer(int64_t bytes) {
  thread_local std::unique_ptr<char[]> buffer;
  thread_local int64_t size = 0;
  if (size < bytes + 64) {
    buffer.reset();
    buffer.reset(new char[bytes + 64]);
    size = bytes + 64;
  }
  return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(buffer.get()) + 63) & ~uintptr_t{63});
}

class Product {
 public:
  Product(DType from, DType type, int64_t rows, int64_t columns, int64_t depth, const MatrixIn& a, const MatrixIn& b,
          const MatrixOut& c, bool accumulate, Parallel& parallel)
      : type_(type), size_(itemsize(type)), rows_(rows), columns_(columns), depth_(depth), a_(a), b_(b), c_(c),
        accumulate_(accumulate), parallel_(parallel), tiles_(simd::gemm_tiles(type)), pack_(packer(from)) {
    if (prefers_transpose()) {
      std::swap(rows_, columns_);
      std::swap(a_, b_);
      std::swap(a_.row, a_.column);
      std::swap(b_.row, b_.column);
      std::swap(c_.row, c_.column);
    }
    const int64_t cores = rows_ * columns_ * depth_ <= kSerialWork ? 1 : parallel_.width();
    const int64_t largest = std::max<int64_t>(kRowBlockBytes / (kChunk * size_), tiles_.rows);
    row_blocks_ = std::min(cores * ceil_div(rows_, cores * largest), ceil_div(rows_, tiles_.rows));
    row_block_ = round_up(ceil_div(rows_, row_blocks_), tiles_.rows);
    row_blocks_ = ceil_div(rows_, row_block_);
    cores_ = cores;
  }

  void run() {
    for (int64_t column = 0; column < columns_; column += kColumnBlock) {
      const int64_t columns = std::min(kColumnBlock, columns_ - column);
      for (int64_t k = 0; k < depth_; k += kChunk) chunk(column, columns, k, std::min(kChunk, depth_ - k));
    }
  }

 private:
  int64_t padded(int64_t rows, int64_t columns) const {
    const int64_t whole = rows / tiles_.rows * tiles_.rows;
    return (whole + (rows > whole ? tiles_.height(rows - whole) : 0)) * round_up(columns, tiles_.columns);
  }
  // Vectors run along C's rows: better where its rows are contiguous, and where fewer lanes stay empty.
  // Not for complex numbers: the order in which a tile adds a product's parts tells left from right.
  bool prefers_transpose() const {
    if (is_complex(type_)) return false;
    const int64_t as_is = padded(rows_, columns_), turned = padded(columns_, rows_);
    if (as_is != turned && std::max(as_is, turned) > std::min(as_is, turned) * 5 / 4) return turned < as_is;
    return c_.column != size_ && c_.row == size_;
  }

  void chunk(int64_t column, int64_t columns, int64_t k, int64_t depth) {
    const int64_t panels = ceil_div(columns, tiles_.columns);
    const int64_t panel_bytes = depth * tiles_.columns * size_;
    char* packed = thread_buffer<0>(panels * panel_bytes);
    const auto pack_panel = [&](int64_t p) {
      const int64_t at = p * tiles_.columns;
      pack_({b_.data + k * b_.row + (column + at) * b_.column, b_.column, b_.row},
            static_cast<int>(std::min<int64_t>(tiles_.columns, columns - at)), tiles_.columns, depth,
            packed + p * panel_bytes);
    };
    // Enough pieces for every core, in rows first.
    const int64_t splits = std::clamp<int64_t>(row_blocks_ >= cores_ ? 1 : ceil_div(2 * cores_, row_blocks_), 1, panels);
    const auto piece = [&](int64_t i) {
      const int64_t part = i / row_blocks_, first = panels * part / splits, last = panels * (part + 1) / splits;
      block(i % row_blocks_ * row_block_, packed, panel_bytes, column, columns, first, last, k, depth);
    };
    spread(panels, pack_panel);
    spread(row_blocks_ * splits, piece);
  }

  template <class Body>
  void spread(int64_t count, const Body& body) {
    if (cores_ == 1 || count == 1) {
      for (int64_t i = 0; i < count; ++i) body(i);
    } else {
      parallel_.run(count, body);
    }
  }

  // Rows from `row` on, times the packed panels [first, last).
  void block(int64_t row, const char* packed, int64_t panel_bytes, int64_t column, int64_t columns, int64_t first,
             int64_t last, int64_t k, int64_t depth) {
    const int64_t rows = std::min(row_block_, rows_ - row);
    char* left = thread_buffer<1>(round_up(rows, tiles_.rows) * depth * size_);
    for (int64_t i = 0; i < rows;) {
      const int height = tiles_.height(rows - i);
      pack_({a_.data + (row + i) * a_.row + k * a_.column, a_.row, a_.column},
            static_cast<int>(std::min<int64_t>(height, rows - i)), height, depth, left + i * depth * size_);
      i += height;
    }
    const bool accumulate = accumulate_ || k > 0;
    for (int64_t p = first; p < last; ++p) {
      const int64_t at = p * tiles_.columns, wide = std::min<int64_t>(tiles_.columns, columns - at);
      for (int64_t i = 0; i < rows;) {
        const int height = tiles_.height(rows - i);
        tile(height, static_cast<int>(std::min<int64_t>(height, rows - i)), static_cast<int>(wide), depth,
             left + i * depth * size_, packed + p * panel_bytes,
             c_.data + (row + i) * c_.row + (column + at) * c_.column, accumulate);
        i += height;
      }
    }
  }

  void tile(int height, int rows, int columns, int64_t depth, const char* a, const char* b, char* c, bool accumulate) {
    if (columns == tiles_.columns && rows == height && c_.column == size_ && c_.row % size_ == 0) {
      tiles_.tile[height](depth, a, b, c, c_.row / size_, accumulate);
      return;
    }
    alignas(64) char whole[simd::GemmTiles::kMaxRows * 64 * 16];
    tiles_.tile[height](depth, a, b, whole, tiles_.columns, false);
    visit_product(type_, [&](auto t) {
      using T = typename decltype(t)::type;
      for (int i = 0; i < rows; ++i) {
        const T* from = reinterpret_cast<const T*>(whole) + i * tiles_.columns;
        for (int j = 0; j < columns; ++j) {
          T* to = reinterpret_cast<T*>(c + i * c_.row + j * c_.column);
          *to = accumulate ? static_cast<T>(*to + from[j]) : from[j];
        }
      }
    });
  }

  DType type_;
  int64_t size_, rows_, columns_, depth_;
  MatrixIn a_, b_;
  MatrixOut c_;
  bool accumulate_;
  Parallel& parallel_;
  const simd::GemmTiles& tiles_;
  Packer pack_;
  int64_t row_blocks_ = 1, row_block_ = 1, cores_ = 1;
};

// A product with one column, from operands as they lie. Chunk by chunk the sums are the tiles' sums.
class VectorProduct {
 public:
  // Whether the layout is one of the two that the kernels read in place.
  static bool serves(DType from, DType type, const MatrixIn& a) {
    return !is_complex(type) && itemsize(from) == itemsize(type) && (a.column == itemsize(type) || a.row == itemsize(type));
  }

  VectorProduct(DType type, int64_t rows, int64_t depth, const MatrixIn& a, const MatrixIn& x, const MatrixOut& c,
                bool accumulate)
      : type_(type), size_(itemsize(type)), rows_(rows), depth_(depth), a_(a), c_(c), accumulate_(accumulate),
        kernels_(simd::gemv_kernels(type)), by_rows_(a.column == size_) {
    if (x.row == size_) {
      x_ = x.data;
    } else {
      char* dense = thread_buffer<0>(depth * size_);
      for (int64_t k = 0; k < depth; ++k) std::memcpy(dense + k * size_, x.data + k * x.row, size_);
      x_ = dense;
    }
  }

  void run(Parallel& parallel) {
    if (rows_ == 1 && by_rows_) return dot();
    const int64_t unit = by_rows_ ? simd::GemvKernels::kRows : 512 / size_, units = ceil_div(rows_, unit);
    const int64_t pieces = rows_ * depth_ <= kSerialWork ? 1 : std::min<int64_t>(units, 4 * parallel.width());
    const auto piece = [&](int64_t p) {
      part(units * p / pieces * unit, std::min(rows_, units * (p + 1) / pieces * unit));
    };
    if (pieces == 1) piece(0);
    else parallel.run(pieces, piece);
  }

 private:
  // Rows [lo, hi), a few at a time: all chunks of one group before the next, so that its rows are read from end to end.
  void part(int64_t lo, int64_t hi) {
    const int64_t step = by_rows_ ? simd::GemvKernels::kRows : 512;
    alignas(64) char sums[512 * 8];
    for (int64_t i = lo; i < hi; i += step) {
      const int64_t count = std::min(step, hi - i);
      for (int64_t k = 0; k < depth_; k += kChunk) {
        const int64_t depth = std::min(kChunk, depth_ - k);
        const char* at = a_.data + i * a_.row + k * a_.column;
        if (by_rows_) kernels_.rows(depth, at, a_.row, x_ + k * size_, 0, static_cast<int>(count), sums);
        else kernels_.lanes(depth, at, a_.column, x_ + k * size_, count, sums);
        add(i, count, sums, accumulate_ || k > 0);
      }
    }
  }

  // One row: chunks take the place of rows, since their chains do not depend on each other.
  void dot() {
    alignas(64) char sums[simd::GemvKernels::kRows * 8];
    for (int64_t k = 0; k < depth_;) {
      const int64_t left = depth_ - k, whole = std::min<int64_t>(left / kChunk, simd::GemvKernels::kRows);
      const int64_t count = std::max<int64_t>(whole, 1), depth = whole ? kChunk : left, stride = kChunk * size_;
      kernels_.rows(depth, a_.data + k * size_, stride, x_ + k * size_, stride, static_cast<int>(count), sums);
      for (int64_t j = 0; j < count; ++j) add(0, 1, sums + j * size_, accumulate_ || k + j > 0);
      k += count * depth;
    }
  }

  void add(int64_t row, int64_t count, const char* sums, bool accumulate) {
    visit_product(type_, [&](auto t) {
      using T = typename decltype(t)::type;
      for (int64_t j = 0; j < count; ++j) {
        T* to = reinterpret_cast<T*>(c_.data + (row + j) * c_.row);
        const T sum = reinterpret_cast<const T*>(sums)[j];
        *to = accumulate ? static_cast<T>(*to + sum) : sum;
      }
    });
  }

  DType type_;
  int64_t size_, rows_, depth_;
  MatrixIn a_;
  const char* x_;
  MatrixOut c_;
  bool accumulate_;
  const simd::GemvKernels& kernels_;
  bool by_rows_;
};

// Copies a matrix between two types that hold the same numbers, row by row.
void convert_matrix(DType from, DType to, int64_t rows, int64_t columns, const MatrixIn& a, const MatrixOut& c,
                    Parallel& parallel) {
  const auto row = [&](int64_t i) {
    visit(from, [&](auto f) {
      visit(to, [&](auto t) {
        using From = typename decltype(f)::type;
        using To = typename decltype(t)::type;
        for (int64_t j = 0; j < columns; ++j) {
          const From* source = reinterpret_cast<const From*>(a.data + i * a.row + j * a.column);
          *reinterpret_cast<To*>(c.data + i * c.row + j * c.column) = convert<To>(*source);
        }
      });
    });
  };
  if (rows * columns <= kSerialWork) {
    for (int64_t i = 0; i < rows; ++i) row(i);
  } else {
    parallel.run(rows, row);
  }
}

void clear_matrix(int64_t rows, int64_t columns, int64_t size, const MatrixOut& c) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) std::memset(c.data + i * c.row + j * c.column, 0, size);
}

}  // namespace

DType product_type(DType dtype) {
  if (dtype == DType::kFloat16 || dtype == DType::kBool) return DType::kFloat32;
  if (!is_integer(dtype)) return dtype;
  return itemsize(dtype) == 8 ? DType::kInt64 : DType::kInt32;
}

void gemm(DType from, DType to, int64_t rows, int64_t columns, int64_t depth, const MatrixIn& a, const MatrixIn& b,
          const MatrixOut& c, bool accumulate, Parallel& parallel) {
  if (rows == 0 || columns == 0) return;
  if (depth == 0) {
    if (!accumulate) clear_matrix(rows, columns, itemsize(to), c);
    return;
  }
  const DType type = product_type(from);
  if (itemsize(type) == itemsize(to) && from != DType::kBool) {  // unsigned integers have the bits of signed ones
    const MatrixIn turned{b.data, b.column, b.row};
    if (columns == 1 && VectorProduct::serves(from, type, a))
      VectorProduct(type, rows, depth, a, b, c, accumulate).run(parallel);
    else if (rows == 1 && VectorProduct::serves(from, type, turned))
      VectorProduct(type, columns, depth, turned, {a.data, a.column, a.row}, {c.data, c.column, c.row}, accumulate)
          .run(parallel);
    else
      Product(from, type, rows, columns, depth, a, b, c, accumulate, parallel).run();
    return;
  }
  const int64_t size = itemsize(type);
  const std::unique_ptr<char[]> wide(new char[rows * columns * size]);
  const MatrixIn wide_in{wide.get(), columns * size, size};
  const MatrixOut wide_out{wide.get(), columns * size, size};
  if (accumulate) convert_matrix(to, type, rows, columns, {c.data, c.row, c.column}, wide_out, parallel);
  Product(from, type, rows, columns, depth, a, b, wide_out, accumulate, parallel).run();
  convert_matrix(type, to, rows, columns, wide_in, c, parallel);
}

}  // namespace tilewise::ops
