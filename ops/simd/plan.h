// A scalar program prepared for the blocked interpreter: which kernel computes each instruction, in which block
// register each value lies, which phase it belongs to. Made once a program and cached; constant, any thread.
//
// Values live in registers: blocks of `block` elements in the first-level cache, assigned by a linear scan. Values that
// cross phases (those that a reduction separates) have registers of their own, which may hold a whole row.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ops/row_kinds.h"
#include "ops/simd/kernel.h"
#include "runtime/program.h"

namespace tilewise::ops::simd {

enum class StepKind : uint8_t { kCompute, kLoad, kIndex, kStore, kReduce };

struct Step {
  StepKind kind = StepKind::kCompute;
  uint8_t arity = 0;
  uint16_t value = kNone;          // the instruction's number
  uint16_t flagged = kNone;        // the instruction whose warnings it raises
  uint16_t inner = kNone;          // a pair (plan_pairs.h): the instruction that is computed in the same pass
  bool second = false;             // ... and is the second operand
  uint16_t in[3] = {kNone, kNone, kNone};
  uint16_t slot = kNone;           // access, axis or reduction
  DType dtype = DType::kBool;      // of the loop
  Opcode op = 0;
  FpRule fp = Never;
  KernelInfo kernel;
};

enum class ValueKind : uint8_t { kNothing, kParam, kLoad, kIndex, kComputed, kReduced };

struct Value {
  ValueKind kind = ValueKind::kNothing;
  DType type = DType::kBool;
  int32_t itemsize = 0;
  int16_t reg = -1;
  uint16_t slot = kNone;       // parameter, access, axis or reduction
  uint16_t phase = 0;          // in which it is first known
  int32_t defined = -1;        // step
  int32_t last_used = -1;      // step
  int16_t direct_store = -1;   // step of the store whose place can serve as the value's
};

struct PlannedReduction {
  int step = -1;
  uint16_t value = kNone;      // the operand
  DType dtype = DType::kBool;
  int64_t state_bytes = 0;
  bool flagged = false;        // joins may raise warnings
  bool moments = false;        // ... and say in which part (moment_status.h)
  LaneKernel lanes;            // for kPlain
  KernelInfo row;              // of the operation, for kPlain
};

// A program with reductions over different axes is run as one program for each axis.
struct PlanPart {
  Program program;
  std::vector<uint16_t> number;  // of its instructions in the whole program
};

class PlanForms;

struct Plan {
  Program program;
  // A program with guards is run form by form (form_of); its own steps are those of the form in which all guards hold.
  std::shared_ptr<PlanForms> forms;     // null: there are no guards
  std::vector<uint16_t> number;         // of a form's instructions in the program with guards; empty: the same
  std::vector<PlanPart> parts;          // empty: the plan is run itself
  std::vector<Step> steps;              // in order of phase, then of the program
  std::vector<int> phase_begin;         // steps of phase p are [phase_begin[p], phase_begin[p + 1])
  std::vector<Value> values;            // by instruction
  std::vector<PlannedReduction> reductions;  // those that the program computes
  std::vector<int> register_bytes;      // itemsize of the widest value in each register
  std::vector<uint8_t> register_crosses;  // holds a value that crosses phases
  int quantum = 1;                      // counts are padded to a multiple of this
  int64_t block = 0;                    // elements
  int splats = 0;                       // values that may be one element for a whole block
  bool computes = false;                // has kernels to run
  bool supported = true;                // else the reference interpreter runs it
  float cost = 0;                       // of an element, in additions

  int phases() const { return static_cast<int>(phase_begin.size()) - 1; }
};

// The plan of a program, from the cache where it is there. The cache holds some thousands; a plan that has left it lives
// until as many again have been made, longer than any launch.
const Plan& plan_for(const Program& program);

// The plan for the places where exactly the guards of `active` hold. It lives as long as `guarded`.
const Plan& form_of(const Plan& guarded, uint64_t active);

// Chooses among instruction sets as if those of the mask (Highway's target bits) were missing. For tests.
void disable_targets(int64_t mask);

}  // namespace tilewise::ops::simd
