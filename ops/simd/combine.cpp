#include "ops/simd/combine.h"

#include <cstring>

#include "ops/ref/reduce.h"
#include "ops/simd/kernel.h"

namespace tilewise::ops::simd {

void combine_simd(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n, int64_t into_positions,
                  int64_t from_positions) {
  if (reduction.state != ReduceState::kPlain)
    return ref::combine_states(reduction, dtype, into, from, n, into_positions, from_positions, nullptr);
  const KernelInfo kernel = find_kernel(reduction.op, dtype);
  const int64_t size = itemsize(dtype), whole = n / kernel.quantum * kernel.quantum, rest = n - whole;
  Call call;
  call.extra = kernel.extra;
  call.step[0] = call.step[1] = 1;
  const auto aligned = [&](const void* p) { return reinterpret_cast<uintptr_t>(p) % (size < 8 ? size : 8) == 0; };
  char* to = static_cast<char*>(into);
  const char* of = static_cast<const char*>(from);
  if (!aligned(to) || !aligned(of))
    return ref::combine_states(reduction, dtype, into, from, n, into_positions, from_positions, nullptr);
  if (whole) {
    call.out = to;
    call.in[0] = to;
    call.in[1] = of;
    kernel.fn(call, whole);
  }
  if (!rest) return;
  alignas(64) char a[kMaxQuantum * 16], b[kMaxQuantum * 16];
  for (int64_t i = 0; i < kernel.quantum; ++i) {
    const int64_t at = whole + (i < rest ? i : rest - 1);
    std::memcpy(a + i * size, to + at * size, size);
    std::memcpy(b + i * size, of + at * size, size);
  }
  call.out = a;
  call.in[0] = a;
  call.in[1] = b;
  kernel.fn(call, kernel.quantum);
  std::memcpy(to + whole * size, a, rest * size);
}

}  // namespace tilewise::ops::simd
