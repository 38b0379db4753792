#include "ops/gather.h"

#include "ops/copy.h"
#include "ops/gather/plan.h"
#include "ops/record_builder.h"

namespace tilewise::ops {

namespace {

constexpr int64_t kLongList = 1 << 16;  // positions from which counting them pays

// Waits for the counts where they are worth it.
RowsCall make_call(RowsMode mode, const Array& rows, const Array& positions) {
  RowsCall call;
  call.mode = mode;
  call.devices = session::devices();
  const bool small = mode == RowsMode::kGather && rows.view.count() <= 2 * positions.view.count();
  if (call.devices == 1 || small || positions.view.count() < std::max(kLongList, 2 * session::min_tile())) return call;
  const Array counts = new_array({call.devices, call.devices}, DType::kInt64);
  const Array* in[] = {&positions, &rows};
  record_call(count_rows_family(), call.bytes(), in, counts);
  call.counts.resize(static_cast<size_t>(call.devices) * call.devices);
  session::read(counts, call.counts.data());
  call.counted = true;
  return call;
}

// Values that are read while dst is written may not lie in it.
Array apart_from(const Array& values, const Array& dst) {
  return values.store.get() == dst.store.get() ? copy(values) : values;
}

}  // namespace

Array gather_rows(const Array& source, const Array& positions) {
  Dims shape = source.view.shape;
  shape[0] = positions.view.count();
  const Array result = new_array(shape, source.view.dtype, source.view.itemsize);
  if (result.view.empty()) return result;
  const Array* in[] = {&source, &positions};
  record_call(rows_family(), make_call(RowsMode::kGather, source, positions).bytes(), in, result);
  return result;
}

void scatter_rows(const Array& dst, const Array& positions, const Array& values) {
  if (values.view.empty()) return;
  const Array apart = apart_from(values, dst);
  const Array* in[] = {&dst, &positions, &apart};
  record_call(rows_family(), make_call(RowsMode::kScatter, dst, positions).bytes(), in, dst);
}

void combine_rows(Opcode op, const Array& dst, const Array& positions, const Array* values) {
  if (positions.view.empty() || dst.view.empty()) return;
  const Array apart = values ? apart_from(*values, dst) : Array();
  const Array* in[] = {&dst, &positions, &apart};
  RowsCall call = make_call(RowsMode::kCombine, dst, positions);
  call.op = op;
  record_call(rows_family(), call.bytes(), {in, values ? size_t{3} : size_t{2}}, dst);
}

}  // namespace tilewise::ops
