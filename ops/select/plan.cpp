#include "ops/select/plan.h"

#include <algorithm>
#include <cstring>

#include "ops/simd/select_block.h"
#include "partition/arith.h"
#include "partition/tiling.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

using partition::Box;
using partition::ceil_div;
using partition::Cuts;
using partition::Tiling;
using partition::TilingPtr;

constexpr int64_t kBlock = 4096, kMostBlocks = 16384;

BlockSums sums_of(const Record& record) {
  BlockSums sums;
  std::memcpy(&sums.block, record.bytes.data(), sizeof sums.block);
  sums.before.resize(record.bytes.size() / sizeof(int64_t) - 1);
  std::memcpy(sums.before.data(), record.bytes.data() + sizeof sums.block, sums.before.size() * sizeof(int64_t));
  return sums;
}

// The mask's parts: as it lies, moved to whole blocks.
TilingPtr parts_of(const Ref& mask, int64_t block, const CallPlan& plan) {
  const Dims& shape = mask.view.shape;
  const int64_t worth = std::max<int64_t>(plan.min_tile(), 1);
  const int devices = static_cast<int>(std::clamp<int64_t>(shape[0] / worth, 1, plan.devices()));
  if (devices == 1) return Tiling::single(shape, 1, 0);
  const Tiling& tiling = plan.tiling(mask.store);
  if (!tiling.is_replicated() && tiling.tile_count() > 1) {
    const TilingPtr inherited = partition::inherit(tiling, mask.view);
    if (inherited && !inherited->is_replicated() && inherited->tile_count() > 1)
      return Tiling::from_grid(1, inherited->grid().rounded({block}));
  }
  return Tiling::even(shape, 1, 0, devices, block);
}

// Where results lie: with their sources, unless that is lopsided.
TilingPtr result_tiling(const Dims& shape, int64_t itemsize, const Tiling& parts, const BlockSums& sums, const CallPlan& plan) {
  const int64_t n = parts.base_shape()[0], count = sums.count(), tiles = parts.tile_count();
  std::vector<int64_t> cuts;
  std::vector<int32_t> owners;
  int64_t largest = 0;
  for (int64_t t = 0; t < tiles; ++t) {
    const Box box = parts.tile_box(t);
    const int64_t end = sums.before[ceil_div(std::min(box.hi[0], n), sums.block)];
    largest = std::max(largest, end - (cuts.empty() ? 0 : cuts.back()));
    cuts.push_back(end);
    owners.push_back(parts.owner(t));
  }
  cuts.pop_back();
  const int64_t worth = std::max<int64_t>(plan.min_tile(), 1);
  if (tiles == 1) return Tiling::single(shape, static_cast<int32_t>(itemsize), owners[0]);
  if (largest > std::max(2 * ceil_div(count, tiles), worth)) {
    const int devices = static_cast<int>(std::clamp<int64_t>(count / worth, 1, plan.devices()));
    return Tiling::even(shape, static_cast<int32_t>(itemsize), 0, devices);
  }
  std::vector<Cuts> grid{Cuts::at(count, cuts)};
  for (int k = 1; k < shape.size(); ++k) grid.push_back(Cuts::whole(shape[k]));
  return Tiling::from_cuts(static_cast<int32_t>(itemsize), std::move(grid), partition::Owners::listed(std::move(owners)));
}

int64_t row_bytes(const partition::View& view) {
  int64_t bytes = view.itemsize;
  for (int k = 1; k < view.rank(); ++k) bytes *= view.shape[k];
  return bytes;
}

TaskOperand dense(const Ref& ref, int64_t lo, int64_t hi) { return rows(ref, lo, hi, true); }

// Calls body(first block, position in the part, elements) for each of a part's blocks, on all cores.
template <class Body>
void for_blocks(int64_t lo, int64_t hi, int64_t block, Parallel& parallel, const Body& body) {
  const int64_t first = lo / block, blocks = ceil_div(hi - lo, block), pieces = std::min<int64_t>(blocks, 8 * parallel.width());
  parallel.run(pieces, [&](int64_t p) {
    for (int64_t b = blocks * p / pieces; b < blocks * (p + 1) / pieces; ++b)
      body(first + b, b * block, std::min(block, hi - lo - b * block));
  });
}

void plan_count(const Record& record, CallPlan& plan) {
  const Ref &mask = record.inputs[0], &out = record.outputs[0];
  const int64_t n = mask.view.shape[0], block = mask_block(n);
  const TilingPtr parts = parts_of(mask, block, plan);
  for (int64_t t = 0; t < parts->tile_count(); ++t) {
    const Box box = parts->tile_box(t);
    if (box.empty()) continue;
    const int64_t lo = box.lo[0], hi = box.hi[0];
    Task task;
    task.device = parts->owner(t);
    task.inputs.push_back(dense(mask, lo, hi));
    task.outputs.push_back(rows(out, lo / block, ceil_div(hi, block)));
    task.cost = static_cast<double>(hi - lo) / 16;
    task.body = [lo, hi, block](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      const auto* mask = reinterpret_cast<const uint8_t*>(in[0].base);
      for_blocks(lo, hi, block, parallel, [&](int64_t b, int64_t at, int64_t count) {
        const int64_t chosen = simd::count_true(mask + at, count);
        std::memcpy(out[0].base + (b - lo / block) * out[0].strides[0], &chosen, sizeof chosen);
      });
    };
    plan.add(std::move(task));
  }
}

