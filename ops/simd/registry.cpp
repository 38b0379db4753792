// Which family has the kernel of a row or cast; where none has, the reference loop runs over the block.
#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "ops/op_table.h"
#include "ops/ref/loop.h"
#include "ops/simd/block_copy.h"
#include "ops/simd/families.h"

namespace tilewise::ops::simd {

namespace {

struct ReferenceKernel {
  ref::Loop loop = nullptr;
  int arity = 0;
  int size[3] = {};
  int result = 0;
};

void run_reference_loop(const Call& call, int64_t count) {
  const auto& k = *static_cast<const ReferenceKernel*>(call.extra);
  constexpr int64_t kChunk = kMaxQuantum;
  alignas(64) char scalars[3][kChunk * 16];
  bool dense = true;
  for (int i = 0; i < k.arity; ++i) {
    if (call.step[i]) continue;
    dense = false;
    fill(scalars[i], call.in[i], kChunk, k.size[i]);
  }
  const int64_t chunk = dense ? count : kChunk;
  for (int64_t at = 0; at < count; at += chunk) {
    const void* in[3] = {};
    for (int i = 0; i < k.arity; ++i) in[i] = call.step[i] ? call.in[i] + at * k.size[i] : scalars[i];
    k.loop(in, call.out + at * k.result, std::min(chunk, count - at), call.flags);
  }
}

// A reference kernel's description lives for ever: plans keep pointers to it.
KernelInfo reference_kernel(uint32_t key, const ReferenceKernel& made) {
  static std::mutex mutex;
  static auto* known = new std::unordered_map<uint32_t, std::unique_ptr<ReferenceKernel>>;
  if (!made.loop) return {};
  const std::lock_guard lock(mutex);
  auto& slot = (*known)[key];
  if (!slot) slot = std::make_unique<ReferenceKernel>(made);
  return {&run_reference_loop, 1, slot.get(), true, false, nullptr};
}

KernelInfo reference_row(Opcode op, DType dtype) {
  const OpInfo& info = op_info(op);
  ReferenceKernel k;
  k.loop = ref::find_loop(op, dtype);
  k.arity = info.arity;
  for (int i = 0; i < k.arity; ++i) k.size[i] = itemsize(info.operand_type(i, dtype));
  k.result = itemsize(info.result_type(dtype));
  return reference_kernel(static_cast<uint32_t>(op) << 8 | static_cast<uint32_t>(dtype), k);
}

KernelInfo reference_cast(DType from, DType to) {
  ReferenceKernel k;
  k.loop = ref::find_cast(from, to);
  k.arity = 1;
  k.size[0] = itemsize(from);
  k.result = itemsize(to);
  return reference_kernel(0x10000u | static_cast<uint32_t>(from) << 8 | static_cast<uint32_t>(to), k);
}

}  // namespace

KernelInfo find_kernel(Opcode op, DType dtype) {
  constexpr KernelInfo (*kFamilies[])(Opcode, DType) = {
      find_arith_float_kernel, find_arith_int_kernel,  find_compare_kernel,    find_select_kernel,
      find_complex_kernel,     find_math_float_kernel, find_math_sleef_kernel};
  for (const auto family : kFamilies)
    if (const KernelInfo info = family(op, dtype); info.fn) return info;
  return reference_row(op, dtype);
}

KernelInfo find_cast(DType from, DType to) {
  if (const KernelInfo info = find_cast_kernel(from, to); info.fn) return info;
  if (const KernelInfo info = find_float_to_int_kernel(from, to); info.fn) return info;
  return reference_cast(from, to);
}

LaneKernel find_lane_kernel(Opcode op, DType dtype) { return find_lane_float_kernel(op, dtype); }

}  // namespace tilewise::ops::simd
