#include "ops/record_builder.h"

#include <cstdlib>

#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

// Provisional value numbers, before it is known how many inputs and parameters there are.
constexpr uint16_t kParamBase = 0x4000;
constexpr uint16_t kInstrBase = 0x8000;

struct ThreadRecord {
  Record record;
  bool taken = false;
};
thread_local ThreadRecord thread_record;

}  // namespace

ScratchRecord::ScratchRecord() : owned_(thread_record.taken) {
  if (owned_) {
    record_ = new Record;
    return;
  }
  thread_record.taken = true;
  record_ = &thread_record.record;
  record_->kind = RecordKind::kElementwise;
  record_->births.clear();
  record_->code.clear();
  record_->types.clear();
  record_->params.clear();
  record_->results.clear();
  record_->bytes.clear();
}

ScratchRecord::~ScratchRecord() {
  if (owned_) {
    delete record_;
    return;
  }
  record_->data.reset();
  record_->bytes.clear();
  thread_record.taken = false;
}

RecordBuilder::Value RecordBuilder::input(const Array& array) {
  in_.push_back(&array);
  const int at = in_.size() - 1;
  record_->inputs.resize(std::max<size_t>(record_->inputs.size(), in_.size()));
  partition::View& view = record_->inputs[at].view;
  if (array.view.shape == shape_) view = array.view;
  else view = partition::broadcast_to(array.view, shape_);
  return static_cast<Value>(at);
}

RecordBuilder::Value RecordBuilder::param(const Scalar& value) {
  record_->params.push_back(value);
  return static_cast<Value>(kParamBase + record_->params.size() - 1);
}

RecordBuilder::Value RecordBuilder::push(Instr instr, DType type) {
  record_->code.push_back(instr);
  record_->types.push_back(type);
  return static_cast<Value>(kInstrBase + record_->code.size() - 1);
}

RecordBuilder::Value RecordBuilder::index(int axis) {
  return push({kIndex, DType::kInt64, static_cast<uint16_t>(axis), kNone, kNone}, DType::kInt64);
}

DType RecordBuilder::type(Value value) const {
  if (value >= kInstrBase) return record_->types[value - kInstrBase];
  if (value >= kParamBase) return record_->params[value - kParamBase].dtype;
  return in_[value]->view.dtype;
}

RecordBuilder::Value RecordBuilder::cast(Value value, DType to) {
  const DType from = type(value);
  if (from == to) return value;
  if (value >= kParamBase && value < kInstrBase) return param(tilewise::cast(record_->params[value - kParamBase], to));
  return push({kCast, from, value, kNone, static_cast<uint16_t>(to)}, to);
}

RecordBuilder::Value RecordBuilder::apply(Opcode op, DType loop, Value a, Value b, Value c) {
  return push({op, loop, a, b, c}, op_info(op).result_type(loop));
}

void RecordBuilder::output(const Array& array, Value value) {
  out_.push_back(&array);
  record_->outputs.resize(std::max<size_t>(record_->outputs.size(), out_.size()));
  record_->outputs[out_.size() - 1].view = array.view;
  record_->results.push_back(value);
}

uint16_t RecordBuilder::number(Value value) const {
  if (value == kNone || value < kParamBase) return value;
  if (value < kInstrBase) return static_cast<uint16_t>(value - kParamBase + in_.size());
  return static_cast<uint16_t>(value - kInstrBase + in_.size() + record_->params.size());
}

void RecordBuilder::commit() {
  record_->inputs.resize(in_.size());
  record_->outputs.resize(out_.size());
  for (Instr& instr : record_->code) {
    if (instr.op == kIndex) continue;
    instr.a = number(instr.a);
    instr.b = number(instr.b);
    if (instr.op != kCast) instr.c = number(instr.c);
  }
  for (uint16_t& result : record_->results) result = number(result);
  session::record(*record_, in_.data(), out_.data());
}

namespace {

// Axes from outer to inner, by NumPy's rule for order K: an axis moves outwards past axes whose strides are smaller in
// all views that tell them apart; in a conflict C order wins.
SmallVec<int, 6> memory_order(int rank, std::span<const partition::View* const> views) {
  SmallVec<int, 6> order(rank);  // inner first while sorting
  for (int k = 0; k < rank; ++k) order[k] = rank - 1 - k;
  for (int i = 1; i < rank; ++i) {
    const int axis = order[i];
    int place = i;
    for (int j = i - 1; j >= 0; --j) {
      bool known = false, inner = false;
      for (const partition::View* view : views) {
        const int64_t mine = view->shape[axis] == 1 ? 0 : std::abs(view->strides[axis]);
        const int64_t other = view->shape[order[j]] == 1 ? 0 : std::abs(view->strides[order[j]]);
        if (mine == 0 || other == 0) continue;
        if (other <= mine) inner = false;
        else if (!known) inner = true;
        known = true;
      }
      if (known && inner) place = j;
      else if (known) break;
    }
    for (int j = i; j > place; --j) order[j] = order[j - 1];
    order[place] = axis;
  }
  std::reverse(order.begin(), order.end());
  return order;
}

int64_t checked_bytes(const Dims& shape, int64_t itemsize) {
  int64_t bytes = itemsize;
  for (int64_t extent : shape) {
    if (extent < 0) throw Error(ErrorKind::kValue, "negative dimensions are not allowed");
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
      throw Error(ErrorKind::kValue,
                  "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
  }
  return bytes;
}

}  // namespace

Array new_array(const Dims& shape, DType dtype, int32_t itemsize) {
  checked_bytes(shape, itemsize);
  return {session::new_store(shape, itemsize), partition::dense_view(shape, dtype, itemsize)};
}

void record_call(uint16_t family, std::vector<char> bytes, std::span<const Array* const> in, std::span<const Array* const> out) {
  ScratchRecord record;
  record->kind = RecordKind::kCall;
  record->family = family;
  record->bytes = std::move(bytes);
  record->inputs.resize(in.size());
  for (size_t i = 0; i < in.size(); ++i) record->inputs[i].view = in[i]->view;
  record->outputs.resize(out.size());
  for (size_t i = 0; i < out.size(); ++i) record->outputs[i].view = out[i]->view;
  session::record(*record, in.data(), out.data());
}

Array new_like(const Dims& shape, std::span<const partition::View* const> views, DType dtype, int32_t itemsize) {
  const int rank = shape.size();
  if (rank < 2) return new_array(shape, dtype, itemsize);
  const SmallVec<int, 6> order = memory_order(rank, views);
  bool plain = true;
  for (int k = 0; k < rank; ++k) plain = plain && order[k] == k;
  if (plain) return new_array(shape, dtype, itemsize);
  Dims base;
  SmallVec<int, 6> back(rank);
  for (int k = 0; k < rank; ++k) {
    base.push_back(shape[order[k]]);
    back[order[k]] = k;
  }
  Array result = new_array(base, dtype, itemsize);
  result.view = partition::permute(result.view, back);
  return result;
}

std::string shape_text(const Dims& shape) {
  std::string text = "(";
  for (int k = 0; k < shape.size(); ++k) text += (k ? "," : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace tilewise::ops
