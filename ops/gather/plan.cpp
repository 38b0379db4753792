#include "ops/gather/plan.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "ops/gather/tasks.h"
#include "partition/tiling.h"

namespace tilewise::ops {

namespace {

using partition::Box;
using partition::Cuts;
using partition::Owners;
using partition::Tiling;
using partition::TilingPtr;
using partition::View;

// Consecutive ranges of a first axis and who holds each.
struct Split {
  std::vector<int64_t> cuts;
  std::vector<int32_t> owners;

  int count() const { return static_cast<int>(owners.size()); }
};

// As the operand lies where it is cut along its first axis alone, into no more parts than there are devices; else evenly.
Split split_rows(const Ref& ref, const CallPlan& plan) {
  const int64_t rows = ref.view.shape[0];
  const int devices = static_cast<int>(std::clamp<int64_t>(ref.view.count() / std::max<int64_t>(plan.min_tile(), 1), 1, plan.devices()));
  TilingPtr tiling;
  const Tiling& lies = plan.tiling(ref.store);
  if (!lies.is_replicated() && lies.tile_count() > 1) tiling = partition::inherit(lies, ref.view);
  if (!tiling || tiling->is_replicated() || tiling->tile_count() > plan.devices() || tiling->grid().cuts(0).count() != tiling->tile_count())
    tiling = devices == 1 ? Tiling::single(ref.view.shape, ref.view.itemsize, 0)
                          : Tiling::even(ref.view.shape, ref.view.itemsize, 0, devices);
  Split split{{0}, {}};
  for (int64_t t = 0; t < tiling->tile_count(); ++t) {
    const int64_t end = std::min(tiling->tile_box(t).hi[0], rows);
    if (end <= split.cuts.back()) continue;
    split.cuts.push_back(end);
    split.owners.push_back(std::max(tiling->owner(t), 0));
  }
  return split;
}

TilingPtr tiling_of(const Split& split, const Dims& shape, int32_t itemsize) {
  if (split.count() == 1) return Tiling::single(shape, itemsize, split.owners[0]);
  std::vector<Cuts> cuts{Cuts::at(shape[0], {split.cuts.begin() + 1, split.cuts.end() - 1})};
  for (int k = 1; k < shape.size(); ++k) cuts.push_back(Cuts::whole(shape[k]));
  return Tiling::from_cuts(itemsize, std::move(cuts), Owners::listed(split.owners));
}

double cost_of(int64_t positions, const View& view) {
  return static_cast<double>(positions) * 0.5 * static_cast<double>(view.count() / std::max<int64_t>(view.shape[0], 1) + 1);
}

void plan_count_rows(const Record& record, CallPlan& plan) {
  const RowsCall call = RowsCall::from(record.bytes);
  const Ref &positions = record.inputs[0], &out = record.outputs[0];
  const Split parts = split_rows(positions, plan);
  const auto ranges = std::make_shared<const Ranges>(split_rows(record.inputs[1], plan).cuts);
  for (int p = 0; p < parts.count(); ++p) {
    Task task;
    task.device = parts.owners[p];
    task.inputs.push_back(rows(positions, parts.cuts[p], parts.cuts[p + 1], true));
    const int last = p + 1 == parts.count() ? call.devices : p + 1;  // rows of parts that there are not: zero
    task.outputs.push_back(rows(out, p, last));
    task.cost = static_cast<double>(parts.cuts[p + 1] - parts.cuts[p]) * 3;
    task.body = [ranges](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      const auto counts = count_by_range(reinterpret_cast<const int64_t*>(in[0].base), in[0].shape[0], *ranges, parallel);
      for (int64_t i = 0; i < out[0].shape[0]; ++i)
        for (int64_t q = 0; q < out[0].shape[1]; ++q) {
          const int64_t n = i == 0 && q < ranges->count() ? counts[q] : 0;
          std::memcpy(out[0].base + i * out[0].strides[0] + q * out[0].strides[1], &n, sizeof n);
        }
    };
    plan.add(std::move(task));
  }
}

// ---- Short lists ----------------------------------------------------------------------------------------------------

// Each part of the list fetches all rows; or, where the source is cut along another axis, each part of that axis stays.
void gather_from_all(const Record& record, CallPlan& plan) {
  const Ref &source = record.inputs[0], &positions = record.inputs[1], &out = record.outputs[0];
  const Tiling& lies = plan.tiling(source.store);
  TilingPtr across;
  if (source.view.rank() > 1 && !lies.is_replicated() && lies.tile_count() > 1) across = partition::inherit(lies, source.view);
  const auto add = [&](int device, Box box) {
    Task task;
    task.device = device;
    Box from = box;
    from.lo[0] = 0;
    from.hi[0] = source.view.shape[0];
    task.inputs.push_back({source.store, source.view, from});
    task.inputs.push_back(rows(positions, box.lo[0], box.hi[0], true));
    task.cost = cost_of(box.hi[0] - box.lo[0], out.view);
    task.outputs.push_back({out.store, out.view, std::move(box)});
    task.body = [size = out.view.itemsize](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      gather_local(in[0], 0, in[1], out[0], size, parallel);
    };
    plan.add(std::move(task));
  };
  if (across && !across->is_replicated() && across->tile_count() > 1 && across->grid().cuts(0).count() == 1) {
    std::vector<Cuts> cuts{Cuts::whole(out.view.shape[0])};
    std::vector<int32_t> owners;
    for (int k = 1; k < out.view.rank(); ++k) cuts.push_back(across->grid().cuts(k));
    for (int64_t t = 0; t < across->tile_count(); ++t) owners.push_back(across->owner(t));
    const TilingPtr tiling = Tiling::from_cuts(out.view.itemsize, std::move(cuts), Owners::listed(std::move(owners)));
    plan.place(out.store, tiling);
    for (int64_t t = 0; t < tiling->tile_count(); ++t)
      if (!tiling->tile_box(t).empty()) add(tiling->owner(t), tiling->tile_box(t));
    return;
  }
  const Split parts = split_rows(positions, plan);
  plan.place(out.store, tiling_of(parts, out.view.shape, out.view.itemsize));
  for (int p = 0; p < parts.count(); ++p) add(parts.owners[p], rows_of(out.view.shape, parts.cuts[p], parts.cuts[p + 1]));
}

RowUpdate update_for(const RowsCall& call, const Ref& dst) {
  return {call.mode == RowsMode::kCombine, call.op, dst.view.dtype, dst.view.itemsize};
}

// Every holder of rows sees the whole list.
void update_by_all(const RowsCall& call, const Record& record, CallPlan& plan) {
  const Ref &dst = record.inputs[0], &positions = record.inputs[1];
  const Split holders = split_rows(dst, plan);
  const int64_t count = positions.view.shape[0];
  for (int q = 0; q < holders.count(); ++q) {
    const int64_t lo = holders.cuts[q], hi = holders.cuts[q + 1];
    Task task;
    task.device = holders.owners[q];
    task.inputs.push_back(rows(dst, lo, hi));
    task.inputs.push_back(rows(positions, 0, count, true));
    if (record.inputs.size() > 2) task.inputs.push_back(rows(record.inputs[2], 0, count));
    task.outputs.push_back(rows(dst, lo, hi));
    task.cost = cost_of(count, dst.view);
    task.body = [update = update_for(call, dst), lo](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      keep_others(in[0], out[0], update.itemsize, parallel);
      update_local(update, out[0], lo, in[1], in.size() > 2 ? &in[2] : nullptr, parallel);
    };
    plan.add(std::move(task));
  }
}

// ---- Long lists -----------------------------------------------------------------------------------------------------

// Positions sorted by holder, then by part of the list, each part's in its order: what the two stores of an exchange hold.
class Exchange {
 public:
  Exchange(const RowsCall& call, const Record& record, const Ref& held, CallPlan& plan)
      : positions_(record.inputs[1]), parts(split_rows(positions_, plan)), holders(split_rows(held, plan)),
        ranges(std::make_shared<const Ranges>(holders.cuts)), plan_(plan), devices_(call.devices) {
    begin_.resize(static_cast<size_t>(holders.count()) * parts.count() + 1);
    for (int q = 0, k = 0; q < holders.count(); ++q)
      for (int p = 0; p < parts.count(); ++p, ++k) begin_[k + 1] = begin_[k] + call.counts[static_cast<size_t>(p) * devices_ + q];
    split_.cuts = {0};
    for (int q = 0; q < holders.count(); ++q) {
      if (end(q) == begin(q)) continue;
      split_.cuts.push_back(end(q));
      split_.owners.push_back(holders.owners[q]);
    }
  }

