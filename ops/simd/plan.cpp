#include "ops/simd/plan.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "ops/op_table.h"
#include "ops/opcode.h"
#include "ops/simd/instruction_set.h"
#include "ops/simd/plan_pairs.h"
#include "ops/simd/plan_parts.h"
#include "runtime/base/error.h"
#include "runtime/launch.h"

namespace tilewise::ops::simd {

namespace {

constexpr int64_t kBlockBytes = 4096;
constexpr int64_t kMaxBlock = 4096;  // elements

class Planner {
 public:
  explicit Planner(const Program& program) : code_(program.code) { plan_.program = program; }

  Plan make() {
    plan_.parts = parts_by_axis(plan_.program);
    make_values();
    make_steps();
    if (plan_.supported) {
      note_uses();
      choose_block();
      assign_registers();
    }
    return std::move(plan_);
  }

 private:
  // The value that an operand names: loads of one access are one value.
  uint16_t canonical(uint16_t v) const { return stands_for_[v]; }

  void make_values() {
    const Program& p = plan_.program;
    plan_.values.resize(code_.size());
    stands_for_.resize(code_.size());
    std::vector<uint16_t> load_of(p.accesses.size(), kNone);
    for (uint16_t i = 0; i < code_.size(); ++i) {
      const Instr& instr = code_[i];
      Value& v = plan_.values[i];
      stands_for_[i] = i;
      v.type = p.type[i];
      v.itemsize = v.type == DType::kVoid ? 0 : itemsize(v.type);
      v.slot = instr.a;
      switch (instr.op) {
        case kParam: v.kind = ValueKind::kParam; break;
        case kIndex: v.kind = ValueKind::kIndex; break;
        case kStore: v.slot = instr.b; break;
        case kReduce:
          v.kind = ValueKind::kReduced;
          v.slot = instr.b;
          v.phase = plan_.values[canonical(instr.a)].phase + 1;
          break;
        case kLoad:
          v.kind = ValueKind::kLoad;
          v.itemsize = p.accesses[instr.a].itemsize;
          if (v.type == DType::kVoid) plan_.supported = false;
          if (load_of[instr.a] == kNone) load_of[instr.a] = i;
          else stands_for_[i] = load_of[instr.a];
          break;
        case kMerge: plan_.supported = false; break;
        default: v.kind = ValueKind::kComputed; break;
      }
      if (v.kind == ValueKind::kComputed)
        for (int k = 0; k < arity(instr); ++k)
          v.phase = std::max(v.phase, plan_.values[canonical(input(instr, k))].phase);
    }
  }

  // The phase in which an instruction runs.
  int phase_of(uint16_t i) const {
    const Instr& instr = code_[i];
    if (instr.op == kStore || instr.op == kReduce) return plan_.values[canonical(instr.a)].phase;
    return plan_.values[i].phase;
  }

  void make_steps() {
    int phases = 1;
    pairs_ = find_pairs(code_, [this](uint16_t i) { return phase_of(i); });
    for (uint16_t i = 0; i < code_.size(); ++i) phases = std::max(phases, phase_of(i) + 1);
    plan_.phase_begin.push_back(0);
    for (int phase = 0; phase < phases; ++phase) {
      std::vector<bool> loaded(code_.size());
      // What is stored as it was loaded is loaded before anything is written: the outputs may exchange two operands.
      for (uint16_t i = 0; i < code_.size(); ++i)
        if (code_[i].op == kStore && phase_of(i) == phase) require(canonical(code_[i].a), loaded);
      for (uint16_t i = 0; i < code_.size(); ++i) {
        if (code_[i].op == kLoad || code_[i].op == kIndex || code_[i].op == kParam || phase_of(i) != phase) continue;
        if (pairs_.inside[i]) continue;
        if (const uint16_t inner = pairs_.of[i].inner; inner != kNone) require_operands(inner, loaded);
        require_operands(i, loaded);
        add_step(i);
      }
      plan_.phase_begin.push_back(static_cast<int>(plan_.steps.size()));
    }
  }

  void require_operands(uint16_t i, std::vector<bool>& loaded) {
    for (int k = 0; k < arity(code_[i]); ++k) require(canonical(input(code_[i], k)), loaded);
  }

  // Loads are made again in each phase that uses them.
  void require(uint16_t v, std::vector<bool>& loaded) {
    const Value& value = plan_.values[v];
    if ((value.kind != ValueKind::kLoad && value.kind != ValueKind::kIndex) || loaded[v]) return;
    loaded[v] = true;
    Step step;
    step.kind = value.kind == ValueKind::kLoad ? StepKind::kLoad : StepKind::kIndex;
    step.value = v;
    step.slot = value.slot;
    step.dtype = value.type;
    plan_.steps.push_back(step);
  }

