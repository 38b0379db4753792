#include "tests/ops/engine_job.h"

#include <algorithm>

#include "comm/transports.h"

namespace tilewise::testing {

using partition::View;

namespace {

constexpr int kDevices = 8;

}  // namespace

EngineJob::EngineJob(int ranks, int devices_per_rank, int64_t min_tile, int few_ranks) {
  ops::install();
  static Machine& all = make_machine("cpu:" + std::to_string(kDevices), 0, 1);
  if (ranks > 1) transports_ = comm::make_local(ranks);
  for (int r = 0; r < ranks; ++r) {
    Job job;
    job.rank = r;
    job.size = ranks;
    job.few_ranks = few_ranks;
    for (int d = 0; d < devices_per_rank; ++d) job.local.push_back(all.devices()[r * devices_per_rank + d]);
    if (ranks > 1) {
      job.transport = transports_[r].get();
      queues_.push_back(make_thread_queue("exchange"));
      job.comm_queue = queues_.back().get();
    }
    engines_.push_back(std::make_unique<Engine>(job, min_tile));
  }
}

EngineJob::~EngineJob() {
  for (auto& engine : engines_) engine->flush();
  for (auto& engine : engines_)
    for (Event event : engine->pending()) wait(event);
  for (auto& engine : engines_) engine->stores().each([&](StoreState& store) { engine->stores().free_instances(store); });
}

void EngineJob::record(Record& record) {
  for (size_t r = 0; r < engines_.size(); ++r) {
    Record mine = record;
    if (r > 0 && record.bytes.empty()) mine.data = nullptr;
    engines_[r]->apply(mine);
  }
}

Value EngineJob::host(const std::vector<double>& values, const Dims& shape) {
  Record r;
  r.kind = RecordKind::kHostData;
  const StoreId id = next_++;
  r.births.push_back({id, shape, 8});
  const Value v{id, partition::dense_view(shape, DType::kFloat64, 8)};
  r.outputs.push_back({id, v.view});
  auto data = std::make_shared<std::vector<double>>(values);
  r.data = std::shared_ptr<const void>(data, data->data());
  // Small data travels in the record, as the session sends it.
  r.bytes.assign(reinterpret_cast<const char*>(values.data()), reinterpret_cast<const char*>(values.data() + values.size()));
  record(r);
  return v;
}

Value EngineJob::fresh(const Dims& shape) { return {0, partition::dense_view(shape, DType::kFloat64, 8)}; }

Value EngineJob::apply(Opcode op, const std::vector<Value>& operands, const Value* to, DType result) {
  Record r;
  for (const Value& v : operands) r.inputs.push_back({v.store, v.view});
  Value out;
  if (to) {
    out = *to;
  } else {
    out.store = next_++;
    out.view = partition::dense_view(operands[0].view.shape, result, itemsize(result));
    r.births.push_back({out.store, out.view.shape, itemsize(result)});
  }
  Instr instr{op, operands[0].view.dtype, 0, kNone, kNone};
  if (operands.size() > 1) instr.b = 1;
  if (operands.size() > 2) instr.c = 2;
  r.code.push_back(instr);
  r.types.push_back(out.view.dtype);
  r.results.push_back(static_cast<uint16_t>(operands.size()));
  r.outputs.push_back({out.store, out.view});
  record(r);
  return out;
}

Value EngineJob::apply(Opcode op, const Value& a, double b, const Value* to) {
  Record r;
  r.inputs.push_back({a.store, a.view});
  r.params.push_back(Scalar::of(DType::kFloat64, b));
  Value out = to ? *to : fresh(a.view.shape);
  if (!to) {
    out.store = next_++;
    r.births.push_back({out.store, out.view.shape, 8});
  }
  r.code.push_back({op, DType::kFloat64, 0, 1, kNone});
  r.types.push_back(DType::kFloat64);
  r.results.push_back(2);
  r.outputs.push_back({out.store, out.view});
  record(r);
  return out;
}

Value EngineJob::copy(const Value& a, const Value* to) {
  Record r;
  r.inputs.push_back({a.store, a.view});
  Value out = to ? *to : fresh(a.view.shape);
  if (!to) {
    out.store = next_++;
    r.births.push_back({out.store, out.view.shape, 8});
  }
  r.results.push_back(0);
  r.outputs.push_back({out.store, out.view});
  record(r);
  return out;
}

Value EngineJob::reduced(Record& r, const Value& a, uint64_t axes, DType type) {
  r.kind = RecordKind::kReduce;
  r.reduction.axes = axes;
  r.inputs.push_back({a.store, a.view});
  Value out;
  out.store = next_++;
  Dims shape = a.view.shape;
  for (int k = 0; k < shape.size(); ++k)
    if (axes >> k & 1) shape[k] = 1;
  out.view = partition::dense_view(shape, type, itemsize(type));
  r.births.push_back({out.store, shape, itemsize(type)});
  for (int k = 0; k < shape.size(); ++k)
    if (axes >> k & 1) out.view.strides[k] = 0;
  r.outputs.push_back({out.store, out.view});
  record(r);
  return out;
}

Value EngineJob::reduce(Opcode op, const Value& a, uint64_t axes) {
  Record r;
  r.reduction.op = op;
  return reduced(r, a, axes, a.view.dtype);
}

Value EngineJob::moments(const Value& a, uint64_t axes) {
  Record r;
  r.reduction.state = ReduceState::kMoments;
  return reduced(r, a, axes, a.view.dtype);
}

void EngineJob::drop(const Value& a) {
  Record r;
  r.kind = RecordKind::kDrop;
  r.inputs.push_back({a.store, {}});
  record(r);
}

std::vector<double> EngineJob::read(const Value& a) {
  std::vector<double> values(a.view.count());
  Record r;
  r.kind = RecordKind::kRead;
  r.inputs.push_back({a.store, a.view});
  r.destination = std::make_shared<ReadTarget>(values.data());
  std::vector<Event> events;
  for (size_t rank = 0; rank < engines_.size(); ++rank) {
    auto issued = engines_[rank]->apply(r);
    if (rank == 0) events = issued;
  }
  for (Event event : events) wait(event);
  for (auto& engine : engines_) engine->check();
  return values;
}

Value slice(const Value& a, int axis, int64_t start, int64_t stop, int64_t step) {
  const int64_t count = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
  return {a.store, partition::slice(a.view, axis, start, step, count)};
}

Value transpose(const Value& a) {
  SmallVec<int, 6> order;
  for (int k = a.view.rank() - 1; k >= 0; --k) order.push_back(k);
  return {a.store, partition::permute(a.view, order)};
}

Value broadcast(const Value& a, const Dims& shape) { return {a.store, partition::broadcast_to(a.view, shape)}; }

}  // namespace tilewise::testing
