// The way of a record from ops to the engines: who computes it, and what it is called there.
#include <cstring>

#include "runtime/base/env.h"
#include "runtime/base/error.h"
#include "runtime/dump.h"
#include "runtime/progress.h"
#include "runtime/session_state.h"

namespace tilewise::session {

int64_t min_tile() { return settings().min_tile; }
int devices() { return state().global->job().devices(); }

StoreRef new_store(const Dims& base_shape, int64_t base_itemsize) {
  auto* store = new Store;
  store->base_shape = base_shape;
  store->base_itemsize = base_itemsize;
  return StoreRef(store);
}

namespace {

void drop_global(State& s, StoreId store) {
  if (s.spmd) {
    s.undecided.push_back(store);
    return;
  }
  Record record;
  record.kind = RecordKind::kDrop;
  record.inputs.resize(1);
  record.inputs[0].store = store;
  apply_global(s, record);
}

}  // namespace

void drain_drops(State& s) {
  Store* store = s.dropped.exchange(nullptr, std::memory_order_acquire);
  // The stack is newest first; records go in the order of the drops.
  Store* ordered = nullptr;
  while (store) {
    Store* next = store->next_dropped;
    store->next_dropped = ordered;
    ordered = store;
    store = next;
  }
  while (ordered) {
    Store* next = ordered->next_dropped;
    if (ordered->id >= s.first_own) {
      if (s.tap) s.tap->note_drop(ordered);
      if (ordered->copy) drop_global(s, ordered->copy);
      if (ordered->residence == Store::Residence::kGlobal)
        drop_global(s, ordered->id);
      else
        s.known->drop(ordered->id);
    }
    if (s.free_stores.size() < 256)
      s.free_stores.push_back(ordered);
    else
      delete ordered;
    ordered = next;
  }
}

uint32_t current_line(State& s) {
  if (!s.line_hook) return 0;
  const SourceLine line = s.line_hook();
  const size_t place = (reinterpret_cast<uintptr_t>(line.code) >> 4) + static_cast<size_t>(line.line);
  State::RecentLine& recent = s.recent_lines[place % std::size(s.recent_lines)];
  if (recent.line.code == line.code && recent.line.line == line.line) return recent.number;
  const auto [number, fresh] = s.line_numbers.try_emplace({line.code, line.line}, static_cast<uint32_t>(s.lines.size()));
  if (fresh) s.lines.push_back(line);
  recent = {line, number->second};
  return number->second;
}

namespace {

bool small(const State& s, const Dims& shape) { return shape.empty() || count_of(shape) < s.min_tile; }

bool known(const Array* array) { return array->store->residence == Store::Residence::kKnown; }

// Known data is a function of constants and small; what is computed from it alone, and small, is known too.
bool leader_alone(const State& s, const Array* const* in, size_t inputs, const Array* const* out, size_t outputs) {
  for (size_t i = 0; i < inputs; ++i)
    if (!known(in[i]) || !small(s, in[i]->store->base_shape)) return false;
  for (size_t i = 0; i < outputs; ++i)
    if (!known(out[i]) || !small(s, out[i]->store->base_shape)) return false;
  return true;
}

void name_store(Record& record, Store& store, StoreId* next) {
  if (store.born) return;
  store.born = true;
  store.id = (*next)++;
  record.births.push_back({store.id, store.base_shape, store.base_itemsize});
}

// The bytes of the whole store, waiting for the leader's own (inline) work.
std::shared_ptr<char[]> known_bytes(State& s, const Store& store, size_t bytes) {
  std::shared_ptr<char[]> data(new char[bytes]);
  Record read;
  read.kind = RecordKind::kRead;
  read.inputs.push_back({store.id, partition::dense_view(store.base_shape, DType::kVoid,
                                                         static_cast<int32_t>(store.base_itemsize))});
  read.destination = std::make_shared<ReadTarget>(data.get());
  for (const Event& event : apply(s, *s.known, read)) wait(event);
  raise_if_poisoned(s, *s.known, store.id);
  return data;
}

// Sends a known store's bytes into the stream; returns its number there.
StoreId send_known(State& s, Store& store) {
  Record record;
  record.kind = RecordKind::kHostData;
  const StoreId id = s.next_global++;
  record.births.push_back({id, store.base_shape, store.base_itemsize});
  record.outputs.push_back({id, partition::dense_view(store.base_shape, DType::kVoid,
                                                      static_cast<int32_t>(store.base_itemsize))});
  const size_t bytes = static_cast<size_t>(count_of(store.base_shape) * store.base_itemsize);
  auto data = known_bytes(s, store, bytes);
  record.bytes.assign(data.get(), data.get() + bytes);
  record.data = data;
  apply_global(s, record);
  return id;
}

// A known store that distributed work overwrites moves to the engine of all devices, for good.
void move_to_global(State& s, Store& store) {
  const bool had_values = store.born;
  const StoreId old = store.id;
  if (had_values) {
    const StoreId id = send_known(s, store);
    s.known->drop(old);
    store.id = id;
  }
  store.residence = Store::Residence::kGlobal;
}

void forget_copy(State& s, Store& store) {
  if (!store.copy) return;
  drop_global(s, store.copy);
  store.copy = 0;
}

// A known single value becomes a parameter: it travels in the record, no message of its own.
void take_known_scalars(State& s, Record& record, const Array* const* in, SmallVec<int, 8>* kept) {
  SmallVec<Scalar, 4> values;
  SmallVec<uint16_t, 16> renumber;
  const int inputs = static_cast<int>(record.inputs.size());
  SmallVec<bool, 8> is_scalar;
  for (int i = 0; i < inputs; ++i)
    is_scalar.push_back(record.kind == RecordKind::kElementwise && known(in[i]) && in[i]->store->born &&
                        count_of(in[i]->store->base_shape) == 1 && in[i]->view.dtype != DType::kVoid);
  for (int i = 0; i < inputs; ++i)
    if (!is_scalar[i]) kept->push_back(i);
  if (kept->size() == inputs) return;
  for (int i = 0, next = 0; i < inputs; ++i) renumber.push_back(is_scalar[i] ? 0 : static_cast<uint16_t>(next++));
  int added = 0;
  for (int i = 0; i < inputs; ++i) {
    if (!is_scalar[i]) continue;
    const Store& store = *in[i]->store;
    const auto data = known_bytes(s, store, static_cast<size_t>(store.base_itemsize));
    Scalar value;
    value.dtype = in[i]->view.dtype;
    std::memcpy(value.bytes, data.get() + in[i]->view.offset, itemsize(value.dtype));
    values.push_back(value);
    renumber[i] = static_cast<uint16_t>(kept->size() + added++);
  }
  // New parameters come first; the old ones and the instructions keep their places behind.
  auto moved = [&](uint16_t v) -> uint16_t {
    if (v == kNone) return v;
    return v < inputs ? renumber[v] : v;
  };
  for (Instr& instr : record.code) {
    if (instr.op == kIndex) continue;
    instr.a = moved(instr.a);
    if (instr.op < kFirstRow) continue;
    instr.b = moved(instr.b);
    instr.c = moved(instr.c);
  }
  for (uint16_t& result : record.results) result = moved(result);
  SmallVec<Scalar, 2> params;
  for (const Scalar& value : values) params.push_back(value);
  for (const Scalar& value : record.params) params.push_back(value);
  record.params = params;
  std::vector<Ref> inputs_left;
  for (int i : *kept) inputs_left.push_back(record.inputs[i]);
  record.inputs = std::move(inputs_left);
}

}  // namespace

thread_local uint8_t ToldAs::now_ = kFpOwn;

void record(Record& r, const Array* const* in, const Array* const* out) {
  State& s = state();
  if (!s.role.leader) throw Error(ErrorKind::kRuntime, "only the leader records operations");
  if (s.spmd) agree_now_and_then(s);
  auto held = lock_to_record(s);
  drain_drops(s);
  for (size_t i = 0; i < r.inputs.size(); ++i) check_own(s, *in[i]->store);
  for (size_t i = 0; i < r.outputs.size(); ++i) check_own(s, *out[i]->store);
  r.line = current_line(s);
  const bool silent = ToldAs::now() == kFpSilent;
  r.watch = s.watch_hook && !silent ? s.watch_hook() : 0;
  r.told_as = r.watch ? ToldAs::now() : uint8_t{kFpOwn};
  const bool alone = leader_alone(s, in, r.inputs.size(), out, r.outputs.size());
  if (!alone) {  // before anything is noted
    check_not_ended(s, held);
    SmallVec<Store*, 8> births;
    for (size_t i = 0; i < r.inputs.size(); ++i)
      if (!in[i]->store->born) births.push_back(in[i]->store.get());
    for (size_t i = 0; i < r.outputs.size(); ++i)
      if (!out[i]->store->born) births.push_back(out[i]->store.get());
    if (!births.empty()) make_room(s, held, {births.begin(), births.end()});
  }
  if (s.tap) s.tap->note(r, in, out);
  if (alone) {
    for (size_t i = 0; i < r.outputs.size(); ++i) forget_copy(s, *out[i]->store);
    for (size_t i = 0; i < r.inputs.size(); ++i) {
      name_store(r, *in[i]->store, &s.next_known);
      r.inputs[i].store = in[i]->store->id;
    }
    for (size_t i = 0; i < r.outputs.size(); ++i) {
      name_store(r, *out[i]->store, &s.next_known);
      r.outputs[i].store = out[i]->store->id;
    }
    apply(s, *s.known, r);
    return;
  }
  for (size_t i = 0; i < r.outputs.size(); ++i)
    if (known(out[i])) {
      forget_copy(s, *out[i]->store);
      move_to_global(s, *out[i]->store);
    }
  SmallVec<int, 8> kept;
  take_known_scalars(s, r, in, &kept);
  for (int k = 0; k < kept.size(); ++k) {
    Store& store = *in[kept[k]]->store;
    if (store.residence == Store::Residence::kKnown && store.born && small(s, store.base_shape)) {
      if (!store.copy) store.copy = send_known(s, store);
      r.inputs[k].store = store.copy;
      continue;
    }
    store.residence = Store::Residence::kGlobal;
    name_store(r, store, &s.next_global);
    r.inputs[k].store = store.id;
  }
  for (size_t i = 0; i < r.outputs.size(); ++i) {
    name_store(r, *out[i]->store, &s.next_global);
    r.outputs[i].store = out[i]->store->id;
  }
  apply_global(s, r);
}

bool record_plain(const PlainOperation& operation, StoreRef* result) {
  State& s = state();
  if (!s.role.leader || s.tap || (dump_stages & static_cast<uint32_t>(Stage::kStream))) return false;
  const Dims& shape = operation.in[0]->view.shape;
  const bool alone = leader_alone(s, operation.in, static_cast<size_t>(operation.arrays), nullptr, 0) && small(s, shape);
  if (!alone && s.link) return false;
  auto held = lock_to_record(s);
  drain_drops(s);
  StoreId in[2];
  for (int k = 0; k < operation.arrays; ++k) {
    const Store& store = *operation.in[k]->store;
    if (!store.born || store.id < s.first_own || (!alone && known(operation.in[k]))) return false;
    in[k] = store.id;
  }
  StoreId& next = alone ? s.next_known : s.next_global;
  Engine& engine = alone ? *s.known : *s.global;
  const uint8_t watch = s.watch_hook && ToldAs::now() != kFpSilent ? s.watch_hook() : 0;
  if (!alone && !take_room(s, count_of(shape) * operation.itemsize)) return false;
  if (!engine.join_plain(operation, in, next, current_line(s), watch)) return false;
  Store* store;
  if (s.free_stores.empty()) {
    store = new Store;
  } else {
    store = s.free_stores.back();
    s.free_stores.pop_back();
  }
  store->reset(shape, operation.itemsize);
  store->born = true;
  store->id = next++;
  if (!alone) store->residence = Store::Residence::kGlobal;
  store->start();
  *result = StoreRef::adopt(store);
  return true;
}

namespace {

// However a read ends, nothing is written to its target any more: the memory is the caller's again.
struct Unwanted {
  ReadTarget& target;
  ~Unwanted() {
    const std::lock_guard lock(target.lock);
    target.to = nullptr;
  }
};

}  // namespace

void read(const Array& source, void* to) {
  State& s = state();
  const size_t bytes = static_cast<size_t>(source.view.count()) * source.view.itemsize;
  auto held = lock_to_record(s);
  drain_drops(s);
  Store& store = *source.store;
  check_own(s, store);
  if (!store.born || bytes == 0) {
    std::memset(to, 0, bytes);
    return;
  }
  const bool here = store.residence == Store::Residence::kKnown;
  const StoreId id = store.id;
  Engine& engine = here ? *s.known : *s.global;
  if (!here) check_not_ended(s, held);
  raise_if_poisoned(s, engine, id);
  Record r;
  r.kind = RecordKind::kRead;
  r.line = current_line(s);
  r.inputs.push_back({id, source.view});
  r.destination = std::make_shared<ReadTarget>(to);
  if (s.tap) s.tap->note_read(source, r.line, !here);
  const Unwanted at_the_end{*r.destination};
  const auto events = here ? apply(s, engine, r) : apply_global(s, r);
  raise_if_poisoned(s, engine, id);  // the read itself may have issued what made it
  held.unlock();
  if (!here) agree(s);
  wait_unlocked(s, events);
  if (s.spmd && !here)
    agree(s);  // what failed elsewhere
  else if (Progress::failed() || (!here && Progress::told_of_conditions()))
    settle_all(s);
  else
    return;
  held = lock(s);
  if (const FailurePtr failure = engine.failures().take_failed_read(id)) raise(s, failure);
  raise_if_poisoned(s, engine, id);
}

}  // namespace tilewise::session
