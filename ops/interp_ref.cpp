#include "ops/interp_ref.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/ref/loop.h"
#include "ops/ref/reduce.h"
#include "partition/tree.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

using Buffer = std::vector<char>;

class Run {
 public:
  explicit Run(const Launch& launch)
      : launch_(launch), program_(*launch.program), rank_(launch.extents.size()),
        row_(rank_ ? launch.extents.back() : 1), value_(program_.code.size()), gathered_(program_.reductions.size()) {
    for (size_t i = 0; i < program_.code.size(); ++i) {
      if (program_.code[i].op == kStore) continue;
      value_[i].resize(row_ * size_of(static_cast<int>(i)));
    }
  }

  void run() {
    if (count_of(launch_.extents) == 0) return;
    Dims at(rank_);
    do {
      for (int i = 0; i < static_cast<int>(program_.code.size()); ++i) {
        if (program_.code[i].op == kReduce) reduce_row(i);
        else for_each_run(i, at, [&](int64_t x, int64_t count) { step(i, at, x, count); });
      }
    } while (next_row(at));
    for (int i = 0; i < static_cast<int>(program_.code.size()); ++i)
      if (program_.code[i].op == kReduce) reduce_box(i);
  }

 private:
  int64_t size_of(int i) const {
    if (program_.code[i].op == kLoad) return program_.accesses[program_.code[i].a].itemsize;
    return itemsize(program_.type[i]);
  }

  // Advances to the next row of the box: all coordinates but the last.
  bool next_row(Dims& at) const {
    for (int k = rank_ - 2; k >= 0; --k) {
      if (++at[k] < launch_.extents[k]) return true;
      at[k] = 0;
    }
    return false;
  }

  // Whether a guard holds at place x of the row.
  bool holds(int guard, Dims at, int64_t x) const {
    if (rank_) at[rank_ - 1] = x;
    return launch_.guards[guard].contains(at);
  }

  // The parts of the row in which the instruction has a value, cut so that each merge takes one side.
  template <class F>
  void for_each_run(int i, const Dims& at, const F& f) const {
    const int guard = program_.guard[i];
    if (program_.guard_count == 0) return f(0, row_);
    const auto place = [&](int64_t x) {  // 0: no value; else which side
      if (guard > 0 && !holds(guard - 1, at, x)) return 0;
      return program_.code[i].op == kMerge && holds(program_.code[i].c, at, x) ? 2 : 1;
    };
    for (int64_t x = 0; x < row_;) {
      int64_t end = x + 1;
      while (end < row_ && place(end) == place(x)) ++end;
      if (place(x)) f(x, end - x);
      x = end;
    }
  }

  char* address(int access, const Dims& at, int64_t x) const {
    const Operand& operand = launch_.operands[access];
    char* p = operand.base;
    for (int k = 0; k < rank_; ++k) p += (k == rank_ - 1 ? x : at[k]) * operand.strides[k];
    return p;
  }
  int64_t row_stride(int access) const { return rank_ ? launch_.operands[access].strides.back() : 0; }
  uint8_t* flags(int i) const { return launch_.fp_flags ? launch_.fp_flags + i : nullptr; }

  // A reduction's node, and what it met.
  void reduce_node(int i, const ref::Line& line, const partition::TreeNode& node, char* state) const {
    const Instr& in = program_.code[i];
    uint8_t seen[kMomentParts] = {};
    ref::reduce_node(program_.reductions[in.b], in.dtype, line, node, state, launch_.fp_flags ? seen : nullptr);
    for (int part = 0; launch_.fp_flags && part < launch_.fp_parts; ++part)
      launch_.fp_flags[part * program_.code.size() + i] |= seen[part];
  }

  char* element(uint16_t value, int64_t x) { return value_[value].data() + x * size_of(value); }

  void step(int i, const Dims& at, int64_t x, int64_t count) {
    const Instr& in = program_.code[i];
    char* out = in.op == kStore ? nullptr : element(static_cast<uint16_t>(i), x);
    switch (in.op) {
      case kLoad: return load(in.a, at, x, count, out);
      case kParam: return fill(out, launch_.params[in.a].bytes, count, itemsize(program_.type[i]));
      case kIndex: return index(in.a, at, x, count, out);
      case kCast: {
        const void* operands[3] = {element(in.a, x)};
        return ref::find_cast(in.dtype, program_.type[i])(operands, out, count, flags(i));
      }
      case kStore: return store(in.b, at, x, count, element(in.a, x));
      case kMerge: {
        const uint16_t side = holds(in.c, at, x) ? in.a : in.b;
        std::memcpy(out, element(side, x), count * size_of(i));
        return;
      }
      default: break;
    }
    const void* operands[3] = {};
    const uint16_t names[3] = {in.a, in.b, in.c};
    for (int k = 0; k < op_info(in.op).arity; ++k) operands[k] = element(names[k], x);
    const ref::Loop loop = ref::find_loop(in.op, in.dtype);
    TW_CHECK(loop, "no loop of ", op_info(in.op).name, " for ", name(in.dtype));
    loop(operands, out, count, flags(i));
  }

