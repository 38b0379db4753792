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

void Group::open(uint64_t number, const Record& first) {
  serial = number;
  views.clear();
  boxes.clear();
  program.code.clear();
  program.type.clear();
  program.guard.clear();
  program.accesses.clear();
  program.params.clear();
  program.reductions.clear();
  program.guard_count = 0;
  guards.clear();
  params.clear();
  loads.clear();
  values.clear();
  reductions.clear();
  swaps.clear();
  reduce_order.clear();
  phase_axis = 0;
  phases = false;
  merged.clear();
  named.clear();
  line = 0;
  op_lines.clear();
  records = 0;
  written_ = read_ = 0;
  std::fill(std::begin(dense_view_), std::end(dense_view_), kNone);
  maker_.reset();
  const Ref& shape_of = first.kind == RecordKind::kReduce ? first.inputs[0] : first.outputs[0];
  domain = shape_of.view.shape;
  large_ = count_of(domain) >= kWorthMoving;
  boxes.push_back(Box::of(domain));
  watch = first.watch;
}

Group::Mark Group::mark() const {
  return {program.code.size(), params.size(), program.accesses.size(), guards.size(), loads.size(), swaps.size(),
          views.size(), boxes.size(), values.size(), phases};
}

void Group::undo(const Mark& mark) {
  std::fill(std::begin(dense_view_), std::end(dense_view_), kNone);
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
  views.resize(mark.views);
  boxes.resize(mark.boxes);
  values.resize(mark.values);
  phases = mark.phases;
}

// The place of a view in frame coordinates: moved by the shift, strides of axes of extent 1 left out of account.
uint16_t Group::to_frame(const View& view, const Dims& shift) {
  int64_t offset = view.offset;
  const int rank = domain.size();
  for (int k = 0; k < rank; ++k) offset -= shift[k] * view.strides[k];
  return frame_view(offset, view.dtype, view.itemsize, view.strides);
}

uint16_t Group::frame_view(int64_t offset, DType dtype, int32_t itemsize, const Dims& strides) {
  const int rank = domain.size();
  for (size_t i = views.size(); i-- > 0;) {
    const View& known = views[i];
    if (known.offset != offset || known.dtype != dtype || known.itemsize != itemsize) continue;
    bool same = true;
    for (int k = 0; k < rank && same; ++k) same = known.strides[k] == strides[k] || domain[k] <= 1;
    if (same) return static_cast<uint16_t>(i);
  }
  views.push_back({domain, strides, offset, dtype, itemsize});
  return static_cast<uint16_t>(views.size() - 1);
}

uint16_t Group::box_at(const Dims& shift, const Dims& shape) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    bool same = true;
    for (int k = 0; k < domain.size() && same; ++k)
      same = boxes[i].lo[k] == shift[k] && boxes[i].hi[k] == shift[k] + shape[k];
    if (same) return static_cast<uint16_t>(i);
  }
  Box box(shift, shift);
  for (int k = 0; k < domain.size(); ++k) box.hi[k] += shape[k];
  boxes.push_back(box);
  return static_cast<uint16_t>(boxes.size() - 1);
}

View Group::part(uint16_t view, uint16_t box) const { return partition::region(views[view], boxes[box]); }

bool Group::writes(StoreId store) const {
  if (!(written_ & mark_of(store))) return false;
  for (const GroupValue& v : values)
    if (v.store == store) return true;
  for (const GroupReduction& r : reductions)
    if (r.store == store) return true;
  return false;
}

