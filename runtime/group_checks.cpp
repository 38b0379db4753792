// What a group must not mistake: places of a store that differ in the frame and are one in memory, and rows that a later
// phase reads again.
#include <algorithm>
#include <cstdlib>

#include "runtime/group.h"

namespace tilewise {

using partition::Box;

namespace {

template <class F>
void for_operands(const Instr& instr, F&& f) {
  if (instr.op == kLoad || instr.op == kParam || instr.op == kIndex) return;
  f(instr.a);
  if (instr.op == kMerge) f(instr.b);
  if (instr.op < kFirstRow) return;
  if (instr.b != kNone) f(instr.b);
  if (instr.c != kNone) f(instr.c);
}

}  // namespace

// Whether a view's elements over both boxes are different places of the store: equal places are then equal coordinates.
bool Group::distinct(uint16_t view, uint16_t a, uint16_t b) const {
  const Box all = partition::hull(boxes[a], boxes[b]);
  SmallVec<int, 6> axes;
  for (int k = 0; k < domain.size(); ++k)
    if (all.extent(k) > 1) axes.push_back(k);
  const Dims& strides = views[view].strides;
  std::sort(axes.begin(), axes.end(), [&](int x, int y) { return std::abs(strides[x]) < std::abs(strides[y]); });
  int64_t reach = views[view].itemsize;
  for (int k : axes) {
    if (std::abs(strides[k]) < reach) return false;
    reach += std::abs(strides[k]) * (all.extent(k) - 1);
  }
  return true;
}

// Rows run phase by phase, and each phase reads its operands again: what is read and written in place must not be written
// before the last phase that reads it.
const char* Group::check_phases(StoreId store, uint16_t view, uint16_t value) const {
  const size_t n = program.code.size();
  std::vector<int> phase(n, 0);
  for (size_t i = 0; i < n; ++i) {
    const Instr& instr = program.code[i];
    for_operands(instr, [&](uint16_t v) { phase[i] = std::max(phase[i], phase[v]); });
    if (instr.op == kReduce) ++phase[i];
  }
  for (const GroupLoad& load : loads) {
    if (load.store != store || load.snapshot || load.view != view) continue;
    for (size_t i = 0; i < n; ++i) {
      const int runs_in = phase[i] - (program.code[i].op == kReduce);
      if (runs_in <= phase[value]) continue;
      bool uses = false;
      for_operands(program.code[i], [&](uint16_t v) { uses |= v == load.value; });
      if (uses) return "overwrites a row that a later phase reads";
    }
  }
  return nullptr;
}

// Guards cut rows, which does not pay for short ones.
bool Group::short_rows(const SmallVec<int, 6>& order) const {
  int64_t row = 1;
  for (int axis : order)
    if (domain[axis] > 1) row = domain[axis];
  return row < kGuardedRow && count_of(domain) / row > kGuardedRows;
}

bool Group::guards_cut(const std::vector<std::pair<int, int>>& pairs) const {
  for (uint16_t guard : guards)
    for (auto [outer, inner] : pairs)
      if (boxes[guard].extent(outer) != domain[outer] || boxes[guard].extent(inner) != domain[inner]) return true;
  return false;
}

}  // namespace tilewise
