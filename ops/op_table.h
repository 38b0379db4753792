// The rows of ops/elementwise.def as data: what the runtime needs (OpInfo), and what the interpreters, the type rules,
// the Python face and the documentation need besides. Constant after start; any thread.
#pragma once

#include <string_view>

#include "ops/row_kinds.h"
#include "runtime/program.h"

namespace tilewise::ops {

struct Row {
  OpInfo info;
  RowFlag flags = Plain;
  FpRule fp = Never;            // see fp_for
  float ulp = 0;
  std::string_view expression;  // over a, b, c and namespace fn
  std::string_view doc;

  FpRule fp_for(DType loop) const { return ops::fp_for(fp, ulp, loop); }
};

const Row& row(Opcode op);
// The opcode of a row or alias; 0 where there is none.
Opcode find_op(std::string_view name);

struct Alias {
  std::string_view name;
  Opcode op;
};
// Other names of NumPy's for a row.
const Alias* aliases();
int alias_count();

// Installs the table in the runtime (install_op_table) and the SIMD interpreter.
// Once for the process, before any program is built; further calls do nothing.
void install();

}  // namespace tilewise::ops
