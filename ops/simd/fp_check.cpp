#include "ops/simd/fp_check.h"

#include <algorithm>
#include <cstring>

#include "ops/op_table.h"
#include "ops/ref/loop.h"
#include "ops/simd/block_copy.h"
#include "runtime/launch.h"

namespace tilewise::ops::simd {

namespace {

constexpr int64_t kChunk = 64;

// Whether a result is NaN or infinite, or (tiny) zero or subnormal.
bool rare_results(DType type, const char* p, int64_t count, bool tiny) {
  if (!is_float(type) && !is_complex(type)) return true;
  return find_rare_kernel(itemsize(real_of(type)))(p, is_complex(type) ? 2 * count : count, tiny);
}

}  // namespace

uint8_t explicit_fp_flags(const Step& step, const Call& call, int64_t count, uint8_t watch) {
  const OpInfo& info = op_info(step.op);
  const DType type = info.result_type(step.dtype);
  const int size = itemsize(type);
  uint8_t flags = 0;
  const bool tiny = (step.fp & Tiny) && (watch & kFpUnderflow);
  if (!rare_results(type, call.out, count, tiny)) return 0;
  alignas(64) char scalars[3][kChunk * 16];
  alignas(64) char result[kChunk * 16];
  int sizes[3] = {};
  for (int k = 0; k < step.arity; ++k) {
    sizes[k] = itemsize(info.operand_type(k, step.dtype));
    if (!call.step[k]) fill(scalars[k], call.in[k], kChunk, sizes[k]);
  }
  for (int64_t i = 0; i < count; i += kChunk) {
    const int64_t n = std::min(kChunk, count - i);
    if (!rare_results(type, call.out + i * size, n, tiny)) continue;
    const void* in[3] = {};
    for (int k = 0; k < step.arity; ++k) in[k] = call.step[k] ? call.in[k] + i * sizes[k] : scalars[k];
    ref::find_loop(step.op, step.dtype)(in, result, n, &flags);
  }
  return flags;
}

}  // namespace tilewise::ops::simd
