// What one rank of a large job spends on planning: statements recorded, fused, lowered and enqueued by the engine of one
// rank, while all others exist only as numbers. Messages are posted to a transport that takes and gives nothing.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "ops/op_table.h"
#include "ops/opcode.h"
#include "runtime/engine.h"

using namespace tilewise;
namespace op = tilewise::ops::op;
using partition::View;

namespace {

class Nowhere final : public comm::Transport {
 public:
  Nowhere(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  uint32_t capabilities() const override { return comm::kHostMemory | comm::kAnyThread; }
  const char* name() const override { return "nowhere"; }
  comm::Request isend(int, uint64_t, BufferView, StreamHandle) override { return {}; }
  comm::Request irecv(int, uint64_t, BufferView buffer, StreamHandle) override {
    std::fill_n(static_cast<char*>(buffer.data), buffer.bytes, '\0');
    return {};
  }
  void progress() override {}
  void abort(const std::string&) override {}

 private:
  int rank_, size_;
};

struct Value {
  StoreId store;
  View view;
};

class OneRank {
 public:
  OneRank(int rank, int size) : transport_(rank, size), queue_(make_thread_queue("exchange")) {
    Job job;
    job.rank = rank;
    job.size = size;
    job.local = {machine().devices()[0]};
    job.transport = &transport_;
    job.comm_queue = queue_.get();
    engine_ = std::make_unique<Engine>(job, 1000);
  }
  ~OneRank() { finish(); }

  Value fresh(const Dims& shape) { return {next_++, partition::dense_view(shape, DType::kFloat64, 8)}; }
  // The sum of the operands (of equal shapes), into `to` or a new array.
  Value add(const std::vector<Value>& operands, const Value* to = nullptr) {
    Record r;
    const Value out = to ? *to : fresh(operands[0].view.shape);
    if (!to) r.births.push_back({out.store, out.view.shape, 8});
    uint16_t sum = 0;
    for (const Value& v : operands) r.inputs.push_back({v.store, v.view});
    for (uint16_t i = 1; i < operands.size(); ++i) {
      r.code.push_back({op::add, DType::kFloat64, sum, i, kNone});
      r.types.push_back(DType::kFloat64);
      sum = static_cast<uint16_t>(operands.size() + i - 1);
    }
    r.results.push_back(sum);
    r.outputs.push_back({out.store, out.view});
    engine_->apply(r);
    return out;
  }
  Value constant(const Dims& shape) {
    Record r;
    const Value out = fresh(shape);
    r.births.push_back({out.store, shape, 8});
    r.params.push_back(Scalar::of(DType::kFloat64, 1.0));
    r.results.push_back(0);
    r.outputs.push_back({out.store, out.view});
    engine_->apply(r);
    return out;
  }
  Value sum(const Value& a, uint64_t axes) {
    Record r;
    r.kind = RecordKind::kReduce;
    r.reduction = {ReduceState::kPlain, op::add, axes};
    r.inputs.push_back({a.store, a.view});
    Dims shape = a.view.shape;
    for (int k = 0; k < shape.size(); ++k)
      if (axes >> k & 1) shape[k] = 1;
    Value out = fresh(shape);
    r.births.push_back({out.store, shape, 8});
    for (int k = 0; k < shape.size(); ++k)
      if (axes >> k & 1) out.view.strides[k] = 0;
    r.outputs.push_back({out.store, out.view});
    engine_->apply(r);
    return out;
  }
  void drop(const Value& v) { engine_->drop(v.store); }
  void finish() {
    engine_->flush();
    for (Event event : engine_->pending()) wait(event);
  }
  void flush() { engine_->flush(); }

 private:
  Nowhere transport_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Engine> engine_;
  StoreId next_ = 1;
};

Value slice(const Value& a, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  return {a.store, partition::slice(partition::slice(a.view, 0, row, 1, rows), 1, column, 1, columns)};
}

template <class F>
double best_of(OneRank& job, F&& f) {
  double best = 1e9;
  for (int i = 0; i < 30; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const Value result = f();
    job.flush();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    job.finish();
    job.drop(result);
  }
  return best * 1e6;
}

}  // namespace

int main() {
  ops::install();
  make_machine("cpu:1", 0, 1);
  std::printf("%10s %14s %14s %14s %14s %14s   us of one rank's planning\n", "ranks", "a + b", "shifted", "stencil", "sum()",
              "sum(axis=1)");
  for (int size : {2, 10, 100, 1000, 10000, 100000}) {
    OneRank job(size / 2, size);
    const int64_t rows = int64_t{32} * size, columns = 64;  // the same work for a rank in every job
    const Value a = job.constant({rows, columns}), b = job.constant({rows, columns});
    job.finish();
    const double plain = best_of(job, [&] { return job.add({a, b}); });
    const double shifted = best_of(job, [&] {
      return job.add({slice(a, 1, rows - 1, 0, columns), slice(b, 0, rows - 1, 0, columns)});
    });
    const double stencil = best_of(job, [&] {
      const int64_t r = rows - 2, c = columns - 2;
      const Value center = slice(a, 1, r, 1, c);
      job.add({center, slice(a, 0, r, 1, c), slice(a, 2, r, 1, c), slice(a, 1, r, 0, c), slice(a, 1, r, 2, c)}, &center);
      return job.constant({1});
    });
    const double sum = best_of(job, [&] { return job.sum(a, 3); });
    const double axis = best_of(job, [&] { return job.sum(a, 2); });
    std::printf("%10d %14.1f %14.1f %14.1f %14.1f %14.1f\n", size, plain, shifted, stencil, sum, axis);
  }
}