  int64_t begin(int holder, int part = 0) const { return begin_[static_cast<size_t>(holder) * parts.count() + part]; }
  int64_t end(int holder, int part) const { return begin(holder, part + 1); }
  int64_t end(int holder) const { return begin(holder, parts.count()); }

  // A store in that order: [positions, ...rest].
  Ref store(Dims shape, DType dtype, int32_t itemsize) {
    shape[0] = positions_.view.shape[0];
    return {plan_.temporary(shape, itemsize, tiling_of(split_, shape, itemsize)), partition::dense_view(shape, dtype, itemsize)};
  }

  // Each part of the list writes its positions (and values) to the holders.
  void send(const Ref& asked, const Ref* values, const Ref* carried) {
    for (int p = 0; p < parts.count(); ++p) {
      Task task = part_task(p);
      if (values) task.inputs.push_back(rows(*values, parts.cuts[p], parts.cuts[p + 1]));
      std::vector<int> with = regions(p, asked, &task.outputs);
      if (carried) regions(p, *carried, &task.outputs);
      task.cost *= 2;
      task.body = [ranges = ranges, with, size = carried ? carried->view.itemsize : 0](
                      std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
        const auto* at = reinterpret_cast<const int64_t*>(in[0].base);
        const size_t stores = in.size() > 1 ? out.size() / 2 : out.size();
        route(at, in[0].shape[0], *ranges, parallel, [&](int64_t begin, int64_t end, std::vector<int64_t>& next) {
          std::vector<const Bound*> asked(ranges->count()), carried(ranges->count());
          for (size_t k = 0; k < stores; ++k) {
            asked[with[k]] = &out[k];
            if (in.size() > 1) carried[with[k]] = &out[stores + k];
          }
          const RowCopy copy = in.size() > 1 ? RowCopy(out[stores].strides, in[1].strides, in[1].shape, size) : RowCopy({}, {}, {}, 0);
          for (int64_t i = begin; i < end; ++i) {
            const int q = ranges->of(at[i]);
            const int64_t to = next[q]++;
            std::memcpy(asked[q]->base + to * asked[q]->strides[0], &at[i], sizeof at[i]);
            if (in.size() > 1) copy(carried[q]->base + to * carried[q]->strides[0], in[1].base + i * in[1].strides[0]);
          }
        });
      };
      plan_.add(std::move(task));
    }
    plan_.next_step();
  }

