#include "runtime/group.h"

#include <algorithm>
#include <utility>

#include "partition/overlap.h"
#include "partition/tree.h"
#include "runtime/base/error.h"

namespace tilewise {

using partition::Box;
using partition::Overlap;
using partition::View;

struct Group::Mark {
  size_t code, params, accesses, guards, loads, values, swaps;
};

Group::Group(uint64_t serial, const Record& first) : serial(serial) {
  const Ref& shape_of = first.kind == RecordKind::kReduce ? first.inputs[0] : first.outputs[0];
  domain = shape_of.view.shape;
  watch = first.watch;
}

Group::Mark Group::mark() const {
  return {program.code.size(), params.size(), program.accesses.size(), guards.size(), loads.size(), values.size(),
          swaps.size()};
}

void Group::undo(const Mark& mark) {
  program.code.resize(mark.code);
  program.type.resize(mark.code);
  program.guard.resize(mark.code);
  program.accesses.resize(mark.accesses);
  program.params.resize(mark.params);
  params.resize(mark.params);
  guards.resize(mark.guards);
  program.guard_count = static_cast<int>(mark.guards);
  loads.resize(mark.loads);
  swaps.resize(mark.swaps);
}

bool Group::whole(const Box& box) const {
  for (int k = 0; k < domain.size(); ++k)
    if (box.lo[k] != 0 || box.hi[k] != domain[k]) return false;
  return true;
}

View Group::to_frame(const View& view, const Dims& shift) const {
  View moved = view;
  moved.shape = domain;
  for (int k = 0; k < domain.size(); ++k) moved.offset -= shift[k] * view.strides[k];
  return moved;
}

bool Group::same_element(const View& a, const View& b) const {
  if (a.offset != b.offset || a.dtype != b.dtype || a.itemsize != b.itemsize) return false;
  for (int k = 0; k < domain.size(); ++k)
    if (domain[k] > 1 && a.strides[k] != b.strides[k]) return false;
  return true;
}

bool Group::writes(StoreId store) const {
  for (const GroupValue& v : values)
    if (v.store == store) return true;
  for (const GroupReduction& r : reductions)
    if (r.store == store) return true;
  return false;
}

bool Group::reads(StoreId store) const {
  for (const GroupLoad& load : loads)
    if (load.store == store) return true;
  return false;
}

bool Group::conflicts(const Record& record) const {
  for (const Ref& in : record.inputs)
    if (writes(in.store)) return true;
  for (const Ref& out : record.outputs)
    if (writes(out.store) || reads(out.store)) return true;
  return false;
}

uint8_t Group::guard_of(const Box& box) {
  if (whole(box)) return 0;
  for (size_t g = 0; g < guards.size(); ++g)
    if (guards[g] == box) return static_cast<uint8_t>(g + 1);
  guards.push_back(box);
  program.guard_count = static_cast<int>(guards.size());
  return static_cast<uint8_t>(guards.size());
}

// Where the statement's index space lies in the frame: the shift that makes one of its operands the same elements as one
// the group already knows. A statement over the whole domain is taken as it stands.
std::optional<Dims> Group::align(const Record& record) const {
  const Dims& shape = record.outputs[0].view.shape;
  if (shape == domain) return Dims(domain.size(), 0);
  if (shape.size() != domain.size()) return std::nullopt;
  for (int k = 0; k < shape.size(); ++k)
    if (shape[k] > domain[k] || shape[k] == 0) return std::nullopt;
  auto fits = [&](const Ref& ref, const View& known) -> std::optional<Dims> {
    auto shift = partition::lattice_shift(known, ref.view);
    if (!shift) return std::nullopt;
    for (int k = 0; k < shape.size(); ++k)
      if ((*shift)[k] < 0 || (*shift)[k] + shape[k] > domain[k]) return std::nullopt;
    return shift;
  };
  auto search = [&](const Ref& ref) -> std::optional<Dims> {
    for (const GroupValue& v : values)
      if (v.store == ref.store)
        if (auto shift = fits(ref, v.view)) return shift;
    for (const GroupLoad& load : loads)
      if (load.store == ref.store)
        if (auto shift = fits(ref, load.view)) return shift;
    return std::nullopt;
  };
  for (const Ref& out : record.outputs)
    if (auto shift = search(out)) return shift;
  for (const Ref& in : record.inputs)
    if (auto shift = search(in)) return shift;
  return std::nullopt;
}

// The value of an operand at each element of the statement's box.
std::optional<std::string> Group::resolve(const Ref& ref, const Dims& shift, const Box& box, uint16_t* value) {
  const View view = to_frame(ref.view, shift);
  for (const GroupReduction& r : reductions) {
    if (r.store != ref.store) continue;
    if (program.reductions[program.code[r.value].b].state != ReduceState::kPlain || !phase_axis || !whole(box) ||
        !same_element(r.view, view))
      return "needs a finished reduction";
    phases = true;
    *value = r.value;
    return std::nullopt;
  }
  for (const GroupValue& v : values) {
    if (v.store != ref.store) continue;
    if (same_element(v.view, view)) {
      if (v.box.contains(box)) {
        *value = v.value;
        return std::nullopt;
      }
      if (partition::overlaps(v.box, box)) return "reads a part that is only half written here";
      continue;
    }
    if (partition::overlap(partition::region(v.view, v.box), ref.view) != Overlap::kNone)
      return "reads other elements of what the group writes";
  }
  if (!merges(view)) return "does not step over merged axes as one";
  const uint8_t guard = guard_of(box);
  for (const GroupLoad& load : loads) {
    if (load.store == ref.store && same_element(load.view, view) &&
        (program.guard[load.value] == 0 || program.guard[load.value] == guard)) {
      *value = load.value;
      return std::nullopt;
    }
  }
  const auto access = static_cast<uint16_t>(program.accesses.size());
  program.accesses.push_back({view.dtype, view.itemsize, false});
  *value = program.push({kLoad, view.dtype, access, kNone, kNone}, view.dtype, guard);
  loads.push_back({ref.store, view, box, *value, false});
  return std::nullopt;
}

// Whether the elements may be written by this group, and what that takes.
std::optional<std::string> Group::check_write(StoreId store, const View& view, const Box& box, StoreTable& stores) {
  const View written = partition::region(view, box);
  if (!merges(view)) return "does not step over merged axes as one";
  for (const GroupReduction& r : reductions)
    if (r.store == store) return "overwrites a reduction's result";
  for (const GroupValue& v : values) {
    if (v.store != store) continue;
    if (same_element(v.view, view)) {
      if (v.box.contains(box) || box.contains(v.box) || !partition::overlaps(v.box, box)) continue;
      return "writes a box that crosses an earlier one";
    }
    if (partition::overlap(partition::region(v.view, v.box), written) != Overlap::kNone)
      return "overwrites other elements of what the group writes";
  }
  const bool alone = records == 0;
  for (GroupLoad& load : loads) {
    if (load.store != store || load.snapshot || same_element(load.view, view)) continue;
    const View read = partition::region(load.view, load.box);
    if (partition::overlap(read, written) == Overlap::kNone) continue;
    int64_t distinct = 1;  // elements the operand really has
    for (int k = 0; k < domain.size(); ++k)
      if (load.view.strides[k] != 0) distinct *= load.box.extent(k);
    if (distinct * 8 <= count_of(domain)) {
      load.snapshot = true;
      continue;
    }
    const StoreState& state = stores.get(store);
    if (written.count() * 2 * written.itemsize >= state.bytes()) {
      if (std::find(swaps.begin(), swaps.end(), store) == swaps.end()) swaps.push_back(store);
      continue;
    }
    if (!alone) return "overwrites what the group reads elsewhere";
    load.snapshot = true;
  }
  return std::nullopt;
}

void Group::write(const Ref& ref, const View& view, const Box& box, uint16_t value) {
  for (GroupValue& v : values) {
    if (v.store != ref.store || !same_element(v.view, view)) continue;
    if (box.contains(v.box)) {
      v.box = box;
      v.value = value;
      return;
    }
    if (v.box.contains(box)) {
      const uint8_t outer = guard_of(v.box);
      const uint16_t inner = guard_of(box) - 1;
      v.value = program.push({kMerge, view.dtype, value, v.value, inner}, view.dtype, outer);
      return;
    }
  }
  values.push_back({ref.store, view, box, value});
}

std::optional<std::string> Group::join_elementwise(const Record& record, StoreTable& stores) {
  const auto shift = align(record);
  if (!shift) return "another domain";
  Box box(*shift, *shift);
  const Dims& shape = record.outputs[0].view.shape;
  for (int k = 0; k < shape.size(); ++k) box.hi[k] += shape[k];
  if (!reductions.empty() && !whole(box)) return "a part of a domain that is reduced";
  if (!merged.empty())
    for (const Instr& instr : record.code)
      if (instr.op == kIndex) return "reads coordinates of merged axes";

  // 1. Operands, parameters and instructions, in the record's numbering.
  SmallVec<uint16_t, 16> number;
  for (const Ref& in : record.inputs) {
    uint16_t value = 0;
    if (auto why = resolve(in, *shift, box, &value)) return why;
    number.push_back(value);
  }
  const uint8_t guard = guard_of(box);
  if (guards.size() > kGroupGuards) return "too many boxes";
  for (const Scalar& param : record.params) {
    const auto slot = static_cast<uint16_t>(params.size());
    params.push_back(param);
    program.params.push_back(param.dtype);
    number.push_back(program.push({kParam, param.dtype, slot, kNone, kNone}, param.dtype));
  }
  for (int i = 0; i < record.code.size(); ++i) {
    Instr instr = record.code[i];
    if (instr.op != kIndex) {
      instr.a = number[instr.a];
      if (instr.op >= kFirstRow) {
        if (instr.b != kNone) instr.b = number[instr.b];
        if (instr.c != kNone) instr.c = number[instr.c];
      }
    }
    number.push_back(program.push(instr, record.types[i], guard));
  }

  // 2. What is written, checked before anything of it is noted.
  for (const Ref& out : record.outputs)
    if (auto why = check_write(out.store, to_frame(out.view, *shift), box, stores)) return why;
  for (size_t i = 0; i < record.outputs.size(); ++i) {
    const Ref& out = record.outputs[i];
    write(out, to_frame(out.view, *shift), box, number[record.results[static_cast<int>(i)]]);
  }
  return std::nullopt;
}

bool Group::merges(const View& view) const {
  for (auto [outer, inner] : merged)
    if (view.strides[outer] != view.strides[inner] * domain[inner]) return false;
  return true;
}

namespace {

// Results that do not depend on the tree may merge axes freely; floating-point sums and products merge while the inner
// axis is shorter than the lanes, as the fixed tree says.
bool exact(const Record& record) {
  const DType type = record.inputs[0].view.dtype;
  if (record.reduction.state != ReduceState::kPlain) return record.reduction.state != ReduceState::kMoments;
  if (!is_float(type) && !is_complex(type)) return true;
  const std::string_view op = op_info(record.reduction.op).name;
  return op == "maximum" || op == "minimum" || op == "fmax" || op == "fmin";
}

// Which pairs of reduced axes, neighbours in memory, the tree takes as one.
std::vector<std::pair<int, int>> merged_axes(const Record& record, const SmallVec<int, 6>& order) {
  const View& view = record.inputs[0].view;
  std::vector<std::pair<int, int>> pairs;
  int inner = -1;
  int64_t length = 0;
  for (int i = order.size() - 1; i >= 0; --i) {
    const int axis = order[i];
    if (view.shape[axis] == 1) continue;
    const bool reduced = record.reduction.axes >> axis & 1;
    const bool joins = inner >= 0 && reduced && view.strides[axis] == view.strides[inner] * view.shape[inner] &&
                       view.strides[axis] != 0 && (exact(record) || length < partition::kLanes);
    if (joins) {
      pairs.push_back({axis, inner});
      length *= view.shape[axis];
    } else {
      length = view.shape[axis];
    }
    inner = reduced ? axis : -1;
  }
  return pairs;
}

}  // namespace

std::optional<std::string> Group::join_reduce(const Record& record) {
  const Ref& in = record.inputs[0];
  if (in.view.shape != domain) return "another domain";
  const auto order = in.view.memory_order();
  for (const GroupReduction& r : reductions) {
    if (program.reductions[program.code[r.value].b].axes != record.reduction.axes) return "reduces other axes";
    if (!(reduce_order == order)) return "reduces in another order of memory";
  }
  if (!guards.empty()) return "a reduction of values made in parts";
  auto pairs = merged_axes(record, order);
  if (!reductions.empty() && pairs != merged) return "merges other axes";
  const auto before = std::exchange(merged, pairs);
  auto refuse = [&](std::string why) -> std::optional<std::string> {
    merged = before;
    return why;
  };
  if (!merged.empty()) {
    for (const GroupLoad& load : loads)
      if (!merges(load.view)) return refuse("an operand does not step over merged axes as one");
    for (const GroupValue& v : values)
      if (!merges(v.view)) return refuse("a result does not step over merged axes as one");
    for (const Instr& instr : program.code)
      if (instr.op == kIndex) return refuse("reads coordinates of merged axes");
  }
  uint16_t value = 0;
  if (auto why = resolve(in, Dims(domain.size(), 0), Box::of(domain), &value)) return refuse(*why);

  // A later statement may use the reduced value in the same pass if it belongs to one short row of the innermost axis.
  int innermost = -1;
  for (int axis : order)
    if (domain[axis] > 1) innermost = axis;
  if (innermost >= 0) {
    uint64_t long_axes = 0;
    for (int k = 0; k < domain.size(); ++k)
      if (domain[k] > 1) long_axes |= uint64_t{1} << k;
    if ((record.reduction.axes & long_axes) == uint64_t{1} << innermost &&
        domain[innermost] * in.view.itemsize <= kPhaseRowBytes)
      phase_axis = uint64_t{1} << innermost;
  }
  const auto slot = static_cast<uint16_t>(program.reductions.size());
  program.reductions.push_back(record.reduction);
  const Ref& out = record.outputs[0];
  const uint16_t reduced = program.push({kReduce, in.view.dtype, value, slot, kNone}, out.view.dtype);
  View view = out.view;
  view.shape = domain;  // strides are 0 on the reduced axes
  for (int k = 0; k < domain.size(); ++k)
    if (record.reduction.axes >> k & 1) view.strides[k] = 0;
  reductions.push_back({out.store, view, reduced});
  reduce_order = order;
  return std::nullopt;
}

std::optional<std::string> Group::join(const Record& record, StoreTable& stores) {
  const int more = static_cast<int>(record.inputs.size()) + record.params.size() + record.code.size() + 2;
  if (static_cast<int>(program.code.size()) + more > kGroupInstructions && records > 0) return "the group is full";
  if (record.watch != watch) return "another error state";
  const Mark before = mark();
  auto why = record.kind == RecordKind::kReduce ? join_reduce(record) : join_elementwise(record, stores);
  if (why) {
    undo(before);
    TW_CHECK(records > 0, "a record alone does not join: ", *why);
    return why;
  }
  ++records;
  lines.push_back(record.line);
  if (watch) {
    for (const Instr& instr : record.code) op_lines.push_back({instr.op, record.line});
    if (record.kind == RecordKind::kReduce) op_lines.push_back({kReduce, record.line});
  }
  return std::nullopt;
}

}  // namespace tilewise
