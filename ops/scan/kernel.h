// Running combinations over memory: what a task of a scan does, for one operation and dtype, on one core.
//
// The unit is a band: n positions along the scanned axis, w neighbours across (w is 1 where the axis itself is the
// innermost). A band is scanned from its first position on its own; what came before it, its carry, is joined in from
// the left: y[i] = carry op (x[0] op ... op x[i]). So the values are the same whether the carry is known before or
// comes later. Pure functions; any thread.
#pragma once

#include <cstdint>

#include "ops/ref/loop.h"
#include "runtime/program.h"

namespace tilewise::ops {

inline constexpr int64_t kScanBlock = 4096;   // positions of a fixed block, on any axis
inline constexpr int64_t kBandWidth = 256;    // most neighbours in a band
inline constexpr int64_t kBandBytes = kBandWidth * 16;

struct Band {
  const char* x = nullptr;
  int64_t x_step = 0, x_across = 0;  // bytes to the next position, to the next neighbour
  char* y = nullptr;                 // null: only the total is wanted
  int64_t y_step = 0, y_across = 0;
  int64_t n = 0, w = 1;
};

// `loop` is the row's reference loop, for operations without code of their own.
struct ScanKernel {
  // carry and total are dense, w values each; carry may be null; the total is the band's own, without the carry.
  void (*scan)(const Band& band, const void* carry, void* total, ref::Loop loop) = nullptr;
  // y[i] = carry op y[i].
  void (*add_carry)(const Band& band, const void* carry, ref::Loop loop) = nullptr;
  // into[j] = into[j] op from[j], w values.
  void (*join)(void* into, const void* from, int64_t w, ref::Loop loop) = nullptr;
};

ScanKernel scan_kernel(Opcode op, DType dtype);

}  // namespace tilewise::ops
