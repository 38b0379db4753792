#include "ops/simd/runner.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "ops/simd/block_copy.h"
#include "ops/simd/fp_check.h"
#include "ops/simd/fp_status.h"
#include "ops/simd/moment_status.h"

namespace tilewise::ops::simd {

namespace {

constexpr int64_t kWorthPrefetch = 256;  // elements
constexpr float kHardWork = 1.5f;        // additions for each array, from which kernels let memory idle
constexpr int64_t kStagger = 192;  // bytes between registers, so that they do not share cache sets

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

}  // namespace

Runner::Runner(const Geometry& geometry, const Plan& plan, Arena& arena, int64_t crossing, Sink* sink)
    : g_(geometry), plan_(plan), launch_(*geometry.launch), arena_(arena), sink_(sink) {
  accesses_ = static_cast<uint16_t>(plan_.program.accesses.size());
  crossing_ = std::max(crossing, g_.block);
  moving_ = plan_.phases() > 1 && !g_.batched;  // even one block has parts
  const int registers = static_cast<int>(plan_.register_bytes.size());
  const int values = static_cast<int>(plan_.values.size());
  const int steps = static_cast<int>(plan_.steps.size());
  registers_ = arena.array<char*>(registers);
  int64_t bytes = 0;
  for (int r = 0; r < registers; ++r) bytes += register_size(r);
  char* at = arena.bytes(bytes);
  for (int r = 0; r < registers; ++r) {
    registers_[r] = at;
    at += register_size(r);
  }
  // Eight-byte items first, so that all are aligned.
  at = arena.bytes(static_cast<int64_t>(steps * (sizeof(Bound) + 4 * sizeof(Patch)) + values * (sizeof(char*) + 5) +
                                        accesses_ * (4 * sizeof(char*) + 4) + registers * sizeof(char*) + 64));
  const auto carve = [&at]<class T>(T*& field, int count) {
    field = reinterpret_cast<T*>(at);
    at += count * static_cast<int64_t>(sizeof(T));
  };
  carve(bound_, steps);
  carve(patches_, steps * 4);
  carve(fixed_, values);
  carve(cursors_, accesses_ + registers);
  carve(row_base_, accesses_);
  carve(splat_of_, accesses_);
  carve(homes_, values);
  carve(travellers_, values);
  carve(fetchers_, accesses_);
  carve(scalar_, values);
  carve(forced_, accesses_);
  carve(leads_, accesses_);
  splats_ = arena.bytes(plan_.splats * kVectorBytes);
  std::fill_n(forced_, accesses_, false);
  std::fill_n(splat_of_, accesses_, nullptr);
  for (int a = 0; a < accesses_; ++a) row_base_[a] = g_.access[a].base;
  bind_values();
  find_conflicts();
  for (int s = 0; s < steps; ++s) bind_step(s);
  for (int i = 0; i < values; ++i)
    if (homes_[i] != kFixed) travellers_[travels_++] = static_cast<uint16_t>(i);
  repeats_ = may_repeat();
  works_hard_ = plan_.cost > kHardWork * static_cast<float>(accesses_);
  find_leaders();
  choose_fetchers();
}

int64_t Runner::register_size(int r) const {
  const int64_t elements = plan_.register_crosses[r] ? crossing_ : g_.block;
  return round_up((elements + kMaxQuantum) * plan_.register_bytes[r], 64) + kStagger;
}

// A value that is one element for all of a block: room for a vector of it.
char* Runner::splat() {
  char* p = splats_;
  splats_ += kVectorBytes;
  return p;
}

void Runner::bind_values() {
  for (size_t i = 0; i < plan_.values.size(); ++i) {
    const Value& v = plan_.values[i];
    homes_[i] = kFixed;
    scalar_[i] = false;
    fixed_[i] = v.reg >= 0 ? registers_[v.reg] : nullptr;
    switch (v.kind) {
      case ValueKind::kNothing: break;
      case ValueKind::kParam:
        scalar_[i] = true;
        fixed_[i] = splat();
        fill(fixed_[i], reinterpret_cast<const char*>(launch_.params[v.slot].bytes), kVectorBytes / v.itemsize, v.itemsize);
        break;
      case ValueKind::kLoad: {
        const Mode mode = g_.access[v.slot].mode;
        scalar_[i] = mode == Mode::kScalar;
        if (mode == Mode::kDirect) homes_[i] = v.slot;
        // What is read once for many blocks must not share a register.
        if (mode == Mode::kScalar) fixed_[i] = splat();
        row_scalars_ = row_scalars_ || mode == Mode::kScalar;
        if (mode == Mode::kStatic) fixed_[i] = arena_.bytes((g_.block + kMaxQuantum) * v.itemsize);
        break;
      }
      case ValueKind::kIndex:
        scalar_[i] = v.slot != g_.last && !g_.batched;
        if (scalar_[i]) fixed_[i] = splat();
        row_scalars_ = row_scalars_ || scalar_[i];
        break;
      case ValueKind::kReduced:
        scalar_[i] = !g_.batched;
        fixed_[i] = arena_.bytes((g_.batched ? g_.block + kMaxQuantum : kMaxQuantum) * v.itemsize);
        break;
      case ValueKind::kComputed:
        if (v.defined < 0) break;
        const Step& step = plan_.steps[v.defined];
        scalar_[i] = true;
        for (int k = 0; k < step.arity; ++k) scalar_[i] = scalar_[i] && scalar_[step.in[k]];
        if (scalar_[i]) break;
        if (moving_ && plan_.register_crosses[v.reg]) homes_[i] = static_cast<uint16_t>(accesses_ + v.reg);
        if (v.direct_store >= 0 && !(launch_.fp_flags && step.fp > Hardware)) {
          const uint16_t a = plan_.steps[v.direct_store].slot;
          if (g_.access[a].mode == Mode::kDirect && plan_.program.accesses[a].dtype == v.type) homes_[i] = a;
        }
        break;
    }
  }
}

// An output that lies on an operand's very elements must not be written while the operand is still wanted: the operand
// is copied then.
void Runner::find_conflicts() {
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    if (step.kind != StepKind::kStore) continue;
    const uint16_t stored = step.in[0];
    const Value& result = plan_.values[stored];
    const auto lies_there = [&](const Value& v) {
      return v.kind == ValueKind::kLoad && g_.access[v.slot].base == g_.access[step.slot].base;
    };
    // Computed in place too early: an operand that lies there is loaded later.
    const bool early = homes_[stored] == step.slot && std::any_of(plan_.values.begin(), plan_.values.end(), [&](const Value& v) {
      return lies_there(v) && v.defined > result.defined;
    });
    // A pair's operands are wanted once more where it raises a flag (attribute_flags).
    const bool asked = homes_[stored] == step.slot && launch_.fp_flags && plan_.steps[result.defined].inner != kNone &&
                       std::any_of(plan_.steps[result.defined].in, plan_.steps[result.defined].in + 3,
                                   [&](uint16_t in) { return lies_there(plan_.values[in]); });
    if (early || asked)
      homes_[stored] = moving_ && plan_.register_crosses[result.reg] ? static_cast<uint16_t>(accesses_ + result.reg) : kFixed;
    const bool direct = homes_[stored] == step.slot;
    const int written = direct ? result.defined : static_cast<int>(s);
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const Value& v = plan_.values[i];
      if (!lies_there(v) || v.last_used <= written || v.defined > written || homes_[i] != v.slot) continue;
      forced_[v.slot] = true;
      homes_[i] = kFixed;
    }
  }
}

