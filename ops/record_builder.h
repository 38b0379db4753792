// Builds one elementwise record: operands are broadcast to a shape, values get numbers, the record goes to the session.
//
// Internal to ops. A builder lives on the stack for one call and is used by one thread; the record it fills belongs to
// the thread and is used again, so that a record costs no allocation. Values are named by what input(), param() and the
// others return, in any order; commit() gives them the record's numbers.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/opcode.h"
#include "runtime/array.h"
#include "runtime/record.h"

namespace tilewise::ops {

// The thread's record, empty; taken for the time of one call. A call inside the call (a signal handler that runs while
// the session waits) gets a record of its own.
class ScratchRecord {
 public:
  ScratchRecord();
  ~ScratchRecord();
  ScratchRecord(const ScratchRecord&) = delete;
  Record* operator->() const { return record_; }
  Record& operator*() const { return *record_; }

 private:
  Record* record_;
  bool owned_;
};

class RecordBuilder {
 public:
  using Value = uint16_t;
  using Handles = SmallVec<const Array*, 6>;

  explicit RecordBuilder(const Dims& shape) : shape_(shape) {}

  Value input(const Array& array);                    // stretched to the shape; the array outlives the builder
  Value param(const Scalar& value);
  Value index(int axis);                              // the coordinate on an axis, int64
  Value cast(Value value, DType to);                  // the value itself where it has the type
  Value apply(Opcode op, DType loop, Value a, Value b = kNone, Value c = kNone);
  DType type(Value value) const;
  void output(const Array& array, Value value);       // the array has the builder's shape
  void commit();

 private:
  Value push(Instr instr, DType type);
  uint16_t number(Value value) const;

  Dims shape_;
  ScratchRecord record_;
  Handles in_, out_;
};

// Records a call of a family on views of the arrays; `bytes` are its parameters.
void record_call(uint16_t family, std::vector<char> bytes, std::span<const Array* const> in, std::span<const Array* const> out);
inline void record_call(uint16_t family, std::vector<char> bytes, std::span<const Array* const> in, const Array& out) {
  const Array* to = &out;
  record_call(family, std::move(bytes), in, {&to, 1});
}

// A new array whose memory runs through the axes as the views do, where they agree (NumPy's order K); else C order.
// The views have the rank of `shape`; strides of stretched axes are 0.
Array new_like(const Dims& shape, std::span<const partition::View* const> views, DType dtype, int32_t itemsize);
// A new C-ordered array.
Array new_array(const Dims& shape, DType dtype, int32_t itemsize);
inline Array new_array(const Dims& shape, DType dtype) { return new_array(shape, dtype, itemsize(dtype)); }

// NumPy's text for a shape: "(2,3)", "(4,)", "()".
std::string shape_text(const Dims& shape);

}  // namespace tilewise::ops