void plan_extract(const Record& record, CallPlan& plan) {
  const auto sums = std::make_shared<const BlockSums>(sums_of(record));
  const Ref &mask = record.inputs[0], &out = record.outputs[0];
  const bool has_values = record.inputs.size() > 1;
  const int64_t block = sums->block, bytes = row_bytes(out.view);
  const TilingPtr parts = parts_of(mask, block, plan);
  plan.place(out.store, result_tiling(out.view.shape, out.view.itemsize, *parts, *sums, plan));
  for (int64_t t = 0; t < parts->tile_count(); ++t) {
    const Box box = parts->tile_box(t);
    if (box.empty()) continue;
    const int64_t lo = box.lo[0], hi = box.hi[0], first = sums->before[lo / block], end = sums->before[ceil_div(hi, block)];
    if (first == end) continue;
    Task task;
    task.device = parts->owner(t);
    task.inputs.push_back(dense(mask, lo, hi));
    if (has_values) task.inputs.push_back(dense(record.inputs[1], lo, hi));
    task.outputs.push_back(rows(out, first, end));
    task.cost = static_cast<double>(hi - lo) * (0.25 + static_cast<double>(bytes) / 64);
    task.body = [lo, hi, bytes, sums](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      const auto* mask = reinterpret_cast<const uint8_t*>(in[0].base);
      const int64_t* before = sums->before.data();
      const int64_t first = before[lo / sums->block];
      for_blocks(lo, hi, sums->block, parallel, [&](int64_t b, int64_t at, int64_t count) {
        const int64_t chosen = before[b + 1] - before[b];
        char* to = out[0].base + (before[b] - first) * bytes;
        if (chosen == 0) return;
        if (in.size() > 1) simd::pack_chosen(mask + at, in[1].base + at * bytes, bytes, count, to, chosen);
        else simd::pack_positions(mask + at, lo + at, count, reinterpret_cast<int64_t*>(to), chosen);
      });
    };
    plan.add(std::move(task));
  }
}

void plan_expand(const Record& record, CallPlan& plan) {
  const auto sums = std::make_shared<const BlockSums>(sums_of(record));
  const Ref &mask = record.inputs[0], &values = record.inputs[1], &out = record.outputs[0];
  const int64_t block = sums->block, bytes = row_bytes(out.view);
  const TilingPtr parts = parts_of(mask, block, plan);
  std::vector<Cuts> cuts{parts->grid().cuts(0)};
  for (int k = 1; k < out.view.rank(); ++k) cuts.push_back(Cuts::whole(out.view.shape[k]));
  std::vector<int32_t> owners;
  for (int64_t t = 0; t < parts->tile_count(); ++t) owners.push_back(parts->owner(t));
  plan.place(out.store, Tiling::from_cuts(out.view.itemsize, std::move(cuts), partition::Owners::listed(std::move(owners))));
  for (int64_t t = 0; t < parts->tile_count(); ++t) {
    const Box box = parts->tile_box(t);
    if (box.empty()) continue;
    const int64_t lo = box.lo[0], hi = box.hi[0];
    Task task;
    task.device = parts->owner(t);
    task.inputs.push_back(dense(mask, lo, hi));
    task.inputs.push_back(dense(values, sums->before[lo / block], sums->before[ceil_div(hi, block)]));
    task.outputs.push_back(rows(out, lo, hi));
    task.cost = static_cast<double>(hi - lo) * (1 + static_cast<double>(bytes) / 64);
    task.body = [lo, hi, bytes, sums](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      const int64_t* before = sums->before.data();
      const int64_t first = before[lo / sums->block];
      for_blocks(lo, hi, sums->block, parallel, [&](int64_t b, int64_t at, int64_t count) {
        const char *mask = in[0].base + at, *from = in[1].base + (before[b] - first) * bytes;
        char* to = out[0].base + at * bytes;
        for (int64_t i = 0; i < count; ++i, to += bytes) {
          if (mask[i]) std::memcpy(to, from, bytes), from += bytes;
          else std::memset(to, 0, bytes);
        }
      });
    };
    plan.add(std::move(task));
  }
}

// When the program starts, so that every rank knows the families before the stream names them.
const uint16_t kCount = register_family({"count of a mask", plan_count});
const uint16_t kExtract = register_family({"selection by a mask", plan_extract});
const uint16_t kExpand = register_family({"assignment by a mask", plan_expand});

}  // namespace

std::vector<char> BlockSums::bytes() const {
  std::vector<char> bytes(sizeof(int64_t) * (before.size() + 1));
  std::memcpy(bytes.data(), &block, sizeof block);
  std::memcpy(bytes.data() + sizeof block, before.data(), before.size() * sizeof(int64_t));
  return bytes;
}

int64_t mask_block(int64_t n) { return kBlock * std::max<int64_t>(1, ceil_div(n, kBlock * kMostBlocks)); }

uint16_t count_family() { return kCount; }
uint16_t extract_family() { return kExtract; }
uint16_t expand_family() { return kExpand; }

}  // namespace tilewise::ops
