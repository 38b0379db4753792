#include "runtime/lower_group.h"

#include <algorithm>

#include "runtime/dump.h"

namespace tilewise {

using partition::Box;
using partition::DomainPartition;
using partition::Tiling;
using partition::TilingPtr;
using partition::View;

std::shared_ptr<const Program> ProgramCache::get(const Program& program, uint64_t active, uint64_t partly) {
  auto& bucket = entries_[program.key()];
  Entry* entry = nullptr;
  for (auto& candidate : bucket)
    if (candidate->program == program) entry = candidate.get();
  if (!entry) {
    bucket.push_back(std::make_unique<Entry>(Entry{program, {}}));
    entry = bucket.back().get();
    dump(tilewise::Stage::kProgram, [&] { return "new program\n" + print(program); });
  }
  auto& form = entry->forms[{active, partly}];
  if (form) {
    hits += 1;
  } else {
    misses += 1;
    form = std::make_shared<const Program>(specialize(program, active, partly));
  }
  return form;
}

void Lowering::place(StoreState& store, TilingPtr tiling) {
  store.tiling = std::move(tiling);
  auto add = [&](int64_t tile, Device* device, const Box& box) {
    Instance instance;
    instance.tile = tile;
    instance.device = device;
    instance.place = partition::InstanceBox(store.form(), box);
    instance.whole = box == Box::of(store.base_shape);
    instance.buffer = counters.shortage.allocate(job, *device, box.count() * store.base_itemsize, &instance.hollow);
    // The memory is free in the order of this device's queue: work of other queues must wait for that point.
    instance.written = device->queue().last();
    store.instances.push_back(std::move(instance));
  };
  try {
    if (store.tiling->is_replicated()) {
      add(0, job.local[0], Box::of(store.base_shape));
      return;
    }
    for (int d = 0; d < job.devices_per_rank(); ++d)
      for (int64_t tile : store.tiling->tiles_of(job.first_device(job.rank) + d))
        add(tile, job.local[d], store.tiling->tile_box(tile));
  } catch (...) {  // no memory
    stores.free_instances(store);
    store.tiling = nullptr;
    throw;
  }
}

// With one device there is one way for a store of given form to lie; the last few are kept.
TilingPtr Lowering::whole_tiling(const StoreState& store) {
  for (const TilingPtr& known : recent_)
    if (known && known->base_shape() == store.base_shape && known->base_itemsize() == store.base_itemsize) return known;
  TilingPtr& oldest = recent_[next_recent_++ % recent_.size()];
  return oldest = Tiling::single(store.base_shape, static_cast<int32_t>(store.base_itemsize), 0);
}

void Lowering::ensure_placed(StoreState& store) {
  if (store.tiling) return;
  if (job.devices() == 1)
    place(store, whole_tiling(store));
  else
    place(store, default_tiling(store.base_shape, store.base_itemsize));
}

TilingPtr Lowering::default_tiling(const Dims& base_shape, int64_t base_itemsize) const {
  const auto itemsize = static_cast<int32_t>(base_itemsize);
  return count_of(base_shape) < min_tile ? Tiling::replicated(base_shape, itemsize)
                                         : partition::default_tiling(base_shape, itemsize, job.devices(), min_tile);
}

StoreId Lowering::temporary(const Dims& shape, int64_t itemsize, TilingPtr tiling) {
  const StoreId id = next_temporary++;
  StoreState& store = stores.create(id, shape, itemsize, 0);
  place(store, std::move(tiling));
  return id;
}

void Lowering::drop_temporary(StoreId id) {
  StoreState& store = stores.get(id);
  store.dropped = true;
  stores.release_if_unused(store);
}

// Which values are stored: those of stores that somebody still holds, or that a later group names.
bool GroupLowering::collect() {
  auto needed = [&](StoreId id) {
    const StoreState& store = l_.stores.get(id);
    return !store.dropped || store.open > 0;
  };
  program_ = group_.program;
  bool any = false;
  for (const GroupValue& v : group_.values) {
    if (!needed(v.store)) continue;
    uint8_t guard = 0;
    for (size_t g = 0; g < group_.guards.size(); ++g)
      if (group_.guards[g] == v.box) guard = static_cast<uint8_t>(g + 1);
    const auto access = static_cast<uint16_t>(program_.accesses.size());
    const View& view = group_.views[v.view];
    program_.accesses.push_back({view.dtype, view.itemsize, true});
    program_.push({kStore, view.dtype, v.value, access, kNone}, view.dtype, guard);
    outputs_.push_back({v.store, view, group_.boxes[v.box], access, !l_.stores.get(v.store).tiling});
    any = true;
  }
  for (const GroupReduction& r : group_.reductions) {
    const int number = program_.code[r.value].b;
    reduced_.push_back({r.store, group_.views[r.view], number, program_.code[r.value].dtype, needed(r.store)});
    any |= reduced_.back().needed;
  }
  for (const GroupLoad& load : group_.loads)
    inputs_.push_back({load.store, group_.views[load.view], group_.boxes[load.box], program_.code[load.value].a,
                       load.snapshot});
  for (const Instr& instr : program_.code) indexed_ |= instr.op == kIndex;
  params_ = std::make_shared<const std::vector<Scalar>>(group_.params);
  return any;
}

// The frame's axes in the order of the tree, merged where it merges. Without reductions the frame stays as it is: axes are
// ordered for each launch.
void GroupLowering::make_frame() {
  const int rank = group_.domain.size();
  if (reduced_.empty()) {
    for (int k = 0; k < rank; ++k) axes_.push_back({k});
  } else {
    const uint64_t axes = program_.reductions[0].axes;
    bool have_reduced = false;
    for (int k = 0; k < rank; ++k) have_reduced |= (axes >> k & 1) && group_.domain[k] != 1;
    for (int k : group_.reduce_order) {
      // One reduced axis stays, even of extent 1, so that there is something to reduce over.
      const bool keep_one = !have_reduced && (axes >> k & 1);
      if (group_.domain[k] == 1 && !keep_one && !indexed_) continue;
      if (keep_one) have_reduced = true;
      bool joined = false;
      for (auto [outer, inner] : group_.merged)
        if (inner == k && !axes_.empty() && axes_.back().back() == outer) joined = true;
      if (joined)
        axes_.back().push_back(k);
      else
        axes_.push_back({k});
    }
  }
  for (size_t j = 0; j < axes_.size(); ++j) {
    int64_t extent = 1;
    for (int k : axes_[j]) extent *= group_.domain[k];
    frame_.push_back(extent);
    if (!reduced_.empty() && program_.reductions[0].axes >> axes_[j].back() & 1) reduced_axes_ |= uint64_t{1} << j;
  }
  for (Reduction& reduction : program_.reductions) reduction.axes = reduced_axes_;
  for (Instr& instr : program_.code) {
    if (instr.op != kIndex) continue;
    for (size_t j = 0; j < axes_.size(); ++j)
      if (axes_[j].back() == instr.a) {
        instr.a = static_cast<uint16_t>(j);
        break;
      }
  }
  for (Input& in : inputs_) {
    in.view = canonical(in.view);
    in.box = canonical(in.box);
  }
  for (Output& out : outputs_) {
    out.view = canonical(out.view);
    out.box = canonical(out.box);
  }
  for (Reduced& r : reduced_) r.view = canonical(r.view);
  for (uint16_t guard : group_.guards) guards_.push_back(canonical(group_.boxes[guard]));
}

View GroupLowering::canonical(const View& view) const {
  View c = view;
  c.shape = frame_;
  c.strides = Dims(frame_.size());
  for (size_t j = 0; j < axes_.size(); ++j) c.strides[j] = view.strides[axes_[j].back()];
  return c;
}

Box GroupLowering::canonical(const Box& box) const {
  Box c(Dims(frame_.size(), 0), frame_);
  for (size_t j = 0; j < axes_.size(); ++j) {
    if (axes_[j].size() > 1) continue;  // merged axes are whole
    c.lo[j] = box.lo[axes_[j][0]];
    c.hi[j] = box.hi[axes_[j][0]];
  }
  return c;
}

// The largest operand that lies in tiles and is read over the whole domain.
const GroupLowering::Input* GroupLowering::key_input() const {
  const Input* best = nullptr;
  int64_t most = 0;
  for (const Input& in : inputs_) {
    const StoreState& store = l_.stores.get(in.store);
    if (store.tiling->is_replicated()) continue;
    int64_t elements = 1;
    for (int k = 0; k < frame_.size(); ++k)
      if (in.view.strides[k] != 0) elements *= frame_[k];
    if (in.box == Box::of(frame_) && elements > most) {
      best = &in;
      most = elements;
    }
  }
  return best;
}

void GroupLowering::choose_partition() {
  const int devices = l_.job.devices();
  if (devices == 1) {
    for (Input& in : inputs_) l_.ensure_placed(l_.stores.get(in.store));
    parts_ = DomainPartition::single(frame_, 0);
    return;
  }
  const bool small = count_of(frame_) < l_.min_tile;
  const Dims multiples = rounding();
  for (Input& in : inputs_) l_.ensure_placed(l_.stores.get(in.store));

  // 1. What exists is written by its owners.
  const Output* key = nullptr;
  bool replicated_output = false;
  for (const Output& out : outputs_) {
    if (out.birth) continue;
    const StoreState& store = l_.stores.get(out.store);
    replicated_output |= store.tiling->is_replicated();
    if (!store.tiling->is_replicated() && out.box == Box::of(frame_) &&
        (!key || store.count() > l_.stores.get(key->store).count()))
      key = &out;
  }
  if (key) {
    parts_ = DomainPartition::induced(key->view, *l_.stores.get(key->store).tiling, devices, multiples);
    return;
  }
  const Input* input = key_input();
  const bool local_inputs = std::all_of(inputs_.begin(), inputs_.end(), [&](const Input& in) {
    return l_.stores.get(in.store).tiling->is_replicated();
  });
  // 2. Small work on what everybody has, everybody does; what is replicated stays so.
  if ((small && local_inputs) || (replicated_output && small)) {
    everywhere_ = true;
    parts_ = DomainPartition::single(frame_, l_.job.first_device(l_.job.rank));
    return;
  }
  // 3. The largest operand's owners, or, for small work, the owner of its first element.
  if (input && !small) {
    parts_ = DomainPartition::induced(input->view, *l_.stores.get(input->store).tiling, devices, multiples);
  } else if (small) {
    int owner = 0;
    for (const Input& in : inputs_) {
      const StoreState& store = l_.stores.get(in.store);
      if (store.tiling->is_replicated()) continue;
      Box first = in.box;
      for (int k = 0; k < frame_.size(); ++k) first.hi[k] = first.lo[k] + 1;
      const auto tiles = store.tiling->tiles_overlapping(partition::footprint(in.view, first, store.form()));
      if (!tiles.empty()) owner = store.tiling->owner(tiles[0]);
      break;
    }
    parts_ = DomainPartition::single(frame_, owner);
  } else {
    parts_ = DomainPartition::by_count(frame_, devices, l_.min_tile, multiples);
  }
}

// The tiling of a new store whose elements are those of the frame (or of its kept axes): equal elements on equal devices.
TilingPtr GroupLowering::follow_frame(const StoreState& store, const View& view) const {
  if (l_.job.devices() == 1) return l_.whole_tiling(store);
  const auto itemsize = static_cast<int32_t>(store.base_itemsize);
  if (everywhere_) return Tiling::replicated(store.base_shape, itemsize);
  // The base's axes as a view of the frame taken as a dense store of one byte an element.
  const Dims base_strides = c_strides(store.base_shape, store.base_itemsize);
  View of_frame = partition::dense_view(store.base_shape, DType::kVoid, 1);
  of_frame.strides = Dims(store.base_shape.size(), 0);
  const Dims frame_strides = c_strides(frame_, 1);
  for (int b = 0; b < store.base_shape.size(); ++b) {
    if (store.base_shape[b] == 1) continue;
    bool found = false;
    for (size_t j = 0; j < axes_.size() && !found; ++j) {
      int64_t inner = 1;  // a merged axis holds several of the base's
      for (int i = axes_[j].size() - 1; i >= 0; --i) {
        const int64_t extent = group_.domain[axes_[j][i]];
        if (extent == store.base_shape[b] && view.strides[static_cast<int>(j)] * inner == base_strides[b]) {
          of_frame.strides[b] = frame_strides[static_cast<int>(j)] * inner;
          found = true;
          break;
        }
        inner *= extent;
      }
    }
    if (!found) return nullptr;
  }
  if (auto grid = parts_.grid().seen_through(of_frame, 1)) return Tiling::from_grid(itemsize, std::move(*grid));
  return nullptr;
}

void GroupLowering::place_births() {
  for (const Output& out : outputs_) {
    StoreState& store = l_.stores.get(out.store);
    if (store.tiling || takes_over(store, out)) continue;
    TilingPtr tiling;
    if (out.box == Box::of(frame_) && out.view.offset == 0 && count_of(frame_) == store.count())
      tiling = follow_frame(store, out.view);
    if (tiling)
      l_.place(store, std::move(tiling));
    else
      l_.ensure_placed(store);
  }
}

// The parts this rank computes, and those of others that touch its tiles.
std::vector<int64_t> GroupLowering::relevant_parts() const {
  std::vector<int64_t> parts;
  const Job& job = l_.job;
  if (job.size == 1 || parts_.part_count() <= 32) {
    for (int64_t p = 0; p < parts_.part_count(); ++p) parts.push_back(p);
    return parts;
  }
  auto add = [&](const std::vector<int64_t>& more) { parts.insert(parts.end(), more.begin(), more.end()); };
  for (int d = 0; d < job.devices_per_rank(); ++d) add(parts_.parts_of(job.first_device(job.rank) + d));
  auto touching = [&](StoreId id, const View& view, const Box& used) {
    for (const Instance& instance : l_.stores.get(id).instances) {
      const Box box = partition::preimage(view, used, instance.place);
      if (!box.empty()) add(parts_.parts_overlapping(box));
    }
  };
  for (const Input& in : inputs_)
    if (!l_.stores.get(in.store).tiling->is_replicated()) touching(in.store, in.view, in.box);
  for (const Output& out : outputs_) touching(out.store, out.view, out.box);
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

void GroupLowering::issue() {
  if (!collect()) return;
  make_frame();
  if (count_of(frame_) == 0) {
    for (const Output& out : outputs_) l_.ensure_placed(l_.stores.get(out.store));
    for (const Reduced& r : reduced_) l_.ensure_placed(l_.stores.get(r.store));
    return;
  }
  choose_partition();
  struct Forget {
    GroupLowering& lowering;
    ~Forget() { lowering.forget_taken(); }
  } forget{*this};
  place_births();
  plan_reductions();
  dump(tilewise::Stage::kPlan, [&] {
    return str("group ", group_.serial, " over ", frame_, ": ", group_.records, " records, ", inputs_.size(), " operands, ",
               outputs_.size(), " results, ", reduced_.size(), " reductions, ",
               everywhere_ ? "on every rank" : str(parts_.part_count(), " parts"));
  });

  StepBuilder step(l_.job, l_.stores, l_.counters);
  for (StoreId store : group_.swaps)
    if (std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& out) { return out.store == store; }))
      step.swap(store);
  if (everywhere_) {
    const bool fetches = std::any_of(inputs_.begin(), inputs_.end(), [&](const Input& in) {
      return !l_.stores.get(in.store).tiling->is_replicated();
    });
    for (int rank = 0; rank < l_.job.size; ++rank)
      if (rank == l_.job.rank || fetches) add_part(step, Box::of(frame_), l_.job.first_device(rank));
  } else {
    for (int64_t part : relevant_parts()) {
      const Box box = parts_.part_box(part);
      if (!box.empty()) add_part(step, box, parts_.owner(part));
    }
  }
  step.issue(l_.next_tag++);
  finish_reductions();
}

}  // namespace tilewise
