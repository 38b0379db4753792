#include "runtime/step_builder.h"

#include <algorithm>

#include "runtime/dump.h"
#include "runtime/run_program.h"

namespace tilewise {

using partition::Box;
using partition::InstanceBox;
using partition::Piece;
using partition::View;

namespace {

// The region without its broadcast axes: those have extent 1, so that each element is fetched once.
struct Compressed {
  View view;
  Box region;
  Dims strides;  // of the uncompressed axes in a dense block of the region
  int64_t bytes = 0;
};

Compressed compress(const View& view, const Box& region, bool contiguous) {
  Compressed c{view, region, {}, 0};
  for (int k = 0; k < view.rank(); ++k) {
    if (view.strides[k] != 0 || contiguous) continue;
    c.view.shape[k] = 1;
    c.region.lo[k] = 0;
    c.region.hi[k] = 1;
  }
  const Dims shape = c.region.shape();
  c.strides = c_strides(shape, view.itemsize);
  c.bytes = count_of(shape) * view.itemsize;
  for (int k = 0; k < view.rank(); ++k)
    if (view.strides[k] == 0 && !contiguous) c.strides[k] = 0;
  return c;
}

bool dense(const Dims& strides, const Dims& shape, int64_t itemsize) {
  int64_t step = itemsize;
  for (int k = shape.size() - 1; k >= 0; --k) {
    if (shape[k] != 1 && strides[k] != step) return false;
    step *= shape[k];
  }
  return true;
}

// The operand in place, if this instance holds it as the task wants it. Owners and other ranks ask alike: what is not in
// place here is what travels.
std::optional<partition::DirectAccess> in_place(const View& view, const Box& region, bool contiguous,
                                                const InstanceBox& instance) {
  auto direct = partition::direct(view, region, instance);
  if (direct && contiguous && !dense(direct->strides, region.shape(), view.itemsize)) return std::nullopt;
  return direct;
}

// The same for a device of another rank, from the tiling alone.
bool in_place_on(const partition::Tiling& tiling, int device, const TaskOperand& operand) {
  for (int64_t tile : tiling.tiles_of(device))
    if (in_place(operand.view, operand.region, operand.contiguous, InstanceBox(tiling.form(), tiling.tile_box(tile))))
      return true;
  return false;
}

// Into a dense buffer of the region, or out of it.
CopyPiece gather_piece(const Piece& p) {
  return {p.shape, p.region_strides, p.instance_strides, p.region_offset, p.instance_offset, p.itemsize};
}
CopyPiece scatter_piece(const Piece& p) {
  return {p.shape, p.instance_strides, p.region_strides, p.instance_offset, p.region_offset, p.itemsize};
}

}  // namespace

void StepBuilder::add(StepTask task) { tasks_.push_back(std::move(task)); }

void StepBuilder::swap(StoreId store) { swaps_.push_back({store, {}}); }

// The instance from which the device can read the region in place; place gets the address.
Instance* StepBuilder::readable(StoreState& store, const Device* device, const View& view, const Box& region,
                                bool contiguous, Place* place) {
  for (Instance& instance : store.instances) {
    if (instance.device != device && !store.tiling->is_replicated()) continue;
    if (instance.whole && (!contiguous || dense(view.strides, region.shape(), view.itemsize))) {
      place->offset = view.offset;
      for (int k = 0; k < view.rank(); ++k) place->offset += region.lo[k] * view.strides[k];
      place->strides = view.strides;
      return &instance;
    }
    const auto direct = in_place(view, region, contiguous, instance.place);
    if (!direct) continue;
    place->offset = direct->offset;
    place->strides = direct->strides;
    return &instance;
  }
  return nullptr;
}

void StepBuilder::bind_input(const StepTask& task, const TaskOperand& operand, Place* place) {
  StoreState& store = stores_.get(operand.store);
  const partition::Tiling& tiling = *store.tiling;
  Device* device = job_.device(task.device);
  const bool snapshot = operand.snapshot;
  // 1. In place, here or (so that we know what to send) there.
  if (device) {
    if (!snapshot) place->instance = readable(store, device, operand.view, operand.region, operand.contiguous, place);
    if (place->instance) return;
  } else if (tiling.is_replicated()) {
    return;
  } else if (!snapshot && in_place_on(tiling, task.device, operand)) {
    return;
  }

  // 2. Fetched, tile by tile.
  const Compressed part = compress(operand.view, operand.region, operand.contiguous);
  if (device) {
    place->buffer = allocate(device, part.bytes);
    place->strides = part.strides;
    lent_.push_back({device, place->buffer});
  }
  auto from_tile = [&](const InstanceBox& box, int owner_rank, Instance* here) {
    if (device && owner_rank == job_.rank) {
      LocalCopy copy{device, place->buffer, here->buffer, nullptr, here, {}};
      for (const Piece& p : partition::pieces(part.view, part.region, box)) {
        copy.pieces.push_back(gather_piece(p));
        counters_.local_bytes += p.bytes();
      }
      fetches_.push_back(std::move(copy));
      return;
    }
    const auto pieces = partition::pieces(part.view, part.region, box);
    if (pieces.empty()) return;  // no message: the other side does not count this tile either
    Message& message = device ? receive_[owner_rank] : send_[job_.rank_of(task.device)];
    Part piece_part{device ? device : here->device, device ? nullptr : here, device ? place->buffer : here->buffer, {}};
    for (const Piece& p : pieces) {
      CopyPiece c = gather_piece(p);
      // One side is the message: its dense block in the order of the pieces.
      if (device) {
        c.from_strides = c_strides(p.shape, p.itemsize);
        c.from_offset = message.bytes;
        place->remote = true;
      } else {
        c.to_strides = c_strides(p.shape, p.itemsize);
        c.to_offset = message.bytes;
      }
      message.bytes += p.bytes();
      piece_part.pieces.push_back(c);
    }
    message.parts.push_back(std::move(piece_part));
  };
  if (tiling.is_replicated()) {
    from_tile(store.instances.at(0).place, job_.rank, &store.instances[0]);
    return;
  }
  const Box footprint = partition::footprint(part.view, part.region, tiling.form());
  if (!device) {  // another rank's task: only what lies here counts
    for (Instance* here : in_order(store, footprint)) from_tile(here->place, job_.rank, here);
    return;
  }
  for (int64_t tile : tiling.tiles_overlapping(footprint)) {
    const int owner = tiling.owner(tile);
    const int owner_rank = job_.rank_of(owner);
    Instance* here = nullptr;
    if (owner_rank == job_.rank)
      for (Instance& instance : store.instances)
        if (instance.tile == tile) here = &instance;
    if (owner_rank == job_.rank && !here) continue;  // an empty tile
    from_tile(here ? here->place : InstanceBox(tiling.form(), tiling.tile_box(tile)), owner_rank, here);
  }
}

// Our tiles that meet the box, in the order in which other ranks list them.
std::vector<Instance*> StepBuilder::in_order(StoreState& store, const Box& box) {
  std::vector<Instance*> found;
  for (Instance& instance : store.instances)
    if (!partition::intersect(instance.place.box, box).empty()) found.push_back(&instance);
  std::sort(found.begin(), found.end(), [](const Instance* a, const Instance* b) { return a->tile < b->tile; });
  return found;
}

Instance* StepBuilder::instance_for_write(StoreState& store, Instance* instance) {
  for (Swap& swap : swaps_)
    if (swap.store == store.id) return &swap.second[instance - store.instances.data()];
  return instance;
}

void StepBuilder::bind_output(const StepTask& task, const TaskOperand& operand, Place* place) {
  StoreState& store = stores_.get(operand.store);
  Device* device = job_.device(task.device);
  const bool shared = store.tiling->is_replicated() && !task.everywhere;
  if (device && !shared) {
    Instance* instance = readable(store, device, operand.view, operand.region, operand.contiguous, place);
    if (instance) {
      place->instance = instance_for_write(store, instance);
      return;
    }
  } else if (!device && !shared && in_place_on(*store.tiling, task.device, operand)) {
    return;
  }
  if (device) {
    place->buffer = allocate(device, operand.region.count() * operand.view.itemsize);
    place->strides = c_strides(operand.region.shape(), operand.view.itemsize);
    lent_.push_back({device, place->buffer});
  }
  scatter(task, operand, device ? place : nullptr);
}

// Sends what a task wrote to the tiles' owners. place is null for another rank's task.
void StepBuilder::scatter(const StepTask& task, const TaskOperand& operand, const Place* place) {
  StoreState& store = stores_.get(operand.store);
  const partition::Tiling& tiling = *store.tiling;
  auto mine = [&](int64_t tile) -> Instance* {
    for (Instance& instance : store.instances)
      if (instance.tile == tile) return instance_for_write(store, &instance);
    return nullptr;
  };
  if (tiling.is_replicated()) {
    const InstanceBox box(tiling.form(), Box::of(store.base_shape));
    for (int rank = 0; rank < job_.size; ++rank)
      if (place || rank == job_.rank) deliver(task, operand, place, rank == job_.rank ? mine(0) : nullptr, rank, box);
    return;
  }
  const Box footprint = partition::footprint(operand.view, operand.region, tiling.form());
  if (!place) {
    for (Instance* here : in_order(store, footprint))
      deliver(task, operand, nullptr, instance_for_write(store, here), job_.rank, here->place);
    return;
  }
  for (int64_t tile : tiling.tiles_overlapping(footprint)) {
    const int rank = job_.rank_of(tiling.owner(tile));
    deliver(task, operand, place, rank == job_.rank ? mine(tile) : nullptr, rank,
            InstanceBox(tiling.form(), tiling.tile_box(tile)));
  }
}

void StepBuilder::deliver(const StepTask& task, const TaskOperand& operand, const Place* place, Instance* to, int rank,
                          const InstanceBox& box) {
  const auto pieces = partition::pieces(operand.view, operand.region, box);
  if (pieces.empty()) return;
  if (place && rank == job_.rank) {
    LocalCopy copy{to->device, to->buffer, place->buffer, to, nullptr, {}};
    for (const Piece& p : pieces) {
      copy.pieces.push_back(scatter_piece(p));
      counters_.local_bytes += p.bytes();
    }
    deliveries_.push_back(std::move(copy));
    return;
  }
  Message& message = place ? send_after_[rank] : receive_after_[job_.rank_of(task.device)];
  Part part{place ? job_.device(task.device) : to->device, place ? nullptr : to, place ? place->buffer : to->buffer, {}};
  for (const Piece& p : pieces) {
    CopyPiece c = scatter_piece(p);
    if (place) {
      c.to_strides = c_strides(p.shape, p.itemsize);
      c.to_offset = message.bytes;
    } else {
      c.from_strides = c_strides(p.shape, p.itemsize);
      c.from_offset = message.bytes;
    }
    message.bytes += p.bytes();
    part.pieces.push_back(c);
  }
  message.parts.push_back(std::move(part));
}

void StepBuilder::written(Instance& instance, Event event) {
  instance.written = event;
  instance.readers.clear();
}

}  // namespace tilewise
