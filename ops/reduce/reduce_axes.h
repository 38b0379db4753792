// What the reductions share: axes, the shape of the result, and the record itself.
//
// Internal to ops. A reduction is three records at most: the input brought to the type of accumulation (and masked), the
// reduction by the fixed tree, the result brought to its type. The window makes one pass of them.
#pragma once

#include "ops/reduce.h"
#include "ops/record_builder.h"

namespace tilewise::ops {

// The type in which values combine, before NumPy's result type is considered.
DType accumulation_type(Opcode op, const Array& source, std::optional<DType> dtype, const Array* out);

// Which axes of an array are reduced.
class ReducedAxes {
 public:
  ReducedAxes(const Dims& shape, const std::optional<Dims>& axes);

  uint64_t mask() const { return mask_; }
  bool reduced(int axis) const { return mask_ >> axis & 1; }
  int64_t count() const { return count_; }             // elements under one result
  Dims result_shape(const Dims& shape, bool keepdims) const;

 private:
  uint64_t mask_ = 0;
  int64_t count_ = 1;
};

// A new array for a result: laid out as the kept axes of the source lie (order K).
Array new_result(const Array& source, const ReducedAxes& axes, bool keepdims, DType dtype);
// The result seen with the source's rank: reduced axes have extent 1 and stride 0.
partition::View with_reduced_axes(const partition::View& result, const Dims& source_shape, const ReducedAxes& axes,
                                  bool keepdims);
// Records the reduction of the source into the result, whose type is the reduction's.
void record_reduction(const Array& source, const Array& result, const ReducedAxes& axes, bool keepdims,
                      Reduction reduction);
// ValueError as NumPy's where `out` has another shape than the result.
void check_out_shape(const Array* out, const Dims& shape, std::string_view operation);
// The result, or `out` with the result's values in it.
Array deliver(const Array& result, const Array* out);

}  // namespace tilewise::ops