  void add_step(uint16_t i) {
    const Instr& instr = code_[i];
    Step step;
    step.value = step.flagged = i;
    step.dtype = instr.dtype;
    step.op = instr.op;
    step.arity = static_cast<uint8_t>(arity(instr));
    for (int k = 0; k < step.arity; ++k) step.in[k] = canonical(input(instr, k));
    if (instr.op == kStore) {
      step.kind = StepKind::kStore;
      step.slot = instr.b;
      step.dtype = plan_.program.accesses[instr.b].dtype;
    } else if (instr.op == kReduce) {
      step.kind = StepKind::kReduce;
      step.slot = instr.b;
      add_reduction(instr, static_cast<int>(plan_.steps.size()), step.in[0]);
    } else if (pairs_.of[i].inner != kNone) {
      add_pair(pairs_.of[i], step);
    } else if (instr.op == kCast) {
      step.kernel = find_cast(instr.dtype, static_cast<DType>(instr.c));
      step.fp = Hardware;
      plan_.cost += 1;
    } else {
      step.kernel = find_kernel(instr.op, instr.dtype);
      step.fp = fp_for(row(instr.op).fp, row(instr.op).ulp, instr.dtype);
      // The vector quotient's own comparisons are silent and its branches both taken: its flags are found afterwards.
      if (instr.op == op::divide && is_complex(instr.dtype)) step.fp = Invalid | Overflow | Tiny;
      plan_.cost += op_info(instr.op).cost;
    }
    if (step.kind == StepKind::kCompute) {
      TW_CHECK(step.kernel.fn, "no kernel for instruction ", i);
      plan_.quantum = std::max(plan_.quantum, step.kernel.quantum);
      plan_.computes = true;
    }
    plan_.steps.push_back(step);
  }

  void add_pair(const Pair& pair, Step& step) {
    const Instr& inner = code_[pair.inner];
    step.kernel = pair.kernel;
    step.fp = Hardware;
    if (pair.comparison) {
      step.in[0] = canonical(inner.a);
      step.flagged = pair.inner;
    } else {
      const uint16_t other = step.in[pair.second ? 0 : 1];
      step.arity = 3;
      step.in[0] = canonical(inner.a);
      step.in[1] = canonical(inner.op == op::square ? inner.a : inner.b);
      step.in[2] = other;
      step.inner = pair.inner;
      step.second = pair.second;
    }
    plan_.cost += 2;
  }

  void add_reduction(const Instr& instr, int step, uint16_t value) {
    const Reduction& r = plan_.program.reductions[instr.b];
    PlannedReduction planned;
    planned.step = step;
    planned.value = value;
    planned.dtype = instr.dtype;
    planned.state_bytes = state_bytes(r, instr.dtype);
    if (r.state == ReduceState::kPlain) {
      planned.lanes = find_lane_kernel(r.op, instr.dtype);
      planned.row = find_kernel(r.op, instr.dtype);
      planned.flagged = row(r.op).fp == Hardware;
      plan_.quantum = std::max(plan_.quantum, planned.row.quantum);
    } else if (r.state == ReduceState::kMoments) {
      planned.lanes = find_lane_kernel(op::add, instr.dtype);
      planned.moments = true;
      planned.lanes.join = nullptr;  // sums of a unit only; states join by Chan's formula
    }
    plan_.reductions.push_back(planned);
    plan_.cost += 1;
  }

  void note_uses() {
    for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
      const Step& step = plan_.steps[s];
      if (step.kind != StepKind::kStore && step.kind != StepKind::kReduce) {
        Value& v = plan_.values[step.value];
        if (v.defined < 0) v.defined = s;
        v.last_used = std::max(v.last_used, s);
      }
      for (int k = 0; k < step.arity; ++k) plan_.values[step.in[k]].last_used = s;
      if (step.kind == StepKind::kReduce) plan_.values[step.value].defined = s;
      if (step.kind == StepKind::kStore) {
        Value& v = plan_.values[step.in[0]];
        if (v.kind == ValueKind::kComputed && v.direct_store < 0) v.direct_store = static_cast<int16_t>(s);
      }
    }
  }

  void choose_block() {
    int widest = 1;
    for (const Value& v : plan_.values)
      plan_.splats += v.kind == ValueKind::kParam || v.kind == ValueKind::kLoad || v.kind == ValueKind::kIndex;
    for (const Value& v : plan_.values)
      if (v.kind != ValueKind::kNothing) widest = std::max(widest, v.itemsize);
    plan_.block = plan_.computes ? std::min(kMaxBlock, kBlockBytes / widest) : kMaxBlock;
  }

  int phase_of_step(int s) const {
    int phase = 0;
    while (plan_.phase_begin[phase + 1] <= s) ++phase;
    return phase;
  }

