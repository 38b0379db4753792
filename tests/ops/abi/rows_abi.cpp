// The rows and interpreters behind a C interface, for tests that compare them with NumPy in Python (ctypes).
#include <cstring>
#include <string>

#include "ops/interp_ref.h"
#include "ops/op_table.h"
#include "runtime/base/error.h"
#include "runtime/launch.h"

using namespace tilewise;

namespace {

class Serial : public Parallel {
 public:
  int width() const override { return 1; }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    for (int64_t i = 0; i < count; ++i) body(i);
  }
};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int tw_rows() {
  ops::install();
  return op_count();
}

// Whether another interpreter than the reference is installed.
__attribute__((visibility("default"))) int tw_has_simd() {
  ops::install();
  return interpreter().run != ops::reference_interpreter().run;
}

// "name arity helper ulp", then for each loop " dtype,operands...,result" as numbers of dtypes.
__attribute__((visibility("default"))) const char* tw_row(int index) {
  static std::string text;
  const Opcode op = static_cast<Opcode>(kFirstRow + index);
  const ops::Row& row = ops::row(op);
  text = str(row.info.name, " ", int{row.info.arity}, " ", row.flags & ops::Helper ? 1 : 0, " ", row.ulp);
  for (int d = 0; d < kNumericDTypes; ++d) {
    const DType loop = static_cast<DType>(d);
    if (!row.info.has_loop(loop)) continue;
    text += str(" ", d);
    for (int k = 0; k < row.info.arity; ++k) text += str(",", static_cast<int>(row.info.operand_type(k, loop)));
    text += str(",", static_cast<int>(row.info.result_type(loop)));
  }
  return text.c_str();
}

// Runs one row over n dense elements; which: 0 the reference interpreter, 1 the installed one. Returns the flags seen.
__attribute__((visibility("default"))) int tw_run_row(int which, int index, int loop, int64_t n, const void* const* in,
                                                      void* out) {
  ops::install();
  const Opcode op = static_cast<Opcode>(kFirstRow + index);
  const OpInfo& info = op_info(op);
  Program program;
  Operand operands[4];
  Instr instr{op, static_cast<DType>(loop)};
  uint16_t* names[3] = {&instr.a, &instr.b, &instr.c};
  for (int k = 0; k < info.arity; ++k) {
    const DType type = info.operand_type(k, instr.dtype);
    program.accesses.push_back({type, itemsize(type), false});
    *names[k] = program.push({kLoad, type, static_cast<uint16_t>(k)}, type);
    operands[k] = {static_cast<char*>(const_cast<void*>(in[k])), {itemsize(type)}};
  }
  const DType result = info.result_type(instr.dtype);
  program.accesses.push_back({result, itemsize(result), true});
  operands[info.arity] = {static_cast<char*>(out), {itemsize(result)}};
  const uint16_t value = program.push(instr, result);
  program.push({kStore, result, value, info.arity}, result);
  verify(program);

  uint8_t flags[8] = {};
  Launch launch;
  launch.program = &program;
  launch.extents = {n};
  launch.origin = {0};
  launch.operands = operands;
  launch.fp_flags = flags;
  Serial serial;
  (which == 0 ? ops::reference_interpreter() : interpreter()).run(launch, serial);
  return flags[value];
}

// NumPy's astype over n dense elements; returns the flags seen.
__attribute__((visibility("default"))) int tw_run_cast(int which, int from, int to, int64_t n, const void* in, void* out) {
  ops::install();
  const DType source = static_cast<DType>(from), target = static_cast<DType>(to);
  Program program;
  program.accesses = {{source, itemsize(source), false}, {target, itemsize(target), true}};
  const uint16_t value = program.push({kLoad, source, 0}, source);
  const uint16_t cast = program.push({kCast, source, value, kNone, static_cast<uint16_t>(to)}, target);
  program.push({kStore, target, cast, 1}, target);
  const Operand operands[2] = {{static_cast<char*>(const_cast<void*>(in)), {itemsize(source)}},
                               {static_cast<char*>(out), {itemsize(target)}}};
  uint8_t flags[3] = {};
  Launch launch;
  launch.program = &program;
  launch.extents = {n};
  launch.origin = {0};
  launch.operands = operands;
  launch.fp_flags = flags;
  Serial serial;
  (which == 0 ? ops::reference_interpreter() : interpreter()).run(launch, serial);
  return flags[cast];
}

}  // extern "C"