bool Group::reads(StoreId store) const {
  if (!(read_ & mark_of(store))) return false;
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

uint8_t Group::guard_of(uint16_t box) {
  if (box == 0) return 0;
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
  // Strides of axes of extent 1 are arbitrary, so that several shifts may do: that of the very box is tried first.
  auto written_here = [&](const Ref& ref, const GroupValue& v) {
    const Box& box = boxes[v.box];
    int64_t offset = views[v.view].offset;
    for (int k = 0; k < shape.size(); ++k) {
      if (box.extent(k) != shape[k]) return false;
      if (shape[k] > 1 && ref.view.strides[k] != views[v.view].strides[k]) return false;
      offset += box.lo[k] * views[v.view].strides[k];
    }
    return offset == ref.view.offset;
  };
  auto search = [&](const Ref& ref) -> std::optional<Dims> {
    for (const GroupValue& v : values)
      if (v.store == ref.store && written_here(ref, v)) return boxes[v.box].lo;
    for (const GroupValue& v : values)
      if (v.store == ref.store)
        if (auto shift = fits(ref, views[v.view])) return shift;
    for (const GroupLoad& load : loads)
      if (load.store == ref.store)
        if (auto shift = fits(ref, views[load.view])) return shift;
    return std::nullopt;
  };
  for (const Ref& out : record.outputs)
    if (auto shift = search(out)) return shift;
  for (const Ref& in : record.inputs)
    if (auto shift = search(in)) return shift;
  return std::nullopt;
}

// The value of an operand at each element of the statement's box.
const char* Group::resolve(StoreId store, uint16_t view, uint16_t box, uint16_t* value) {
  if (written_ & mark_of(store)) {
    for (const GroupReduction& r : reductions) {
      if (r.store != store) continue;
      if (program.reductions[program.code[r.value].b].state != ReduceState::kPlain || !phase_axis || box != 0 ||
          r.view != view)
        return "needs a finished reduction";
      phases = true;
      *value = r.value;
      return nullptr;
    }
    for (size_t i = values.size(); i-- > 0;) {
      const GroupValue& v = values[i];
      if (v.store != store) continue;
      if (v.view == view) {
        if (v.box == box || boxes[v.box].contains(boxes[box])) {
          *value = v.value;
          return nullptr;
        }
        if (partition::overlaps(boxes[v.box], boxes[box])) return "reads a part that is only half written here";
        if (distinct(view, v.box, box)) continue;
      }
      if (partition::overlap(part(v.view, v.box), part(view, box)) != Overlap::kNone)
        return "reads other elements of what the group writes";
    }
  }
  if (!merges(views[view])) return "does not step over merged axes as one";
  const uint8_t guard = guard_of(box);
  if (read_ & mark_of(store)) {
    for (const GroupLoad& load : loads) {
      if (load.store == store && load.view == view &&
          (program.guard[load.value] == 0 || program.guard[load.value] == guard)) {
        *value = load.value;
        return nullptr;
      }
    }
  }
  const auto access = static_cast<uint16_t>(program.accesses.size());
  const View& v = views[view];
  program.accesses.push_back({v.dtype, v.itemsize, false});
  *value = program.push({kLoad, v.dtype, access, kNone, kNone}, v.dtype, guard);
  loads.push_back({store, view, box, *value, false});
  read_ |= mark_of(store);
  return nullptr;
}

// Whether the elements may be written by this group, and what that takes.
const char* Group::check_write(StoreId store, uint16_t view, uint16_t box, StoreTable& stores) {
  if (!merges(views[view])) return "does not step over merged axes as one";
  if (written_ & mark_of(store)) {
    for (const GroupReduction& r : reductions)
      if (r.store == store) return "overwrites a reduction's result";
    for (const GroupValue& v : values) {
      if (v.store != store) continue;
      if (v.view == view) {
        const Box &old = boxes[v.box], &now = boxes[box];
        const bool nested = old.contains(now) || now.contains(old);
        if (!nested && partition::overlaps(old, now)) return "writes a box that crosses an earlier one";
        if (v.box == box || distinct(view, v.box, box)) continue;
      }
      if (partition::overlap(part(v.view, v.box), part(view, box)) != Overlap::kNone)
        return "overwrites other elements of what the group writes";
    }
  }
  if (!(read_ & mark_of(store))) return nullptr;
  const bool alone = records == 0;
  for (GroupLoad& load : loads) {
    if (load.store != store || load.snapshot || (load.view == view && distinct(view, load.box, box))) continue;
    const View written = part(view, box);
    if (partition::overlap(part(load.view, load.box), written) == Overlap::kNone) continue;
    int64_t distinct = 1;  // elements the operand really has
    for (int k = 0; k < domain.size(); ++k)
      if (views[load.view].strides[k] != 0) distinct *= boxes[load.box].extent(k);
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
  return nullptr;
}

// `fresh`: the store was born with this record, so nothing is known of it.
void Group::write(StoreId store, uint16_t view, uint16_t box, uint16_t value, bool fresh) {
  if (!fresh && (written_ & mark_of(store))) {
    for (GroupValue& v : values) {
      if (v.store != store || v.view != view) continue;
      if (boxes[box].contains(boxes[v.box])) {
        v.box = box;
        v.value = value;
        return;
      }
      if (boxes[v.box].contains(boxes[box])) {
        const uint8_t outer = guard_of(v.box);
        const uint16_t inner = guard_of(box) - 1;
        const DType type = views[view].dtype;
        v.value = program.push({kMerge, type, value, v.value, inner}, type, outer);
        return;
      }
    }
  }
  values.push_back({store, view, box, value});
  written_ |= mark_of(store);
}

const char* Group::join_elementwise(const Record& record, StoreTable& stores) {
  const auto shift = align(record);
  if (!shift) return "another domain";
  const uint16_t box = box_at(*shift, record.outputs[0].view.shape);
  if (box != 0 && !reductions.empty()) return "a part of a domain that is reduced";
  if (!merged.empty())
    for (const Instr& instr : record.code)
      if (instr.op == kIndex) return "reads coordinates of merged axes";

  // 1. Operands, parameters and instructions, in the record's numbering.
  SmallVec<uint16_t, 16> number;
  for (const Ref& in : record.inputs) {
    uint16_t value = 0;
    if (const char* why = resolve(in.store, to_frame(in.view, *shift), box, &value)) return why;
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
  auto fresh = [&](StoreId store) {
    for (const Birth& birth : record.births)
      if (birth.store == store) return true;
    return false;
  };
  SmallVec<uint16_t, 4> views_out;
  for (const Ref& out : record.outputs) {
    views_out.push_back(to_frame(out.view, *shift));
    if (fresh(out.store) ? !merges(views[views_out.back()]) : false) return "does not step over merged axes as one";
    if (!fresh(out.store))
      if (const char* why = check_write(out.store, views_out.back(), box, stores)) return why;
  }
  if (phases) {
    for (const GroupValue& v : values)
      if (const char* why = check_phases(v.store, v.view, v.value)) return why;
    for (size_t i = 0; i < record.outputs.size(); ++i)
      if (const char* why = check_phases(record.outputs[i].store, views_out[static_cast<int>(i)],
                                         number[record.results[static_cast<int>(i)]]))
        return why;
  }
  for (size_t i = 0; i < record.outputs.size(); ++i) {
    const StoreId store = record.outputs[i].store;
    const int at = static_cast<int>(i);
    write(store, views_out[at], box, number[record.results[at]], record.outputs.size() == 1 && fresh(store));
  }
  return nullptr;
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

const char* Group::join_reduce(const Record& record) {
  const Ref& in = record.inputs[0];
  if (in.view.shape != domain) return "another domain";
  const auto order = in.view.memory_order();
  for (const GroupReduction& r : reductions) {
    if (program.reductions[program.code[r.value].b].axes != record.reduction.axes) return "reduces other axes";
    if (!(reduce_order == order)) return "reduces in another order of memory";
  }
  auto pairs = merged_axes(record, order);
  if (!guards.empty()) {
    if (short_rows(order)) return "a reduction of many short rows made in parts";
    if (guards_cut(pairs)) {
      if (!exact(record)) return "guards cut axes that the reduction merges";
      pairs.clear();  // as well
    }
  }
  if (!reductions.empty() && pairs != merged) return "merges other axes";
  const auto before = std::exchange(merged, pairs);
  auto refuse = [&](const char* why) {
    merged = before;
    return why;
  };
  if (!merged.empty()) {
    for (const GroupLoad& load : loads)
      if (!merges(views[load.view])) return refuse("an operand does not step over merged axes as one");
    for (const GroupValue& v : values)
      if (!merges(views[v.view])) return refuse("a result does not step over merged axes as one");
    for (const Instr& instr : program.code)
      if (instr.op == kIndex) return refuse("reads coordinates of merged axes");
  }
  uint16_t value = 0;
  const Dims still(domain.size(), 0);
  if (const char* why = resolve(in.store, to_frame(in.view, still), 0, &value)) return refuse(why);

  // A later statement may use the reduced value in the same pass if it belongs to one short row of the innermost axis.
  int innermost = -1;
  for (int axis : order)
    if (domain[axis] > 1) innermost = axis;
  if (innermost >= 0 && guards.empty()) {
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
  View view = out.view;  // strides are 0 on the reduced axes
  view.shape = domain;
  for (int k = 0; k < domain.size(); ++k)
    if (record.reduction.axes >> k & 1) view.strides[k] = 0;
  reductions.push_back({out.store, to_frame(view, still), reduced});
  written_ |= mark_of(out.store);
  reduce_order = order;
  return nullptr;
}

const char* Group::join(const Record& record, StoreTable& stores) {
  const int more = static_cast<int>(record.inputs.size()) + record.params.size() + record.code.size() + 2;
  // Statements without instructions (copies) are bounded too: each is looked through when the next one joins.
  const size_t size = std::max(program.code.size() + more, values.size());
  if (size > kGroupInstructions && records > 0) return "the group is full";
  if (record.watch != watch) return "another error state";
  const Mark before = mark();
  const char* why = record.kind == RecordKind::kReduce ? join_reduce(record) : join_elementwise(record, stores);
  if (why) {
    undo(before);
    TW_CHECK(records > 0, "a record alone does not join: ", why);
    return why;
  }
  keep_if_maker(record, before);
  if (records++ == 0) line = record.line;
  if (watch) {
    for (const Instr& instr : record.code) op_lines.push_back({instr.op, record.told_as, record.line});
    if (record.kind == RecordKind::kReduce) op_lines.push_back({kReduce, kFpOwn, record.line});
  }
  return nullptr;
}

}  // namespace tilewise
