#include "ops/select.h"

#include "ops/copy.h"
#include "ops/elementwise.h"
#include "ops/op_table.h"
#include "ops/record_builder.h"
#include "ops/select/plan.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

using partition::View;

// The first `axes` axes as one; a copy where they do not lie in C order.
Array with_flat_axes(const Array& array, int axes) {
  Dims shape{1};
  for (int k = 0; k < axes; ++k) shape[0] *= array.view.shape[k];
  for (int k = axes; k < array.rank(); ++k) shape.push_back(array.view.shape[k]);
  if (shape == array.view.shape) return array;
  if (auto view = partition::reshape(array.view, shape)) return {array.store, *view};
  Array dense = copy(array);
  dense.view = *partition::reshape(dense.view, shape);
  return dense;
}

// Waits.
BlockSums count_blocks(const Array& mask) {
  BlockSums sums;
  const int64_t n = mask.view.shape[0];
  sums.block = mask_block(n);
  sums.before.assign(1, 0);
  const int64_t blocks = (n + sums.block - 1) / sums.block;
  if (blocks == 0) return sums;
  const Array counts = new_array({blocks}, DType::kInt64);
  const Array* in[] = {&mask};
  record_call(count_family(), {}, in, counts);
  sums.before.resize(blocks + 1);
  session::read(counts, sums.before.data() + 1);
  for (int64_t b = 0; b < blocks; ++b) sums.before[b + 1] += sums.before[b];
  return sums;
}

}  // namespace

Array extract(const Array& values, const Array& mask) {
  const Array flat_mask = with_flat_axes(mask, mask.rank()), flat = with_flat_axes(values, mask.rank());
  const BlockSums sums = count_blocks(flat_mask);
  Dims shape = flat.view.shape;
  shape[0] = sums.count();
  const Array result = new_array(shape, values.view.dtype, values.view.itemsize);
  if (result.view.empty()) return result;
  const Array* in[] = {&flat_mask, &flat};
  record_call(extract_family(), sums.bytes(), in, result);
  return result;
}

Array flat_nonzero(const Array& mask) {
  const Array flat = with_flat_axes(mask, mask.rank());
  const BlockSums sums = count_blocks(flat);
  const Array result = new_array({sums.count()}, DType::kInt64);
  if (result.view.empty()) return result;
  const Array* in[] = {&flat};
  record_call(extract_family(), sums.bytes(), in, result);
  return result;
}

void assign_chosen(const Array& dst, const Array& mask, const Array& values) {
  static const Opcode where = find_op("where");
  const Array flat_mask = with_flat_axes(mask, mask.rank());
  const BlockSums sums = count_blocks(flat_mask);
  Dims rest(dst.view.shape.begin() + mask.rank(), dst.view.shape.end());
  Dims chosen{sums.count()};
  for (const int64_t extent : rest) chosen.push_back(extent);
  View source = values.view;
  if (rest.empty() && source.rank() > 1)
    throw Error(ErrorKind::kType, str("NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has ",
                                      source.rank(), " dimensions"));
  while (source.rank() > chosen.size() && source.shape[0] == 1) source = partition::squeeze(std::move(source), 0);
  bool fits = source.rank() <= chosen.size();
  for (int k = 0; k < source.rank() && fits; ++k) {
    const int64_t extent = source.shape[source.rank() - 1 - k];
    fits = extent == 1 || extent == chosen[chosen.size() - 1 - k];
  }
  if (!fits && source.rank() == 1 && chosen.size() == 1)
    throw Error(ErrorKind::kValue, str("NumPy boolean array indexing assignment cannot assign ", source.shape[0],
                                       " input values to the ", chosen[0], " output values where the mask is true"));
  if (!fits)
    throw Error(ErrorKind::kValue, str("shape mismatch: value array of shape ", shape_text(values.view.shape),
                                       " could not be broadcast to indexing result of shape ", shape_text(chosen)));
  if (count_of(chosen) == 0) return;
  const Array spread{values.store, partition::broadcast_to(source, chosen)};
  Dims full = flat_mask.view.shape;
  for (const int64_t extent : rest) full.push_back(extent);
  Array expanded = new_array(full, values.view.dtype, values.view.itemsize);
  const Array* in[] = {&flat_mask, &spread};
  record_call(expand_family(), sums.bytes(), in, expanded);
  expanded.view = *partition::reshape(expanded.view, dst.view.shape);
  Array condition = mask;
  while (condition.rank() < dst.rank()) condition.view = partition::newaxis(condition.view, condition.rank());
  const Input inputs[] = {Input::of(condition), Input::of(expanded), Input::of(dst)};
  ElementwiseOptions options;
  options.out = &dst;
  elementwise(where, inputs, options);
}

}  // namespace tilewise::ops
