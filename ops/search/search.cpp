// searchsorted: each device searches for the keys that it holds; the sorted values go to all.
#include <algorithm>
#include <cstring>

#include "ops/record_builder.h"
#include "ops/search.h"
#include "ops/search/order.h"
#include "partition/domain.h"
#include "runtime/step.h"

namespace tilewise::ops {

namespace {

using partition::Box;
using partition::DomainPartition;
using partition::Tiling;

// keys and out are dense blocks of a task.
template <class T, bool kRight>
void search_block(const Bound& sorted, const Bound& keys, const Bound& out, int64_t count, Parallel& parallel) {
  const auto* values = reinterpret_cast<const T*>(sorted.base);
  const auto* from = reinterpret_cast<const T*>(keys.base);
  auto* to = reinterpret_cast<int64_t*>(out.base);
  constexpr int64_t kGrain = 4096;
  constexpr int kKeys = 8;
  parallel.run((count + kGrain - 1) / kGrain, [&](int64_t p) {
    int64_t i = p * kGrain;
    const int64_t end = std::min(count, i + kGrain);
    for (; i + kKeys <= end; i += kKeys)
      search_several<kRight, kKeys>(values, sorted.shape[0], from + i, to + i);
    for (; i < end; ++i) search_several<kRight, 1>(values, sorted.shape[0], from + i, to + i);
  });
}

void plan_search(const Record& record, CallPlan& plan) {
  const Ref &sorted = record.inputs[0], &keys = record.inputs[1], &out = record.outputs[0];
  const bool right = record.bytes[0] != 0;
  const DType dtype = keys.view.dtype;
  DomainPartition domain = DomainPartition::single(keys.view.shape, 0);
  if (keys.view.count() >= 2 * plan.min_tile())
    domain = DomainPartition::induced(keys.view, plan.tiling(keys.store), plan.devices());
  if (domain.part_count() > 1) plan.place(out.store, Tiling::from_grid(out.view.itemsize, domain.grid()));
  for (int64_t part = 0; part < domain.part_count(); ++part) {
    const Box box = domain.part_box(part);
    if (box.empty()) continue;
    Task task;
    task.device = std::max(domain.owner(part), 0);
    task.inputs.push_back({sorted.store, sorted.view, Box::of(sorted.view.shape), false, true});
    task.inputs.push_back({keys.store, keys.view, box, false, true});
    task.outputs.push_back({out.store, out.view, box});
    task.outputs.back().contiguous = true;
    task.cost = 30 * static_cast<double>(box.count());
    task.body = [dtype, right, count = box.count()](std::span<const Bound> in, std::span<const Bound> to,
                                                    Parallel& parallel) {
      visit(dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        if (right) search_block<T, true>(in[0], in[1], to[0], count, parallel);
        else search_block<T, false>(in[0], in[1], to[0], count, parallel);
      });
    };
    plan.add(std::move(task));
  }
  plan.next_step();
}

const uint16_t kSearchFamily = register_family({"search", plan_search});

}  // namespace

Array search_sorted(const Array& sorted, const Array& keys, bool right) {
  Array result = new_array(keys.view.shape, DType::kInt64);
  if (result.view.empty()) return result;
  const Array* in[] = {&sorted, &keys};
  record_call(kSearchFamily, {static_cast<char>(right)}, in, result);
  return result;
}

}  // namespace tilewise::ops
