// One record of the operation stream: what Python asked, in plain data.
//
// A record names stores by number and carries views whole, so that it means the same on every rank. The stream is the
// sequence of records; everything below it is a function of the stream and the machine. Records are built by ops,
// given to session::record, and kept by nobody: the window takes what it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/array.h"
#include "runtime/fp_names.h"
#include "runtime/program.h"

namespace tilewise {

enum class RecordKind : uint8_t {
  kElementwise,  // a piece of a scalar program over one shape
  kReduce,       // one reduction of one input
  kCall,         // an operation of a registered family (matmul, ...)
  kHostData,     // a new store filled from the leader's memory
  kDrop,         // the user holds the store no longer
  kRead,         // the leader wants the values of a view
  kFlush,        // issue everything recorded so far
  kSync,         // that, and every rank says when it is done and what failed
};

// An operand or output: a view of a store.
struct Ref {
  StoreId store = 0;
  partition::View view;
};

// A store named for the first time: its own linear index.
struct Birth {
  StoreId store = 0;
  Dims base_shape;
  int64_t base_itemsize = 0;
};

// Where a read's values go. Who no longer wants them (the wait was interrupted) sets `to` to null under the lock.
struct ReadTarget {
  explicit ReadTarget(void* to) : to(to) {}
  std::mutex lock;
  void* to;
};

struct Record {
  RecordKind kind = RecordKind::kElementwise;
  uint8_t watch = 0;  // FpKind bits that somebody wants to hear of (NumPy's errstate)
  uint8_t told_as = kFpOwn;  // FpName, where something is watched
  uint32_t line = 0;  // number of the Python line in the session's table; 0 if unknown

  std::vector<Birth> births;
  std::vector<Ref> inputs;
  std::vector<Ref> outputs;

  // kElementwise. All inputs and outputs have the same shape (strides 0 where broadcast). Values are numbered: inputs
  // first, then parameters, then one for each instruction of `code`; output i takes the value results[i]. The code holds
  // rows, kCast and kIndex only.
  SmallVec<Instr, 4> code;
  SmallVec<DType, 4> types;      // type of each instruction's value
  SmallVec<Scalar, 2> params;
  SmallVec<uint16_t, 2> results;

  // kReduce. The output's view has the input's rank, extent 1 on the reduced axes (its strides there are 0). Its type is
  // the input's, int64 for kArgMin and kArgMax (the index in C order of the reduced axes), the input's for kMoments (m2).
  Reduction reduction;           // axes are those of the input's view

  // kCall.
  uint16_t family = 0;
  std::vector<char> bytes;       // its parameters; kHostData: nothing (see data)

  // kHostData, kRead: on the leader only. C-ordered values of the output; where the input's values go.
  std::shared_ptr<const void> data;
  std::shared_ptr<ReadTarget> destination;
};

// In a loop: a call of memcmp for one or two numbers would cost more.
inline bool same_shape(const Dims& a, const Dims& b) {
  bool same = a.size() == b.size();
  for (int k = 0; same && k < a.size(); ++k) same = a[k] == b[k];
  return same;
}

// The commonest record in short: one row over one or two dense C-ordered operands of one shape and type (the loop's), or
// one such operand and a constant of that type, into a new dense array.
struct PlainOperation {
  Opcode op = 0;
  DType dtype = DType::kBool;                  // of the operands
  DType type = DType::kBool;                   // of the result
  int32_t itemsize = 0;                        // of the result
  const Array* in[2] = {};
  int arrays = 0;
  uint16_t number[2] = {kNone, kNone};         // as in a record: arrays first, then the constant
  bool has_constant = false;
  uint8_t told_as = kFpOwn;                    // FpName
  Scalar constant;
};

namespace session {

// While one lives, what its thread records tells its floating-point conditions under this name, or tells none (kFpSilent).
class ToldAs {
 public:
  explicit ToldAs(uint8_t name) : former_(now_) { now_ = name; }
  ~ToldAs() { now_ = former_; }
  ToldAs(const ToldAs&) = delete;
  static uint8_t now() { return now_; }

 private:
  static thread_local uint8_t now_;
  uint8_t former_;
};

// A new store of the given linear index, not yet named by a record. Residence is decided when a record first names it.
StoreRef new_store(const Dims& base_shape, int64_t base_itemsize);

// Appends a record. `arrays_in` and `arrays_out` are the handles behind inputs and outputs, in order: the record's store
// numbers, births and line are filled in here, after it is decided who computes it (the leader alone for known small
// data, else every device). Waits only for credits, never for results.
void record(Record& record, const Array* const* arrays_in, const Array* const* arrays_out);

// Appends a plain operation without making a record of it, and gives the new store; false where a record is needed: for
// other ranks, a saved stream, or because it does not join the newest group. Then nothing has happened.
bool record_plain(const PlainOperation& operation, StoreRef* result);

// Records a read of the view and waits until its C-ordered values are at `to`. Raises what failed on the way.
void read(const Array& source, void* to);

// TILEWISE_MIN_TILE.
int64_t min_tile();
// Devices of the whole job.
int devices();

}  // namespace session

// A family of library operations (kCall): how its work is split and what runs on a part. Families are registered by ops.
// See runtime/step.h for what `plan` may do.
class CallPlan;
struct Family {
  std::string name;
  void (*plan)(const Record& record, CallPlan& plan) = nullptr;
};
uint16_t register_family(const Family& family);
const Family& family(uint16_t number);

}  // namespace tilewise