bool Runner::may_repeat() const {
  if (moving_ || g_.batched) return false;
  for (const Step& store : plan_.steps) {
    if (store.kind != StepKind::kStore) continue;
    for (const Step& load : plan_.steps)
      if (load.kind == StepKind::kLoad && g_.access[load.slot].base == g_.access[store.slot].base) return false;
  }
  return true;
}

// Of several views of one array, a little apart as in a stencil, the one that is ahead brings the elements for all.
void Runner::find_leaders() {
  constexpr int64_t kNear = 128 << 10;
  std::fill_n(leads_, accesses_, true);
  const auto follows = [&](int a, int b) {
    for (int k = 0; k <= g_.last; ++k)
      if (g_.stride(a, k) != g_.stride(b, k)) return false;
    const int64_t ahead = g_.access[b].base - g_.access[a].base;
    return g_.access[a].inner > 0 && (ahead > 0 || (ahead == 0 && b > a)) && ahead < kNear;
  };
  for (int m = 0; m < travels_; ++m) {
    const uint16_t a = homes_[travellers_[m]];
    if (a >= accesses_ || plan_.program.accesses[a].write) continue;
    for (int o = 0; o < travels_; ++o) {
      const uint16_t b = homes_[travellers_[o]];
      if (b < accesses_ && b != a && !plan_.program.accesses[b].write && follows(a, b)) leads_[a] = false;
    }
  }
}