  // A linear scan: a register is free again after the last use of its value.
  void assign_registers() {
    std::vector<int> free_at;  // for each register, the step from which it is free
    for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
      const Step& step = plan_.steps[s];
      if (step.kind == StepKind::kStore || step.kind == StepKind::kReduce) continue;
      Value& v = plan_.values[step.value];
      if (v.reg >= 0) continue;
      const bool reloads = step.kind == StepKind::kLoad || step.kind == StepKind::kIndex;
      const bool crosses = phase_of_step(std::max(v.last_used, s)) != phase_of_step(s);
      // What is loaded stays until its last use even in a later phase: a row in one block is loaded once.
      const int until = v.last_used;
      size_t r = 0;
      if (crosses) {
        r = free_at.size();
      } else {
        while (r < free_at.size() && (free_at[r] > s || plan_.register_crosses[r])) ++r;
      }
      if (r == free_at.size()) {
        free_at.push_back(0);
        plan_.register_bytes.push_back(0);
        plan_.register_crosses.push_back(0);
      }
      if (crosses && !reloads) plan_.register_crosses[r] = 1;
      free_at[r] = crosses ? INT32_MAX : until + 1;
      plan_.register_bytes[r] = std::max(plan_.register_bytes[r], v.itemsize);
      v.reg = static_cast<int16_t>(r);
    }
  }

  const std::vector<Instr>& code_;
  std::vector<uint16_t> stands_for_;
  Pairs pairs_;
  Plan plan_;
};

}  // namespace

// Forms of one program, made when a launch first needs them.
class PlanForms {
 public:
  const Plan& get(const Program& program, uint64_t active) {
    const std::lock_guard lock(mutex_);
    auto& form = forms_[active];
    if (!form) {
      std::vector<uint16_t> number;
      const Program special = specialize(program, active, 0, &number);
      form = std::make_unique<Plan>(Planner(special).make());
      form->number = std::move(number);
    }
    return *form;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Plan>> forms_;
};

const Plan& form_of(const Plan& guarded, uint64_t active) { return guarded.forms->get(guarded.program, active); }

namespace {

Plan make_plan(const Program& program) {
  if (program.guard_count == 0) return Planner(program).make();
  const auto forms = std::make_shared<PlanForms>();
  Plan plan = forms->get(program, program.guard_count == 64 ? ~uint64_t{0} : (uint64_t{1} << program.guard_count) - 1);
  plan.program = program;
  plan.forms = forms;
  plan.supported = plan.supported && plan.parts.empty() && plan.phases() == 1;
  for (const Access& access : program.accesses) plan.supported = plan.supported && access.dtype != DType::kVoid;
  plan.parts.clear();
  return plan;
}

struct Cache {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<Plan>>> plans;
  int count = 0;
  std::vector<std::unique_ptr<Plan>> retired;  // no longer found; freed when the cache next overflows
};
constexpr int kMostPlans = 4096;
Cache& cache() {
  static Cache* c = new Cache;  // never destroyed: threads may run until the end
  return *c;
}
std::atomic<uint64_t> cache_age{0};

bool same_bytes(const void* a, const void* b, size_t n) { return n == 0 || std::memcmp(a, b, n) == 0; }

// Equality for the fast path: by bytes where types have no padding.
bool same_program(const Program& a, const Program& b) {
  return a.code.size() == b.code.size() && a.accesses.size() == b.accesses.size() && a.params.size() == b.params.size() &&
         same_bytes(a.code.data(), b.code.data(), a.code.size() * sizeof(Instr)) &&
         same_bytes(a.type.data(), b.type.data(), a.type.size()) &&
         same_bytes(a.params.data(), b.params.data(), a.params.size()) && a.accesses == b.accesses &&
         a.reductions == b.reductions && a.guard_count == b.guard_count && (a.guard_count == 0 || a.guard == b.guard);
}

// Launches may still run the plans: they go when as many again have been made.
void retire_all(Cache& c) {
  c.retired.clear();
  for (auto& [key, bucket] : c.plans)
    for (auto& plan : bucket) c.retired.push_back(std::move(plan));
  c.plans.clear();
  c.count = 0;
  ++cache_age;
}

const Plan& find_or_make(const Program& program) {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  auto& bucket = c.plans[program.key()];
  for (const auto& plan : bucket)
    if (plan->program == program) return *plan;
  auto plan = std::make_unique<Plan>(make_plan(program));
  if (++c.count > kMostPlans) {
    retire_all(c);
    auto& fresh = c.plans[program.key()];
    fresh.push_back(std::move(plan));
    return *fresh.back();
  }
  bucket.push_back(std::move(plan));
  return *bucket.back();
}

}  // namespace

const Plan& plan_for(const Program& program) {
  struct Recent {
    const Program* program = nullptr;
    const Plan* plan = nullptr;
    uint64_t age = 0;
  };
  thread_local std::array<Recent, 64> recent;
  Recent& slot = recent[reinterpret_cast<uintptr_t>(&program) / 64 % recent.size()];
  const uint64_t age = cache_age.load(std::memory_order_relaxed);
  if (slot.program != &program || slot.age != age || !same_program(slot.plan->program, program))
    slot = {&program, &find_or_make(program), age};
  return *slot.plan;
}

void disable_targets(int64_t mask) {
  set_disabled_targets(mask);
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  retire_all(c);
}

}  // namespace tilewise::ops::simd
