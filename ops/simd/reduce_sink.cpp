#include "ops/simd/reduce_sink.h"

#include <algorithm>

namespace tilewise::ops::simd {

ReduceTarget target_of(const Launch& launch, int reduction, int64_t length) {
  if (launch.reductions && launch.reductions[reduction].nodes) return launch.reductions[reduction];
  return {nullptr, 0, length, length};
}

void PieceNodes::take(const TreeStack& stack, int64_t state_bytes) {
  const int64_t size = stack.state_width() * state_bytes;
  nodes.clear();
  bytes.resize(stack.size() * size);
  for (int i = 0; i < stack.size(); ++i) {
    nodes.push_back(stack[i]);
    std::memcpy(bytes.data() + i * size, stack[i].state, size);
  }
}

void PieceNodes::push_to(TreeStack& stack, int64_t state_bytes) const {
  const int64_t size = stack.state_width() * state_bytes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::memcpy(stack.next(), bytes.data() + i * size, size);
    stack.push(nodes[i].level, nodes[i].index, nodes[i].positions);
  }
}

AxisPieces::AxisPieces(int64_t begin, int64_t end, int64_t unit, int64_t pieces) : begin_(begin), end_(end), size_(unit) {
  const int64_t length = std::max<int64_t>(end - begin, 1);
  while (size_ * pieces < length) size_ *= 2;
  first_ = begin / size_;
  last_ = std::max((end + size_ - 1) / size_, first_ + 1);
}

}  // namespace tilewise::ops::simd