void Runner::bind_operand(Call& call, int k, uint16_t value) {
  call.step[k] = scalar_[value] ? 0 : 1;
  if (homes_[value] == kFixed) call.in[k] = fixed_[value];
  else patches_[patch_count_++] = {&call.in[k], homes_[value]};
}

void Runner::bind_step(int s) {
  const Step& step = plan_.steps[s];
  Bound& bound = *new (&bound_[s]) Bound;
  bound.call.fn = step.kernel.fn;
  bound.call.extra = step.kernel.extra;
  if (launch_.fp_flags && step.kernel.reports) bound.call.flags = &bound.seen;
  switch (step.kind) {
    case StepKind::kCompute:
      for (int k = 0; k < step.arity; ++k) bind_operand(bound.call, k, step.in[k]);
      if (scalar_[step.value]) {
        const int64_t fills = kVectorBytes / plan_.values[step.value].itemsize;
        bound.scalar_count = std::max<int64_t>(step.kernel.quantum, fills);
      }
      if (homes_[step.value] == kFixed) bound.call.out = fixed_[step.value];
      else patches_[patch_count_++] = {const_cast<const char**>(&bound.call.out), homes_[step.value]};
      break;
    case StepKind::kLoad:
      bound.direct = homes_[step.value] == step.slot || g_.access[step.slot].mode == Mode::kScalar;
      break;
    case StepKind::kIndex: bound.direct = scalar_[step.value]; break;
    case StepKind::kStore: bound.direct = homes_[step.in[0]] == step.slot; break;
    case StepKind::kReduce: break;
  }
}

const char* Runner::value_pointer(uint16_t value) const {
  return homes_[value] == kFixed ? fixed_[value] : cursors_[homes_[value]];
}

void Runner::start_row(int64_t row) {
  if (!g_.batched && g_.rows > 1)
    for (int a = 0; a < accesses_; ++a) row_base_[a] = g_.access[a].base + g_.row_offset(a, row);
  if (!row_scalars_) return;
  for (const Step& step : plan_.steps) {
    if (step.kind == StepKind::kLoad && g_.access[step.slot].mode == Mode::kScalar && splat_of_[step.slot] != row_base_[step.slot]) {
      splat_of_[step.slot] = row_base_[step.slot];
      const int size = g_.access[step.slot].itemsize;
      fill(fixed_[step.value], row_base_[step.slot], kVectorBytes / size, size);
    } else if (step.kind == StepKind::kIndex && scalar_[step.value]) {
      load_index(step, {row, 1, 0, kVectorBytes / 8}, kVectorBytes / 8);
    }
  }
}

void Runner::run(int phase, const Block& block, int64_t offset) {
  const int64_t unit = std::max<int64_t>(plan_.quantum, split_);
  const int64_t rest = block.count % unit;
  // Registers are padded to whole vectors, arrays are not: the rest is computed on copies, and where the block is
  // short or the program long, all of it.
  const int64_t copies = static_cast<int64_t>(plan_.program.accesses.size()) * block.count;
  const int64_t twice = plan_.phase_begin[phase + 1] - plan_.phase_begin[phase];
  if (block.count % plan_.quantum == 0 && (rest == 0 || rest == block.count || g_.batched)) {
    run_part(phase, block, offset, false);
  } else if (repeats_ && block.count > plan_.quantum && (plan_.reductions.empty() || !sink_counts_)) {
    // The last vector overlaps the one before.
    Block part = block;
    part.count = block.count / plan_.quantum * plan_.quantum;
    run_part(phase, part, offset, false);
    part.column += block.count - plan_.quantum;
    part.count = plan_.quantum;
    run_part(phase, part, offset, false);
  } else if (g_.batched || block.count < unit || (split_ == 1 && copies < 128 * twice)) {
    run_part(phase, block, offset, true);
  } else {
    Block part = block;
    part.count = block.count - rest;
    run_part(phase, part, offset, false);
    part.column += part.count;
    part.count = rest;
    run_part(phase, part, offset + block.count - rest, rest % plan_.quantum != 0);
  }
}

