#include "ops/simd/plan_parts.h"

#include <algorithm>

namespace tilewise::ops::simd {

namespace {

int value_operands(const Instr& instr) {
  switch (instr.op) {
    case kLoad: case kParam: case kIndex: return 0;
    case kCast: case kStore: case kReduce: return 1;
    case kMerge: return 2;
    default: return op_info(instr.op).arity;
  }
}
uint16_t& operand(Instr& instr, int k) { return k == 0 ? instr.a : k == 1 ? instr.b : instr.c; }

// The part of the program that the reductions over `axis` need, and the stores.
PlanPart part_for(const Program& program, int axis, bool stores) {
  const size_t n = program.code.size();
  std::vector<char> live(n, 0);
  for (size_t i = n; i-- > 0;) {
    Instr instr = program.code[i];
    if (instr.op == kReduce && first_axis(program.reductions[instr.b]) == axis) live[i] = 1;
    if (instr.op == kStore && stores) live[i] = 1;
    if (!live[i]) continue;
    for (int k = 0; k < value_operands(instr); ++k) live[operand(instr, k)] = 1;
  }
  PlanPart part;
  part.program.accesses = program.accesses;
  part.program.params = program.params;
  part.program.reductions = program.reductions;
  std::vector<uint16_t> renumbered(n, kNone);
  for (size_t i = 0; i < n; ++i) {
    if (!live[i]) continue;
    Instr instr = program.code[i];
    for (int k = 0; k < value_operands(instr); ++k) operand(instr, k) = renumbered[operand(instr, k)];
    renumbered[i] = part.program.push(instr, program.type[i]);
    part.number.push_back(static_cast<uint16_t>(i));
  }
  return part;
}

}  // namespace

std::vector<PlanPart> parts_by_axis(const Program& program) {
  std::vector<int> axes;
  std::vector<char> reduced(program.code.size(), 0);
  for (size_t i = 0; i < program.code.size(); ++i) {
    Instr instr = program.code[i];
    for (int k = 0; k < value_operands(instr); ++k)
      if (reduced[operand(instr, k)]) return {};
    if (instr.op != kReduce) continue;
    reduced[i] = 1;
    const int axis = first_axis(program.reductions[instr.b]);
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  std::vector<PlanPart> parts;
  if (axes.size() < 2) return parts;
  for (const int axis : axes) parts.push_back(part_for(program, axis, axis == axes.back()));
  return parts;
}

}  // namespace tilewise::ops::simd
