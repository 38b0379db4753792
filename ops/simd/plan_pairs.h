// Instructions that are computed in one pass with an operand of theirs which nobody else uses.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ops/simd/kernel.h"
#include "runtime/program.h"

namespace tilewise::ops::simd {

struct Pair {
  uint16_t inner = kNone;  // the operand's instruction; kNone: no pair
  bool second = false;     // it is the second operand
  bool comparison = false;  // of an absolute value: warnings are the inner instruction's
  KernelInfo kernel;
};

struct Pairs {
  std::vector<Pair> of;      // by instruction
  std::vector<bool> inside;  // by instruction: it is the inner one of a pair
};

int arity(const Instr& instr);
inline uint16_t input(const Instr& instr, int k) { return k == 0 ? instr.a : k == 1 ? instr.b : instr.c; }

// `phase_of`: only instructions of one phase are joined.
Pairs find_pairs(const std::vector<Instr>& code, const std::function<int(uint16_t)>& phase_of);

}  // namespace tilewise::ops::simd