void Runner::move_cursors(const Block& block, int64_t offset, bool gathered) {
  for (int m = 0; m < travels_; ++m) {
    const Value& v = plan_.values[travellers_[m]];
    const uint16_t home = homes_[travellers_[m]];
    const bool crosses = moving_ && v.reg >= 0 && plan_.register_crosses[v.reg];
    if (home >= accesses_ || gathered) {
      cursors_[home] = registers_[v.reg] + (crosses ? offset * v.itemsize : 0);
    } else {
      const AccessPlace& p = g_.access[home];
      cursors_[home] = g_.batched ? p.base + block.row * g_.n * p.itemsize : row_base_[home] + block.column * p.itemsize;
    }
  }
  for (int i = 0; i < patch_count_; ++i) *patches_[i].field = cursors_[patches_[i].place];
}

// Slow kernels have time to fetch an array's next block meanwhile, one each. Where phases are whole rows, in any phase.
void Runner::choose_fetchers() {
  std::fill_n(fetchers_, accesses_, kNone);
  for (int m = 0; m < travels_; ++m) {
    const uint16_t a = homes_[travellers_[m]];
    if (a >= accesses_ || !leads_[a] || fetchers_[a] != kNone) continue;
    const int phase = wanted_in(plan_.values[travellers_[m]]);
    for (uint16_t s = 0; s < plan_.steps.size() && fetchers_[a] == kNone; ++s) {
      const Step& step = plan_.steps[s];
      if (step.kind != StepKind::kCompute || !step.kernel.fetches || scalar_[step.value]) continue;
      const Value& made = plan_.values[step.value];
      if (made.itemsize != g_.access[a].itemsize || (made.phase != phase && !g_.one_block_rows)) continue;
      if (std::find(fetchers_, fetchers_ + accesses_, s) == fetchers_ + accesses_) fetchers_[a] = s;
    }
  }
}

// The phase before whose blocks an array's next block is asked for. What was read in an earlier phase is near.
int Runner::wanted_in(const Value& v) const { return v.kind == ValueKind::kLoad ? 0 : v.phase; }

// Asks for the operands of the next block: kernels work in the first-level cache, so that memory would idle meanwhile. Where
// they do little, the processor's own prefetching keeps up, and to ask costs a stencil a fifth of its time.
void Runner::prefetch(int phase, const Block& block) {
  constexpr int64_t kLine = 64;
  for (int m = 0; m < travels_; ++m) {
    const uint16_t a = homes_[travellers_[m]];
    if (a >= accesses_ || !leads_[a]) continue;
    const Value& v = plan_.values[travellers_[m]];
    if (wanted_in(v) != phase) continue;
    const int64_t bytes = block.count * v.itemsize;
    const char* next = cursors_[a] + (walk_axis_ < 0 ? bytes : g_.stride(a, walk_axis_));
    if (fetchers_[a] != kNone) bound_[fetchers_[a]].call.ahead = next;
    else for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(next + at, 0, 2);
  }
}

void Runner::run_part(int phase, const Block& block, int64_t offset, bool gathered) {
  const int64_t padded = round_up(block.count, plan_.quantum);
  move_cursors(block, offset, gathered);
  if (works_hard_ && !gathered && block.count >= kWorthPrefetch) prefetch(phase, block);
  if (launch_.fp_flags) take_fp_status(launch_.fp_watch);
  for (int s = plan_.phase_begin[phase]; s < plan_.phase_begin[phase + 1]; ++s) run_step(s, block, padded, gathered);
}