  // Each part of the list takes the rows that the holders have put there, in the order of the list.
  void receive(const Ref& answers, const Ref& out) {
    for (int p = 0; p < parts.count(); ++p) {
      Task task = part_task(p);
      std::vector<int> with = regions(p, answers, &task.inputs);
      task.outputs.push_back(rows(out, parts.cuts[p], parts.cuts[p + 1]));
      task.cost = cost_of(parts.cuts[p + 1] - parts.cuts[p], out.view);
      task.body = [ranges = ranges, with, size = out.view.itemsize](std::span<const Bound> in, std::span<const Bound> out,
                                                                   Parallel& parallel) {
        const auto* at = reinterpret_cast<const int64_t*>(in[0].base);
        route(at, in[0].shape[0], *ranges, parallel, [&](int64_t begin, int64_t end, std::vector<int64_t>& next) {
          std::vector<const Bound*> from(ranges->count());
          for (size_t k = 0; k < with.size(); ++k) from[with[k]] = &in[k + 1];
          const RowCopy copy(out[0].strides, in[1].strides, out[0].shape, size);
          for (int64_t i = begin; i < end; ++i) {
            const Bound& answer = *from[ranges->of(at[i])];
            copy(out[0].base + i * out[0].strides[0], answer.base + next[ranges->of(at[i])]++ * answer.strides[0]);
          }
        });
      };
      plan_.add(std::move(task));
    }
    plan_.next_step();
  }

  template <class Add>
  void for_holders(const Add& add) {
    for (int q = 0; q < holders.count(); ++q)
      if (end(q) > begin(q)) add(q, holders.owners[q], holders.cuts[q], holders.cuts[q + 1]);
    plan_.next_step();
  }

 private:
  Task part_task(int p) const {
    Task task;
    task.device = parts.owners[p];
    task.inputs.push_back(rows(positions_, parts.cuts[p], parts.cuts[p + 1], true));
    task.cost = static_cast<double>(parts.cuts[p + 1] - parts.cuts[p]) * 4;
    return task;
  }
  // The part's regions of a store, and with which holder each is.
  std::vector<int> regions(int p, const Ref& ref, std::vector<TaskOperand>* operands) const {
    std::vector<int> with;
    for (int q = 0; q < holders.count(); ++q) {
      if (begin(q, p) == end(q, p)) continue;
      operands->push_back(rows(ref, begin(q, p), end(q, p)));
      with.push_back(q);
    }
    return with;
  }

