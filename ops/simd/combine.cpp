#include "ops/simd/combine.h"

#include <algorithm>
#include <cstring>

#include "ops/op_table.h"
#include "ops/ref/reduce.h"
#include "ops/simd/fp_status.h"
#include "ops/simd/kernel.h"

namespace tilewise::ops::simd {

namespace {

// A kernel over n states that need not be whole vectors: the rest on copies, padded with the last of them.
void join_states(const KernelInfo& kernel, int64_t size, char* into, const char* from, int64_t n, uint8_t* flags) {
  const int64_t whole = n / kernel.quantum * kernel.quantum, rest = n - whole;
  Call call;
  call.extra = kernel.extra;
  call.step[0] = call.step[1] = 1;
  if (kernel.reports) call.flags = flags;
  if (whole) {
    call.out = into;
    call.in[0] = into;
    call.in[1] = from;
    kernel.fn(call, whole);
  }
  if (!rest) return;
  alignas(64) char a[kMaxQuantum * 16], b[kMaxQuantum * 16];
  for (int64_t i = 0; i < kernel.quantum; ++i) {
    const int64_t at = whole + (i < rest ? i : rest - 1);
    std::memcpy(a + i * size, into + at * size, size);
    std::memcpy(b + i * size, from + at * size, size);
  }
  call.out = a;
  call.in[0] = a;
  call.in[1] = b;
  kernel.fn(call, kernel.quantum);
  std::memcpy(into + whole * size, a, rest * size);
}

}  // namespace

void combine_moments(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n, int64_t into_positions,
                     int64_t from_positions, uint8_t* flags, uint8_t watch) {
  constexpr int64_t kAtOnce = 64, kStateBytes = 24;  // of a complex128 mean and its deviations
  const int64_t size = state_bytes(reduction, dtype);
  char before[kAtOnce * kStateBytes];
  take_fp_status(watch);
  for (int64_t at = 0; at < n; at += kAtOnce) {
    const int64_t some = std::min(kAtOnce, n - at);
    char* to = static_cast<char*>(into) + at * size;
    const char* of = static_cast<const char*>(from) + at * size;
    std::memcpy(before, to, some * size);
    ref::combine_states(reduction, dtype, to, of, some, into_positions, from_positions, nullptr);
    if (take_fp_status(watch)) ref::combine_states(reduction, dtype, before, of, some, into_positions, from_positions, flags);
  }
}

void combine_simd(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n, int64_t into_positions,
                  int64_t from_positions, uint8_t* flags) {
  if (reduction.state == ReduceState::kMoments && flags)
    return combine_moments(reduction, dtype, into, from, n, into_positions, from_positions, flags, 0xff);
  const int64_t size = itemsize(dtype);
  const auto aligned = [&](const void* p) { return reinterpret_cast<uintptr_t>(p) % (size < 8 ? size : 8) == 0; };
  if (reduction.state != ReduceState::kPlain || !aligned(into) || !aligned(from))
    return ref::combine_states(reduction, dtype, into, from, n, into_positions, from_positions, flags);
  const KernelInfo kernel = find_kernel(reduction.op, dtype);
  if (flags) take_fp_status();
  join_states(kernel, size, static_cast<char*>(into), static_cast<const char*>(from), n, flags);
  if (!flags) return;
  const uint8_t seen = take_fp_status();
  if (!kernel.reports && row(reduction.op).fp == Hardware) *flags |= seen;
}

}  // namespace tilewise::ops::simd
