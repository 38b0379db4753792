#include "runtime/program.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/launch.h"

namespace tilewise {

namespace {

const OpInfo* op_table = nullptr;
int op_table_count = 0;
Interpreter installed;

}  // namespace

void install_op_table(const OpInfo* rows, int count) {
  TW_CHECK(count <= 256 - kFirstRow, "too many rows: ", count);
  op_table = rows;
  op_table_count = count;
}

const OpInfo& op_info(Opcode op) {
  TW_CHECK(op >= kFirstRow && op - kFirstRow < op_table_count, "no row has opcode ", static_cast<int>(op));
  return op_table[op - kFirstRow];
}

int op_count() { return op_table_count; }

void install_interpreter(const Interpreter& interpreter) { installed = interpreter; }

const Interpreter& interpreter() {
  TW_CHECK(installed.run, "no interpreter is installed");
  return installed;
}

int64_t arg_index_offset(DType dtype) { return std::max(8, itemsize(dtype)); }

int64_t state_bytes(const Reduction& reduction, DType dtype) {
  switch (reduction.state) {
    case ReduceState::kArgMin:
    case ReduceState::kArgMax: return arg_index_offset(dtype) + 8;
    case ReduceState::kMoments: return itemsize(dtype) + itemsize(real_of(dtype));
    case ReduceState::kPlain: break;
  }
  return itemsize(dtype);
}

DType reduced_type(const Reduction& reduction, DType dtype) {
  switch (reduction.state) {
    case ReduceState::kArgMin:
    case ReduceState::kArgMax: return DType::kInt64;
    case ReduceState::kMoments: return real_of(dtype);
    case ReduceState::kPlain: break;
  }
  return dtype;
}

uint16_t Program::push(Instr instr, DType result, uint8_t guarded) {
  TW_CHECK(code.size() < kNone, "the program is too long");
  code.push_back(instr);
  type.push_back(result);
  guard.push_back(guarded);
  return static_cast<uint16_t>(code.size() - 1);
}

uint64_t Program::key() const {
  uint64_t h = hash_bytes(code.data(), code.size() * sizeof(Instr));
  h = hash_bytes(type.data(), type.size(), h);
  h = hash_bytes(guard.data(), guard.size(), h);
  for (const Access& a : accesses)
    h = mix(h, static_cast<uint64_t>(a.itemsize) << 16 | static_cast<uint64_t>(a.dtype) << 8 | a.write);
  h = hash_bytes(params.data(), params.size(), h);
  for (const Reduction& r : reductions)
    h = mix(mix(h, r.axes), static_cast<uint64_t>(r.state) << 8 | r.op);
  return mix(h, static_cast<uint64_t>(guard_count));
}

bool Program::operator==(const Program& other) const {
  const auto same_instr = [](const Instr& x, const Instr& y) {
    return x.op == y.op && x.dtype == y.dtype && x.a == y.a && x.b == y.b && x.c == y.c;
  };
  return guard_count == other.guard_count && type == other.type && guard == other.guard &&
         accesses == other.accesses && params == other.params && reductions == other.reductions &&
         std::equal(code.begin(), code.end(), other.code.begin(), other.code.end(), same_instr);
}

namespace {

// How many of a, b, c are numbers of values.
int value_operands(const Instr& instr) {
  switch (instr.op) {
    case kLoad:
    case kParam:
    case kIndex: return 0;
    case kCast:
    case kStore:
    case kReduce: return 1;
    case kMerge: return 2;
    default: return op_info(instr.op).arity;
  }
}

uint16_t& operand(Instr& instr, int k) { return k == 0 ? instr.a : k == 1 ? instr.b : instr.c; }
uint16_t operand(const Instr& instr, int k) { return k == 0 ? instr.a : k == 1 ? instr.b : instr.c; }

}  // namespace

Program specialize(const Program& program, uint64_t active, uint64_t partly, std::vector<uint16_t>* numbers) {
  const int n = static_cast<int>(program.code.size());
  const auto in = [](uint64_t set, int guard) { return guard > 0 && (set >> (guard - 1) & 1); };
  const auto holds = [&](int guard) { return guard == 0 || in(active, guard) || in(partly, guard); };

  // A merge whose guard is settled is one of its sides; such names are followed to what they stand for.
  std::vector<uint16_t> stands_for(n);
  for (int i = 0; i < n; ++i) {
    const Instr& instr = program.code[i];
    stands_for[i] = static_cast<uint16_t>(i);
    if (instr.op == kMerge && !in(partly, instr.c + 1)) stands_for[i] = stands_for[holds(instr.c + 1) ? instr.a : instr.b];
  }

  std::vector<char> live(n, 0);
  for (int i = n - 1; i >= 0; --i) {
    const Instr& instr = program.code[i];
    const bool root = instr.op == kStore || instr.op == kReduce;
    if (root && holds(program.guard[i])) live[i] = 1;
    if (!live[i]) continue;
    TW_CHECK(holds(program.guard[i]), "value ", i, " is used outside its guard");
    for (int k = 0; k < value_operands(instr); ++k) live[stands_for[operand(instr, k)]] = 1;
  }

  Program result;
  result.accesses = program.accesses;
  result.params = program.params;
  result.reductions = program.reductions;
  result.guard_count = partly ? program.guard_count : 0;
  std::vector<uint16_t> number(n, kNone);
  if (numbers) numbers->clear();
  for (int i = 0; i < n; ++i) {
    if (!live[i]) continue;
    Instr instr = program.code[i];
    for (int k = 0; k < value_operands(instr); ++k) operand(instr, k) = number[stands_for[operand(instr, k)]];
    const uint8_t guard = program.guard[i];
    number[i] = result.push(instr, program.type[i], in(partly, guard) ? guard : 0);
    if (numbers) numbers->push_back(static_cast<uint16_t>(i));
  }
  return result;
}

namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program) {}

  void run() {
    TW_CHECK(p_.type.size() == p_.code.size() && p_.guard.size() == p_.code.size(), "one type and guard a value");
    TW_CHECK(p_.guard_count >= 0 && p_.guard_count <= 64, p_.guard_count, " guards");
    reduced_.assign(p_.reductions.size(), false);
    for (i_ = 0; i_ < static_cast<int>(p_.code.size()); ++i_) check(p_.code[i_], p_.type[i_]);
  }

 private:
  void check(const Instr& instr, DType result) {
    need(p_.guard[i_] <= p_.guard_count, "its guard does not exist");
    switch (instr.op) {
      case kLoad:
        need(instr.a < p_.accesses.size(), "its access does not exist");
        need(!p_.accesses[instr.a].write, "it loads from an output");
        need(result == p_.accesses[instr.a].dtype, "its type is not its access's");
        return;
      case kParam:
        need(instr.a < p_.params.size(), "its parameter does not exist");
        need(result == p_.params[instr.a], "its type is not its parameter's");
        return;
      case kIndex: return need(result == DType::kInt64, "an index is int64");
      case kCast:
        value(instr.a, instr.dtype);
        need(instr.dtype != DType::kVoid && result != DType::kVoid, "void cannot be cast");
        return need(result == static_cast<DType>(instr.c), "its type is not the target's");
      case kStore: return check_store(instr, result);
      case kReduce: return check_reduce(instr, result);
      case kMerge:
        value(instr.a, result);
        value(instr.b, result);
        return need(instr.c < p_.guard_count, "its guard does not exist");
      default: return check_row(instr, result);
    }
  }

  void check_store(const Instr& instr, DType result) {
    need(instr.b < p_.accesses.size(), "its access does not exist");
    need(p_.accesses[instr.b].write, "it stores to an input");
    value(instr.a, p_.accesses[instr.b].dtype);
    need(result == p_.accesses[instr.b].dtype, "its type is not its access's");
  }

  void check_reduce(const Instr& instr, DType result) {
    need(instr.b < p_.reductions.size(), "its reduction does not exist");
    need(!reduced_[instr.b], "its reduction has an instruction already");
    reduced_[instr.b] = true;
    value(instr.a, instr.dtype);
    const Reduction& r = p_.reductions[instr.b];
    need(r.axes != 0, "it reduces no axis");
    need(result == reduced_type(r, instr.dtype), "its type is not the reduced value's");
    if (r.state == ReduceState::kPlain) {
      need(r.op >= kFirstRow && r.op - kFirstRow < op_count(), "its operation does not exist");
      const OpInfo& info = op_info(r.op);
      need(info.reducible && info.has_loop(instr.dtype) && info.result_type(instr.dtype) == instr.dtype,
           str(info.name, " does not reduce ", name(instr.dtype)));
    } else if (r.state == ReduceState::kMoments) {
      need(itemsize(real_of(instr.dtype)) >= 4 && (is_float(instr.dtype) || is_complex(instr.dtype)),
           "moments need float32 or wider");
    }
  }

  void check_row(const Instr& instr, DType result) {
    need(instr.op >= kFirstRow && instr.op - kFirstRow < op_count(), "no row has its opcode");
    const OpInfo& info = op_info(instr.op);
    need(instr.dtype != DType::kVoid && info.has_loop(instr.dtype), str(info.name, " has no loop for ", name(instr.dtype)));
    for (int k = 0; k < 3; ++k) {
      if (k < info.arity) value(operand(instr, k), info.operand_type(k, instr.dtype));
      else need(operand(instr, k) == kNone, "it has too many operands");
    }
    need(result == info.result_type(instr.dtype), "its type is not the row's result");
  }

  void value(uint16_t v, DType type) {
    need(v < i_, "an operand is not defined before it");
    need(p_.code[v].op != kStore, "a store defines no value");
    need(p_.type[v] == type, str("operand %", v, " is ", name(p_.type[v]), ", not ", name(type)));
  }

  void need(bool condition, std::string_view rule) {
    if (!condition) throw Error(ErrorKind::kInternal, str("instruction ", i_, " of a program: ", rule));
  }

  const Program& p_;
  std::vector<bool> reduced_;
  int i_ = 0;
};