  Ref positions_;

 public:
  const Split parts, holders;
  const std::shared_ptr<const Ranges> ranges;

 private:
  CallPlan& plan_;
  int devices_;
  std::vector<int64_t> begin_;
  Split split_;  // of the stores in that order
};

void gather_by_exchange(const RowsCall& call, const Record& record, CallPlan& plan) {
  const Ref &source = record.inputs[0], &out = record.outputs[0];
  Exchange exchange(call, record, source, plan);
  plan.place(out.store, tiling_of(exchange.parts, out.view.shape, out.view.itemsize));
  const Ref asked = exchange.store({0}, DType::kInt64, 8);
  const Ref answers = exchange.store(out.view.shape, out.view.dtype, out.view.itemsize);
  exchange.send(asked, nullptr, nullptr);
  exchange.for_holders([&](int q, int device, int64_t lo, int64_t hi) {
    Task task;
    task.device = device;
    task.inputs.push_back(rows(source, lo, hi));
    task.inputs.push_back(rows(asked, exchange.begin(q), exchange.end(q), true));
    task.outputs.push_back(rows(answers, exchange.begin(q), exchange.end(q)));
    task.cost = cost_of(exchange.end(q) - exchange.begin(q), out.view);
    task.body = [lo, size = out.view.itemsize](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      gather_local(in[0], lo, in[1], out[0], size, parallel);
    };
    plan.add(std::move(task));
  });
  exchange.receive(answers, out);
}

void update_by_exchange(const RowsCall& call, const Record& record, CallPlan& plan) {
  const Ref& dst = record.inputs[0];
  const Ref* values = record.inputs.size() > 2 ? &record.inputs[2] : nullptr;
  Exchange exchange(call, record, dst, plan);
  const Ref asked = exchange.store({0}, DType::kInt64, 8);
  Ref carried;
  if (values) carried = exchange.store(values->view.shape, values->view.dtype, values->view.itemsize);
  exchange.send(asked, values, values ? &carried : nullptr);
  exchange.for_holders([&](int q, int device, int64_t lo, int64_t hi) {
    Task task;
    task.device = device;
    task.inputs.push_back(rows(dst, lo, hi));
    task.inputs.push_back(rows(asked, exchange.begin(q), exchange.end(q), true));
    if (values) task.inputs.push_back(rows(carried, exchange.begin(q), exchange.end(q)));
    task.outputs.push_back(rows(dst, lo, hi));
    task.cost = cost_of(exchange.end(q) - exchange.begin(q), dst.view);
    task.body = [update = update_for(call, dst), lo](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      keep_others(in[0], out[0], update.itemsize, parallel);
      update_local(update, out[0], lo, in[1], in.size() > 2 ? &in[2] : nullptr, parallel);
    };
    plan.add(std::move(task));
  });
}

void plan_rows(const Record& record, CallPlan& plan) {
  const RowsCall call = RowsCall::from(record.bytes);
  const bool gather = call.mode == RowsMode::kGather;
  if (call.counted) return gather ? gather_by_exchange(call, record, plan) : update_by_exchange(call, record, plan);
  gather ? gather_from_all(record, plan) : update_by_all(call, record, plan);
}

// When the program starts, so that every rank knows the families before the stream names them.
const uint16_t kCountRows = register_family({"count of positions", plan_count_rows});
const uint16_t kRows = register_family({"rows by position", plan_rows});

struct Header {
  RowsMode mode;
  bool counted;
  Opcode op;
  int32_t devices;
};

}  // namespace

std::vector<char> RowsCall::bytes() const {
  const Header header{mode, counted, op, devices};
  std::vector<char> bytes(sizeof header + counts.size() * sizeof(int64_t));
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!counts.empty()) std::memcpy(bytes.data() + sizeof header, counts.data(), counts.size() * sizeof(int64_t));
  return bytes;
}

RowsCall RowsCall::from(const std::vector<char>& bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  RowsCall call{header.mode, header.counted, header.op, header.devices, {}};
  call.counts.resize((bytes.size() - sizeof header) / sizeof(int64_t));
  if (!call.counts.empty()) std::memcpy(call.counts.data(), bytes.data() + sizeof header, call.counts.size() * sizeof(int64_t));
  return call;
}

uint16_t count_rows_family() { return kCountRows; }
uint16_t rows_family() { return kRows; }

}  // namespace tilewise::ops
