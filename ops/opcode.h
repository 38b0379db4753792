// Opcodes of the rows of ops/elementwise.def, by name: op::add.
#pragma once

#include "runtime/program.h"

namespace tilewise::ops::op {

enum : Opcode {
  kBeforeFirst = kFirstRow - 1,
#define TW_ROW(family, name, ...) name,
#include "ops/elementwise.def"
#undef TW_ROW
#undef TW_ALIAS
  kEnd,
};

}  // namespace tilewise::ops::op