void Runner::run_step(int s, const Block& block, int64_t padded, bool gathered) {
  const Step& step = plan_.steps[s];
  Bound& bound = bound_[s];
  switch (step.kind) {
    case StepKind::kCompute:
      if (step.kernel.careful) run_watching(step, bound, bound.scalar_count ? bound.scalar_count : padded);
      else bound.call.fn(bound.call, bound.scalar_count ? bound.scalar_count : padded);
      if (launch_.fp_flags) collect_flags(step, bound, block.count);
      break;
    case StepKind::kLoad:
      if (!bound.direct || (gathered && homes_[step.value] == step.slot)) load(step, block, padded);
      break;
    case StepKind::kIndex:
      if (!bound.direct) load_index(step, block, padded);
      break;
    case StepKind::kStore:
      if (!bound.direct || gathered) store(step, block);
      break;
    case StepKind::kReduce: {
      const uint16_t v = step.in[0];
      sink_->take(step.slot, value_pointer(v), scalar_[v], block);
      break;
    }
  }
}

// A block with subnormal numbers lets the next be computed carefully, one without them lets it be computed plainly.
void Runner::run_watching(const Step& step, Bound& bound, int64_t count) {
  forget_subnormals();
  bound.call.fn(bound.call, count);
  bound.call.fn = met_subnormals() ? step.kernel.careful : step.kernel.fn;
}

void Runner::load(const Step& step, const Block& block, int64_t padded) {
  const AccessPlace& p = g_.access[step.slot];
  char* reg = const_cast<char*>(homes_[step.value] == kFixed ? fixed_[step.value] : cursors_[homes_[step.value]]);
  if (p.mode == Mode::kStatic) {
    if (splat_of_[step.slot]) return;
    splat_of_[step.slot] = p.base;
    const int64_t rows = g_.rows_per_block;
    for (int64_t r = 0; r < rows; ++r) gather(reg + r * g_.n * p.itemsize, p.base, p.inner, g_.n, p.itemsize);
    pad(reg, rows * g_.n, rows * g_.n + kMaxQuantum, p.itemsize);
    return;
  }
  move_rows(reg, step.slot, block, false);
  pad(reg, block.count, padded, p.itemsize);
}

void Runner::load_index(const Step& step, const Block& block, int64_t padded) {
  char* reg = fixed_[step.value];
  const int axis = step.slot;
  if (!g_.batched && axis == g_.last) {
    iota(reg, g_.origin[axis] + block.column, block.count);
  } else {
    int64_t inner = 1;  // rows that share a coordinate
    for (int k = axis + 1; k < g_.last; ++k) inner *= g_.extents[k];
    const int64_t length = g_.batched ? g_.n : block.count;
    for (int64_t r = 0; r < block.rows; ++r, reg += length * 8) {
      const int64_t start = g_.origin[axis] + (axis == g_.last ? 0 : (block.row + r) / inner % g_.extents[axis]);
      if (axis == g_.last) iota(reg, start, length);
      else fill(reg, reinterpret_cast<const char*>(&start), length, 8);
    }
  }
  pad(fixed_[step.value], block.count, padded, 8);
}

void Runner::store(const Step& step, const Block& block) {
  const uint16_t v = step.in[0];
  const int size = g_.access[step.slot].itemsize;
  const char* values = value_pointer(v);
  if (scalar_[v]) {
    if (!spread_) spread_ = arena_.bytes(g_.block * 16);
    fill(spread_, values, block.count, size);
    values = spread_;
  }
  move_rows(const_cast<char*>(values), step.slot, block, true);
}

