// A kernel computes one instruction of a scalar program for a block of elements.
//
// Operands and result lie in block registers (64-byte aligned, padded to whole vectors) or directly in users' arrays
// (aligned to the element). The count is always a multiple of the kernel's quantum, so that kernels have no tails: the
// caller pads. A scalar operand is one vector (64 bytes) of equal elements with step 0, any other has step 1.
// The result may lie exactly over an operand. Kernels are pure functions of the elements' bits; any thread.
#pragma once

#include <cstdint>

#include "runtime/program.h"

namespace tilewise::ops::simd {

struct Call;
using Kernel = void (*)(const Call& call, int64_t count);

struct Call {
  Kernel fn = nullptr;
  char* out = nullptr;
  const char* in[3] = {};
  int64_t step[3] = {};         // 0: one vector of equal elements; 1: a block
  const char* ahead = nullptr;  // memory wanted soon: a block of the result's size, fetched by kernels that have time
  const void* extra = nullptr;  // what a generic kernel needs to know
  uint8_t* flags = nullptr;     // FpKind bits are OR-ed in by kernels that report; null: nobody asks
};

inline constexpr int kMaxQuantum = 64;
inline constexpr int64_t kVectorBytes = 64;  // of the widest vector; scalars are splat to this

struct KernelInfo {
  Kernel fn = nullptr;  // null: there is none
  int quantum = kMaxQuantum;
  const void* extra = nullptr;
  bool reports = false;  // sets Call::flags itself; else the processor's flags and the explicit tests are looked at
  bool fetches = false;  // looks at Call::ahead
  Kernel careful = nullptr;  // the same bits and flags without stalls at subnormal numbers, else slower; may be null
};

// The kernel of a row for a loop type, of a cast, for the instruction set in use.
KernelInfo find_kernel(Opcode op, DType dtype);
KernelInfo find_cast(DType from, DType to);

// absolute and a comparison (less, less_equal, greater, greater_equal) of complex operands in one.
KernelInfo find_absolute_comparison_kernel(Opcode comparison, DType dtype);

// outer(inner(a, b), c), or outer(c, inner(a, b)) where the inner result is the second operand, for arithmetic of floats;
// the operands are a, b, c. A square is a product of a with a.
KernelInfo find_pair_kernel(Opcode outer, Opcode inner, bool second, DType dtype);

// How a reduction's operation runs over a unit's 128 lanes (partition/tree.h). `lanes` holds 128 values.
struct LaneKernel {
  // Joins `steps` times 128 values to the lanes; `first`: the lanes start as the first 128 of them.
  void (*accumulate)(void* lanes, const void* values, int64_t steps, bool first) = nullptr;
  // Lane l joins l + 64, then l + 32, ...; the result goes to `state`. Lanes from `present` on do not exist.
  void (*fold)(void* lanes, int64_t present, void* state) = nullptr;
  // Each of `rows` rows of `n` < 128 consecutive values is a unit of its own; one state each.
  void (*rows)(const void* values, int64_t rows, int64_t n, void* states) = nullptr;
  // into = into joined with from.
  void (*join)(void* into, const void* from) = nullptr;
  // By runs: into[i] joins values[r * n + i] for each of the rows in order; n is a multiple of the row kernel's quantum.
  void (*runs)(void* into, const void* values, int64_t rows, int64_t n) = nullptr;
  unsigned char identity[16] = {};  // joins without effect on any value
};
// fn members are null where the operation has no special kernel; reduce.cpp then builds on the row's own.
LaneKernel find_lane_kernel(Opcode op, DType dtype);

// Whether any of `count` floats (any type of 2, 4 or 8 bytes) is NaN or infinite, or, if `tiny`, zero or subnormal.
using RareKernel = bool (*)(const void* values, int64_t count, bool tiny);
RareKernel find_rare_kernel(int itemsize);

// The best of `count` values and its first position in them, where they beat *best; *at < 0: there is none yet.
using ArgKernel = void (*)(const void* values, int64_t count, void* best, int64_t* at);
ArgKernel find_arg_kernel(DType dtype, bool smallest);
// 128 lanes join the squared distances of `steps` times 128 values from *mean.
using DeviationKernel = void (*)(void* lanes, const void* values, int64_t steps, const void* mean, bool first);
DeviationKernel find_deviation_kernel(DType dtype);

}  // namespace tilewise::ops::simd
