// The scalar program of a fused group: what is computed for one element of the group's domain.
//
// Linear, in static single assignment form: instruction i defines value i (stores define none). Types are
// beside the opcode and casts are explicit. Constants are parameters (kParam), never part of the program;
// neither are shapes, strides or pointers: those come with a Launch. So equal arithmetic has equal programs,
// whatever the arrays. Elementwise opcodes are rows of ops/elementwise.def, known here as numbers with an OpInfo.
//
// Reductions are instructions too. The value of a kReduce, used by a later instruction, is the whole reduced
// value of the element's row: such programs run in phases, row by row, and their reduced axis is the innermost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/hash.h"

namespace tilewise {

using Opcode = uint8_t;

// Opcodes below kFirstRow are structure; row k of ops/elementwise.def has opcode kFirstRow + k.
enum Structure : Opcode {
  kLoad,    // a = access. The element of an operand.
  kParam,   // a = parameter. A constant of the group.
  kIndex,   // a = frame axis. The element's coordinate on that axis, as int64.
  kCast,    // a = value, dtype = type of a, c = target DType. NumPy's astype.
  kStore,   // a = value, b = access. Defines no value.
  kReduce,  // a = value, b = reduction. dtype = type of a.
  kMerge,   // a = value where guard c holds, b = value elsewhere. How a guarded statement updates a value.
  kFirstRow = 16,
};

inline constexpr uint16_t kNone = 0xffff;

struct Instr {
  Opcode op = 0;
  DType dtype = DType::kBool;  // the loop: type of the operands (see operand_type for rows that mix types)
  uint16_t a = kNone, b = kNone, c = kNone;
};
static_assert(sizeof(Instr) == 8);

// What is fixed about an elementwise operation; rows of ops/elementwise.def fill a table of these.
struct OpInfo {
  std::string_view name;  // NumPy's
  uint8_t arity = 0;
  bool commutative = false;
  bool reducible = false;      // may be the operation of a Reduction
  bool portable = false;       // same bits on every kind of processor
  float cost = 1;              // rough work of one element, in additions
  uint16_t loops = 0;          // bit d: there is a loop for DType d
  DType result[kNumericDTypes] = {};     // result type of the loop for each operand type
  DType operand_b[kNumericDTypes] = {};  // type of the second operand (equal to the first but for ldexp's like)
  bool select = false;                   // the first operand is bool, the others have the loop's type ("where")

  bool has_loop(DType d) const { return loops >> static_cast<int>(d) & 1; }
  DType result_type(DType loop) const { return result[static_cast<int>(loop)]; }
  DType operand_type(int k, DType loop) const {
    if (select) return k == 0 ? DType::kBool : loop;
    return k == 1 ? operand_b[static_cast<int>(loop)] : loop;
  }
};

// The table is installed once, by ops, before any program is built.
void install_op_table(const OpInfo* rows, int count);
const OpInfo& op_info(Opcode op);
int op_count();  // rows

// How the values of one reduction combine. Any reducible row, or one of three with a state of their own.
enum class ReduceState : uint8_t {
  kPlain,    // the operation `op` on values of the operand's type
  kArgMin,   // state {value, int64 index}: NaN first, then smallest, then lowest index
  kArgMax,
  kMoments,  // state {mean: operand's type, m2: its real part's}; counts follow from positions. For var and std.
             // Operands are float32 or wider; narrower ones are cast first
};

struct Reduction {
  ReduceState state = ReduceState::kPlain;
  Opcode op = 0;               // for kPlain
  uint64_t axes = 0;           // bit k: frame axis k is reduced
  bool operator==(const Reduction&) const = default;
};

// An operand's or output's type and item size (kVoid data may only be loaded and stored).
struct Access {
  DType dtype = DType::kBool;
  int32_t itemsize = 0;
  bool write = false;
  bool operator==(const Access&) const = default;
};

struct Program {
  std::vector<Instr> code;
  std::vector<DType> type;           // type[i] of value i (kStore: that of the value stored)
  std::vector<uint8_t> guard;        // guard[i]: 0 for always, g + 1 for "inside guard box g"
  std::vector<Access> accesses;
  std::vector<DType> params;
  std::vector<Reduction> reductions;
  int guard_count = 0;

  // Appends an instruction and returns its value's number.
  uint16_t push(Instr instr, DType result, uint8_t guarded = 0);
  uint64_t key() const;  // of everything above
  bool operator==(const Program& other) const;
};

// The program for a part of the domain in which the guards of `active` hold everywhere (bit g), those of `partly` in
// some places and the others nowhere; dead instructions removed. Only the guards of `partly` remain. Accesses,
// parameters, reductions and guards keep their numbers. `numbers` receives each instruction's number in `program`.
Program specialize(const Program& program, uint64_t active, uint64_t partly = 0, std::vector<uint16_t>* numbers = nullptr);

// The type of the value that a kReduce defines: the operand's for kPlain, int64 (the index) for the arg-states, the
// real part's (the sum of squared deviations) for kMoments.
DType reduced_type(const Reduction& reduction, DType dtype);

// Throws Error(kInternal) naming the first rule that the program breaks.
void verify(const Program& program);

// One instruction a line, for TILEWISE_DUMP=program and golden tests.
std::string print(const Program& program);

}  // namespace tilewise
