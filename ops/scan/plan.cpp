#include "ops/scan/plan.h"

#include <algorithm>
#include <cstring>

#include "ops/op_table.h"
#include "ops/scan/kernel.h"
#include "partition/domain.h"
#include "partition/tiling.h"

namespace tilewise::ops {

namespace {

using partition::Box;
using partition::Cuts;
using partition::DomainPartition;
using partition::Tiling;
using partition::TilingPtr;
using partition::View;

// As the source lies, cut between blocks.
DomainPartition domain_of(const Ref& source, const ScanForm& form, const CallPlan& plan) {
  const View& view = source.view;
  if (view.count() < 2 * plan.min_tile()) return DomainPartition::single(view.shape, 0);
  Dims multiples(view.rank(), 1);
  multiples[form.axis] = form.blocks ? kScanBlock : std::max<int64_t>(view.shape[form.axis], 1);
  return DomainPartition::induced(view, plan.tiling(source.store), plan.devices(), multiples);
}

int owner_of(const DomainPartition& domain, int64_t part) { return std::max(domain.owner(part), 0); }

// Tiles like the domain's parts: axis k of the store is axis order[k] of the domain, cut where `cuts` says.
template <class CutsOf>
TilingPtr tiled_like(const DomainPartition& domain, DType dtype, const SmallVec<int, 6>& order, const CutsOf& cuts_of) {
  std::vector<Cuts> cuts;
  int64_t count = 1;
  for (int k : order) {
    cuts.push_back(cuts_of(k));
    count *= cuts.back().count();
  }
  std::vector<int32_t> owners(static_cast<size_t>(count));
  for (int64_t tile = 0; tile < count; ++tile) {
    Dims at(order.size());
    int64_t rest = tile, part = 0;
    for (int k = order.size() - 1; k >= 0; --k) {
      at[order[k]] = rest % cuts[k].count();
      rest /= cuts[k].count();
    }
    for (int k = 0; k < at.size(); ++k) part = part * domain.grid().cuts(k).count() + at[k];
    owners[static_cast<size_t>(tile)] = owner_of(domain, part);
  }
  return Tiling::from_cuts(itemsize(dtype), std::move(cuts), partition::Owners::listed(std::move(owners)));
}

// The result lies as its parts are computed: it is new, and its view is its whole memory in some order of axes.
void place_result(const Record& record, const DomainPartition& domain, CallPlan& plan) {
  const Ref& out = record.outputs[0];
  const SmallVec<int, 6> order = out.view.memory_order();
  Dims base;
  for (int k : order) base.push_back(out.view.shape[k]);
  for (const Birth& birth : record.births)
    if (birth.store == out.store && birth.base_shape == base)
      plan.place(out.store, tiled_like(domain, out.view.dtype, order, [&](int k) { return domain.grid().cuts(k); }));
}

Box blocks_of(const Box& box, const ScanForm& form, bool before) {
  Box blocks = box;
  const int k = form.axis;
  blocks.lo[k] = before ? 0 : box.lo[k] / kScanBlock;
  blocks.hi[k] = before ? box.lo[k] / kScanBlock : (box.hi[k] + kScanBlock - 1) / kScanBlock;
  return blocks;
}

void plan_scan(const Record& record, CallPlan& plan) {
  ScanForm form;
  std::memcpy(&form, record.bytes.data(), sizeof(form));
  const Ref &source = record.inputs[0], &out = record.outputs[0];
  const DType dtype = out.view.dtype;
  const DomainPartition domain = domain_of(source, form, plan);
  place_result(record, domain, plan);
  const int64_t extent = out.view.shape[form.axis];

  const bool tells = row(form.op).fp_for(dtype) != Never;
  const bool cut = domain.grid().cuts(form.axis).count() > 1;
  StoreId totals = 0;
  View totals_view;
  if (cut) {
    Dims shape = out.view.shape;
    shape[form.axis] = (extent + kScanBlock - 1) / kScanBlock;
    totals_view = partition::dense_view(shape, dtype, itemsize(dtype));
    SmallVec<int, 6> order;
    for (int k = 0; k < shape.size(); ++k) order.push_back(k);
    totals = plan.temporary(shape, itemsize(dtype), tiled_like(domain, dtype, order, [&](int k) {
      const Cuts& own = domain.grid().cuts(k);
      if (k != form.axis) return own;
      std::vector<int64_t> at;
      for (int64_t i = 1; i < own.count(); ++i) at.push_back((own.cut(i) + kScanBlock - 1) / kScanBlock);
      return Cuts::at(shape[k], at);
    }));
    for (int64_t part = 0; part < domain.part_count(); ++part) {
      const Box box = domain.part_box(part);
      if (box.empty() || box.hi[form.axis] == extent) continue;  // nothing comes behind the last
      Task task;
      task.device = owner_of(domain, part);
      task.inputs.push_back({source.store, source.view, box});
      task.outputs.push_back({totals, totals_view, blocks_of(box, form, false)});
      task.cost = 4 * static_cast<double>(box.count());
      task.tells = tells;
      task.body = [form, dtype](std::span<const Bound> in, std::span<const Bound> to, Parallel& parallel) {
        scan_totals(form, dtype, in[0], to[0], parallel);
      };
      plan.add(std::move(task));
    }
    plan.next_step();
  }
  for (int64_t part = 0; part < domain.part_count(); ++part) {
    const Box box = domain.part_box(part);
    if (box.empty()) continue;
    Task task;
    task.device = owner_of(domain, part);
    task.inputs.push_back({source.store, source.view, box});
    if (cut && box.lo[form.axis] > 0) task.inputs.push_back({totals, totals_view, blocks_of(box, form, true)});
    task.outputs.push_back({out.store, out.view, box});
    task.cost = 4 * static_cast<double>(box.count());
    task.tells = tells;
    task.body = [form, dtype](std::span<const Bound> in, std::span<const Bound> to, Parallel& parallel) {
      scan_part(form, dtype, in[0], in.size() > 1 ? &in[1] : nullptr, to[0], parallel);
    };
    plan.add(std::move(task));
  }
  plan.next_step();
}

// When the program starts, so that every rank knows the family before the stream names it.
const uint16_t kScanFamily = register_family({"scan", plan_scan});

}  // namespace

uint16_t scan_family() { return kScanFamily; }

}  // namespace tilewise::ops