  void load(int access, const Dims& at, int64_t x, int64_t count, char* out) const {
    const char* from = address(access, at, x);
    const int64_t size = program_.accesses[access].itemsize, stride = row_stride(access);
    for (int64_t j = 0; j < count; ++j) std::memcpy(out + j * size, from + j * stride, size);
  }

  void store(int access, const Dims& at, int64_t x, int64_t count, const char* from) const {
    char* to = address(access, at, x);
    const int64_t size = program_.accesses[access].itemsize, stride = row_stride(access);
    for (int64_t j = 0; j < count; ++j) std::memcpy(to + j * stride, from + j * size, size);
  }

  void fill(char* out, const void* bytes, int64_t count, int64_t size) const {
    for (int64_t j = 0; j < count; ++j) std::memcpy(out + j * size, bytes, size);
  }

  void index(int axis, const Dims& at, int64_t x, int64_t count, char* out) const {
    for (int64_t j = 0; j < count; ++j) {
      const int64_t place = launch_.origin[axis] + (axis == rank_ - 1 ? x + j : at[axis]);
      std::memcpy(out + j * 8, &place, 8);
    }
  }

  // The values of a reduction are kept for the whole box, and reduced at the end; where the program uses the reduced
  // value itself, the row is whole and is reduced at once.
  void reduce_row(int i) {
    const Instr& in = program_.code[i];
    const Reduction& reduction = program_.reductions[in.b];
    const Buffer& values = value_[in.a];
    if (launch_.reductions[in.b].nodes) gathered_[in.b].insert(gathered_[in.b].end(), values.begin(), values.end());
    if (!used_later(i)) return;
    TW_CHECK(rank_ > 0 && reduction.axes == uint64_t{1} << (rank_ - 1),
             "a reduced value can be used within the program over the innermost axis only");
    const int64_t size = itemsize(in.dtype);
    const ref::Line line{values.data(), size, 0, row_, true};
    const auto root = partition::tree_nodes(0, row_, row_, partition::kLaneUnit);
    Buffer state(state_bytes(reduction, in.dtype));
    reduce_node(i, line, root.front(), state.data());
    fill(value_[i].data(), ref::reduced_value(reduction, in.dtype, state.data()), row_, itemsize(program_.type[i]));
  }

  bool used_later(int i) const {
    for (const Instr& in : program_.code) {
      if (in.op == kLoad || in.op == kParam || in.op == kIndex) continue;
      const int arity = in.op < kFirstRow ? 1 : op_info(in.op).arity;
      const uint16_t names[3] = {in.a, in.b, in.c};
      if (std::find(names, names + arity, static_cast<uint16_t>(i)) != names + arity) return true;
    }
    return false;
  }

  // The first stage of one reduction: nodes of its innermost axis, for each place on the other axes.
  void reduce_box(int i) {
    const Instr& in = program_.code[i];
    const ReduceTarget& target = launch_.reductions[in.b];
    if (!target.nodes) return;
    const Reduction& reduction = program_.reductions[in.b];
    const int axis = 63 - __builtin_clzll(reduction.axes);
    TW_CHECK(axis < rank_, "the reduced axis ", axis, " is not in the frame");
    const bool lanes = axis == rank_ - 1;
    int64_t outer = 1, inner = 1;
    for (int k = 0; k < rank_; ++k) (k < axis ? outer : inner) *= k == axis ? 1 : launch_.extents[k];

    const int64_t size = itemsize(in.dtype), length = launch_.extents[axis];
    const int64_t state = state_bytes(reduction, in.dtype);
    const auto nodes = partition::tree_nodes(target.begin, target.end, target.extent,
                                             lanes ? partition::kLaneUnit : partition::kRunUnit);
    char* out = static_cast<char*>(target.nodes);
    for (const partition::TreeNode& node : nodes) {
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t x = 0; x < inner; ++x, out += state) {
          const char* first = gathered_[in.b].data() + (o * length * inner + x) * size;
          reduce_node(i, {first, inner * size, target.begin, target.extent, lanes}, node, out);
        }
      }
    }
  }

  const Launch& launch_;
  const Program& program_;
  const int rank_;
  const int64_t row_;
  std::vector<Buffer> value_;     // of each instruction, for the current row
  std::vector<Buffer> gathered_;  // of each reduction: its operand over the whole box
};

}  // namespace

void run_reference(const Launch& launch, Parallel&) { Run(launch).run(); }

void combine_reference(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n,
                       int64_t into_positions, int64_t from_positions, uint8_t* flags) {
  ref::combine_states(reduction, dtype, into, from, n, into_positions, from_positions, flags);
}

Interpreter reference_interpreter() { return {&run_reference, &combine_reference}; }

}  // namespace tilewise::ops
