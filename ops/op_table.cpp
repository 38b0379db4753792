#include "ops/op_table.h"

#include "ops/interp_simd.h"
#include "ops/opcode.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

constexpr Row make_row(std::string_view name, int arity, LoopSet loops, Result result, RowFlag flags, float ulp, float cost,
                       FpRule fp, std::string_view expression, std::string_view doc) {
  Row r;
  r.info.name = name;
  r.info.arity = static_cast<uint8_t>(arity);
  r.info.commutative = flags & Commutes;
  r.info.reducible = flags & Reduces;
  r.info.portable = flags & Portable;
  r.info.select = flags & Select;
  r.info.cost = cost;
  r.info.loops = loops;
  for (int d = 0; d < kNumericDTypes; ++d) {
    r.info.result[d] = result_for(result, static_cast<DType>(d));
    r.info.operand_b[d] = second_for(flags, static_cast<DType>(d));
  }
  r.flags = flags;
  r.fp = fp;
  r.ulp = ulp;
  r.expression = expression;
  r.doc = doc;
  return r;
}

constexpr Row make(std::string_view name, int arity, LoopSet set, Result result, RowFlag flags, double ulp, double cost,
                   FpRule fp, std::string_view expression, std::string_view doc) {
  return make_row(name, arity, set, result, flags, static_cast<float>(ulp), static_cast<float>(cost), fp, expression, doc);
}

constexpr int kRows = int{op::kEnd} - int{kFirstRow};

constexpr Row kTable[] = {
#define TW_ROW(family, name, arity, set, result, flags, ulp, cost, fp, expression, doc) \
  make(#name, arity, loops::set, Result::result, flags, ulp, cost, fp, #expression, doc),
#include "ops/elementwise.def"
#undef TW_ROW
#undef TW_ALIAS
};
static_assert(sizeof(kTable) / sizeof(Row) == kRows);

constexpr Alias kAliases[] = {
#define TW_ROW(...)
#define TW_ALIAS(name, row) {#name, op::row},
#include "ops/elementwise.def"
#undef TW_ROW
#undef TW_ALIAS
};

const OpInfo* infos() {
  static OpInfo table[kRows];
  for (int i = 0; i < kRows; ++i) table[i] = kTable[i].info;
  return table;
}

}  // namespace

const Row& row(Opcode op) {
  TW_CHECK(op >= kFirstRow && op < op::kEnd, "no row has opcode ", static_cast<int>(op));
  return kTable[op - kFirstRow];
}

Opcode find_op(std::string_view name) {
  for (int i = 0; i < kRows; ++i)
    if (kTable[i].info.name == name) return static_cast<Opcode>(kFirstRow + i);
  for (const Alias& alias : kAliases)
    if (alias.name == name) return alias.op;
  return 0;
}

const Alias* aliases() { return kAliases; }
int alias_count() { return static_cast<int>(sizeof(kAliases) / sizeof(Alias)); }

void install() {
  static const bool once = [] {
    install_op_table(infos(), kRows);
    install_interpreter(simd_interpreter());
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace tilewise::ops