std::string reduction_text(const Reduction& r) {
  std::string text;
  switch (r.state) {
    case ReduceState::kPlain: text = op_info(r.op).name; break;
    case ReduceState::kArgMin: text = "argmin"; break;
    case ReduceState::kArgMax: text = "argmax"; break;
    case ReduceState::kMoments: text = "moments"; break;
  }
  text += " over axes";
  for (int k = 0; k < 64; ++k)
    if (r.axes >> k & 1) text += str(" ", k);
  return text;
}

std::string instr_text(const Program& p, int i) {
  const Instr& in = p.code[i];
  const std::string result = str("%", i, " = ");
  const std::string type = str(" : ", name(p.type[i]));
  switch (in.op) {
    case kLoad: return str(result, "load a", in.a, type);
    case kParam: return str(result, "param p", in.a, type);
    case kIndex: return str(result, "index ", in.a, type);
    case kCast: return str(result, "cast %", in.a, " ", name(in.dtype), " -> ", name(p.type[i]));
    case kStore: return str("store %", in.a, " -> a", in.b);
    case kReduce: return str(result, "reduce r", in.b, " %", in.a, type);
    case kMerge: return str(result, "merge g", in.c, " ? %", in.a, " : %", in.b, type);
    default: break;
  }
  std::string text = result + std::string(op_info(in.op).name);
  for (int k = 0; k < value_operands(in); ++k) text += str(" %", operand(in, k));
  if (in.dtype != p.type[i]) text += str(" : ", name(in.dtype), " -> ", name(p.type[i]));
  else text += type;
  return text;
}

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

std::string print(const Program& program) {
  std::string text;
  for (size_t a = 0; a < program.accesses.size(); ++a) {
    const Access& access = program.accesses[a];
    text += str("a", a, " ", access.write ? "out " : "in ", name(access.dtype));
    if (access.dtype == DType::kVoid) text += str(access.itemsize);
    text += "\n";
  }
  for (size_t r = 0; r < program.reductions.size(); ++r)
    text += str("r", r, " ", reduction_text(program.reductions[r]), "\n");
  for (size_t i = 0; i < program.code.size(); ++i) {
    if (program.guard[i]) text += str("[g", program.guard[i] - 1, "] ");
    text += instr_text(program, static_cast<int>(i)) + "\n";
  }
  return text;
}

}  // namespace tilewise