void Runner::move_rows(char* reg, int a, const Block& block, bool out) {
  const AccessPlace& p = g_.access[a];
  const auto move = [&](char* array, int64_t stride, int64_t count, char* at) {
    if (out) scatter(array, stride, at, count, p.itemsize);
    else gather(at, array, stride, count, p.itemsize);
  };
  if (!g_.batched) return move(const_cast<char*>(row_base_[a]) + block.column * p.inner, p.inner, block.count, reg);
  if (p.mode == Mode::kDirect) return move(p.base + block.row * g_.n * p.itemsize, p.itemsize, block.count, reg);
  char* array = p.base + g_.row_offset(a, block.row);
  const int64_t extent = g_.extents[g_.last - 1], step = g_.stride(a, g_.last - 1);
  int64_t at = block.row % extent;
  for (int64_t r = 0; r < block.rows; ++r) {
    move(array, p.inner, g_.n, reg + r * g_.n * p.itemsize);
    array += step;
    if (++at == extent && r + 1 < block.rows) {
      at = 0;
      array = p.base + g_.row_offset(a, block.row + r + 1);
    }
  }
}

void Runner::set_reduced(uint16_t value, const char* states, int64_t stride, const Block& block) {
  const Value& v = plan_.values[value];
  char* reg = fixed_[value];
  if (!g_.batched) return fill(reg, states, kVectorBytes / v.itemsize, v.itemsize);
  for (int64_t r = 0; r < block.rows; ++r) fill(reg + r * g_.n * v.itemsize, states + r * stride, g_.n, v.itemsize);
  pad(reg, block.rows * g_.n, round_up(block.rows * g_.n, plan_.quantum), v.itemsize);
}

namespace {

void note_flags(const Launch& launch, const Plan& plan, uint16_t instruction, uint8_t seen, int part = 0) {
  if (!seen || part >= launch.fp_parts) return;
  if (!plan.number.empty()) instruction = plan.number[instruction];
  std::atomic_ref<uint8_t> flags(launch.fp_flags[part * launch.program->code.size() + instruction]);
  if ((flags.load(std::memory_order_relaxed) | seen) != flags.load(std::memory_order_relaxed))
    flags.fetch_or(seen, std::memory_order_relaxed);
}

}  // namespace

void note_reduced_flags(const Launch& launch, const Plan& plan, const PlannedReduction& reduction) {
  if (!launch.fp_flags) return;
  const uint16_t instruction = plan.steps[reduction.step].value;
  if (reduction.moments) {  // they have taken the flags themselves
    MomentStatus& met = MomentStatus::of_thread();
    for (int part = 0; part < kMomentParts; ++part)
      note_flags(launch, plan, instruction, std::exchange(met.seen[part], 0), part);
    return;
  }
  const uint8_t seen = take_fp_status(launch.fp_watch);
  if (reduction.flagged) note_flags(launch, plan, instruction, seen);
}

// Which of a pair's operations raised a flag: they run once more, one by one.
void Runner::attribute_flags(const Step& step, const Bound& bound, int64_t count) {
  const Instr& inner = plan_.program.code[step.inner];
  if (!between_) between_ = arena_.bytes(round_up(g_.block, kMaxQuantum) * plan_.values[step.value].itemsize);
  Call call = bound.call;
  call.out = between_;
  find_kernel(inner.op, inner.dtype).fn(call, count);
  note_flags(launch_, plan_, step.inner, take_fp_status());
  const int k = step.second ? 1 : 0;
  call.in[1 - k] = bound.call.in[2];
  call.step[1 - k] = bound.call.step[2];
  call.in[k] = between_;
  call.step[k] = 1;
  find_kernel(step.op, step.dtype).fn(call, count);
  note_flags(launch_, plan_, step.value, take_fp_status());
}

void Runner::collect_flags(const Step& step, Bound& bound, int64_t count) {
  uint8_t seen = 0;
  if (step.kernel.reports) {
    seen = bound.seen;
    bound.seen = 0;
    take_fp_status(launch_.fp_watch);
  } else if (step.fp == Hardware) {
    seen = take_fp_status(launch_.fp_watch);
    if (seen && step.inner != kNone) return attribute_flags(step, bound, bound.scalar_count ? bound.scalar_count : round_up(count, plan_.quantum));
  } else {
    if (step.fp != Never) seen = explicit_fp_flags(step, bound.call, bound.scalar_count ? 1 : count, launch_.fp_watch);
    take_fp_status(launch_.fp_watch);
  }
  note_flags(launch_, plan_, step.flagged, seen);
}

}  // namespace tilewise::ops::simd
