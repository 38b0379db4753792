// What the drivers of reductions share: pieces of an axis along the tree, and putting the pieces' nodes together.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/simd/geometry.h"
#include "ops/simd/tree_stack.h"

namespace tilewise::ops::simd {

// The position of a launch's box on a reduction's axis; a value used inside the program only has the whole axis.
ReduceTarget target_of(const Launch& launch, int reduction, int64_t length);

// Nodes that one piece made, for one reduction: states of `width` each.
struct PieceNodes {
  std::vector<TreeStack::Node> nodes;  // state: offset into bytes
  std::vector<char> bytes;

  void take(const TreeStack& stack, int64_t state_bytes);
  // Pushes them on a stack that joins the pieces.
  void push_to(TreeStack& stack, int64_t state_bytes) const;
};

// Cuts [begin, end) of an axis at multiples of 2^k units so that there are about `pieces` of them.
class AxisPieces {
 public:
  AxisPieces(int64_t begin, int64_t end, int64_t unit, int64_t pieces);
  int64_t count() const { return last_ - first_; }
  int64_t piece_begin(int64_t i) const { return i == 0 ? begin_ : (first_ + i) * size_; }
  int64_t piece_end(int64_t i) const { return i + 1 == count() ? end_ : (first_ + i + 1) * size_; }

 private:
  int64_t begin_, end_, size_, first_, last_;
};

// Calls body for every piece, in this thread where there is one piece.
template <class Body>
void for_pieces(Parallel& parallel, int64_t count, const Body& body) {
  if (count == 1) body(0);
  else if (count > 0) parallel.run(count, body);
}

}  // namespace tilewise::ops::simd
