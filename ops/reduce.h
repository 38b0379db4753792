// Reductions by the fixed tree (partition/tree.h). None waits; results without axes are 0-d arrays.
#pragma once

#include "ops/elementwise.h"

namespace tilewise::ops {

struct ReduceOptions {
  std::optional<Dims> axes;      // normalised, distinct; all if absent
  bool keepdims = false;
  std::optional<DType> dtype;    // of the accumulation
  const Array* out = nullptr;
  const Input* where = nullptr;
  std::optional<Scalar> initial;
};

// op: any reducible row (add, multiply, minimum, logical_or, ...), as numpy's op.reduce. Types and identities as NumPy's:
// small integers accumulate in int64/uint64 for add and multiply; ValueError for an empty axis without identity.
Array reduce(Opcode op, const Array& source, const ReduceOptions& options);
// One axis, or the flattened array if absent. ValueError when empty. Result int64.
Array arg_extreme(bool maximum, const Array& source, std::optional<int> axis, bool keepdims, const Array* out = nullptr);
Array mean(const Array& source, const ReduceOptions& options);
// Variance (or its square root) with ddof; blockwise mean and squared deviations joined by Chan's formula.
Array variance(const Array& source, const ReduceOptions& options, double ddof, bool root);
Array count_nonzero(const Array& source, const ReduceOptions& options);

}  // namespace tilewise::ops
