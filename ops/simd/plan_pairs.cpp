#include "ops/simd/plan_pairs.h"

#include "ops/op_table.h"
#include "ops/opcode.h"

namespace tilewise::ops::simd {

int arity(const Instr& instr) {
  switch (instr.op) {
    case kLoad: case kParam: case kIndex: return 0;
    case kCast: case kStore: case kReduce: return 1;
    default: return op_info(instr.op).arity;
  }
}

Pairs find_pairs(const std::vector<Instr>& code, const std::function<int(uint16_t)>& phase_of) {
  Pairs pairs{std::vector<Pair>(code.size()), std::vector<bool>(code.size())};
  std::vector<int> uses(code.size());
  for (const Instr& instr : code)
    for (int k = 0; k < arity(instr); ++k) ++uses[input(instr, k)];
  const auto kernel_for = [&](const Instr& outer, const Instr& inner, bool second, Pair& pair) -> KernelInfo {
    if (inner.op < kFirstRow) return {};
    pair.comparison = inner.op == op::absolute;
    if (pair.comparison) return second || !is_complex(inner.dtype) ? KernelInfo{} : find_absolute_comparison_kernel(outer.op, inner.dtype);
    return outer.dtype != inner.dtype ? KernelInfo{} : find_pair_kernel(outer.op, inner.op, second, inner.dtype);
  };
  for (uint16_t i = 0; i < code.size(); ++i) {
    const Instr& instr = code[i];
    if (instr.op < kFirstRow || arity(instr) != 2) continue;
    for (int k = 0; k < 2; ++k) {
      Pair pair{input(instr, k), k == 1, false, {}};
      if (uses[pair.inner] != 1 || pairs.of[pair.inner].inner != kNone || phase_of(i) != phase_of(pair.inner)) continue;
      pair.kernel = kernel_for(instr, code[pair.inner], pair.second, pair);
      if (!pair.kernel.fn) continue;
      pairs.inside[pair.inner] = true;
      pairs.of[i] = pair;
      break;
    }
  }
  return pairs;
}

}  // namespace tilewise::ops::simd
