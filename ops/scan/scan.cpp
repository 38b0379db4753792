#include "ops/scan.h"

#include <cstring>

#include "ops/copy.h"
#include "ops/op_table.h"
#include "ops/record_builder.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/scan/plan.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

bool scannable(Opcode op, const Array& source, std::optional<DType> dtype, const Array* out) {
  const OpInfo& info = op_info(op);
  if (info.arity != 2) return false;
  const DType loop = accumulation_type(op, source, dtype, out);
  return info.result_type(loop) == loop && info.operand_type(1, loop) == loop &&
         !(row(op).fp_for(loop) & NegativePower && !is_float(loop) && !is_complex(loop));
}

Array accumulate(Opcode op, const Array& source, int axis, std::optional<DType> dtype, const Array* out) {
  if (out && !(out->view.shape == source.view.shape))
    throw Error(ErrorKind::kValue, str("provided out is the wrong size for the accumulation."));
  const DType loop = accumulation_type(op, source, dtype, out);
  const session::ToldAs told(kFpAccumulate);  // of which a cast is part
  const Array input = source.view.dtype == loop ? source : astype(source, loop);
  const partition::View* views[] = {&source.view};
  Array result = new_like(source.view.shape, views, loop, itemsize(loop));
  if (!result.view.empty()) {
    const ScanForm form{op, static_cast<uint8_t>(axis), op_info(op).reducible};
    std::vector<char> bytes(sizeof(form));
    std::memcpy(bytes.data(), &form, sizeof(form));
    const Array* in = &input;
    record_call(scan_family(), std::move(bytes), {&in, 1}, result);
  }
  return deliver(result, out);
}

}  // namespace tilewise::ops
