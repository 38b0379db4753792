#include "ops/gather/rows.h"

#include <algorithm>

namespace tilewise::ops {

RowCopy::RowCopy(const Dims& to_strides, const Dims& from_strides, const Dims& shape, int64_t itemsize) : bytes_(itemsize) {
  bool dense = true;
  for (int k = shape.size() - 1; k >= 1; --k) {
    if (shape[k] == 1) continue;
    dense = dense && to_strides[k] == bytes_ && from_strides[k] == bytes_;
    if (dense) {
      bytes_ *= shape[k];
      continue;
    }
    shape_.insert(0, shape[k]);
    to_.insert(0, to_strides[k]);
    from_.insert(0, from_strides[k]);
    ++axes_;
  }
}

void RowCopy::loops(char* to, const char* from, int axis) const {
  for (int64_t i = 0; i < shape_[axis]; ++i, to += to_[axis], from += from_[axis]) {
    if (axis + 1 == axes_) one(to, from);
    else loops(to, from, axis + 1);
  }
}

Ranges::Ranges(std::vector<int64_t> cuts) : cuts_(std::move(cuts)) {
  scale_ = static_cast<double>(count()) / static_cast<double>(std::max<int64_t>(cuts_.back(), 1)) * (1 - 1e-12);
}

namespace {

constexpr int64_t kPiece = 16384;

int64_t pieces_for(int64_t count, const Parallel& parallel) {
  return std::clamp<int64_t>(count / kPiece, 1, 4 * parallel.width());
}

std::vector<std::vector<int64_t>> count_pieces(const int64_t* positions, int64_t count, const Ranges& ranges, int64_t pieces,
                                               Parallel& parallel) {
  std::vector<std::vector<int64_t>> counts(pieces);
  parallel.run(pieces, [&](int64_t p) {
    std::vector<int64_t> mine(ranges.count());
    for (int64_t i = count * p / pieces; i < count * (p + 1) / pieces; ++i) ++mine[ranges.of(positions[i])];
    counts[p] = std::move(mine);
  });
  return counts;
}

}  // namespace

void route(const int64_t* positions, int64_t count, const Ranges& ranges, Parallel& parallel,
           const std::function<void(int64_t begin, int64_t end, std::vector<int64_t>& next)>& body) {
  const int64_t pieces = pieces_for(count, parallel);
  auto next = count_pieces(positions, count, ranges, pieces, parallel);
  for (int q = 0; q < ranges.count(); ++q) {
    int64_t before = 0;
    for (auto& piece : next) before += std::exchange(piece[q], before);
  }
  parallel.run(pieces, [&](int64_t p) { body(count * p / pieces, count * (p + 1) / pieces, next[p]); });
}

std::vector<int64_t> count_by_range(const int64_t* positions, int64_t count, const Ranges& ranges, Parallel& parallel) {
  std::vector<int64_t> sums(ranges.count());
  for (const auto& piece : count_pieces(positions, count, ranges, pieces_for(count, parallel), parallel))
    for (int q = 0; q < ranges.count(); ++q) sums[q] += piece[q];
  return sums;
}

}  // namespace tilewise::ops
