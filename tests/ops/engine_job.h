// A whole job in one thread: engines of several ranks, each with devices of its own, joined by the local transport.
//
// Records are applied to every rank in turn (submitting never waits), as the leader and its workers would. One machine of
// enough CPU devices serves all jobs of the process.
#pragma once

#include <memory>
#include <vector>

#include "ops/op_table.h"
#include "ops/opcode.h"
#include "runtime/engine.h"

namespace tilewise::testing {

struct Value {
  StoreId store = 0;
  partition::View view;
};

class EngineJob {
 public:
  // few_ranks: as Job's.
  EngineJob(int ranks, int devices_per_rank, int64_t min_tile, int few_ranks = 8);
  ~EngineJob();

  Value host(const std::vector<double>& values, const Dims& shape);
  // A row over operands of equal shape (views broadcast by the caller). Without `to`, a new store.
  Value apply(Opcode op, const std::vector<Value>& operands, const Value* to = nullptr, DType result = DType::kFloat64);
  Value apply(Opcode op, const Value& a, double b, const Value* to = nullptr);
  Value copy(const Value& a, const Value* to = nullptr);
  Value fresh(const Dims& shape);  // contents undefined
  // keepdims form
  Value reduce(Opcode op, const Value& a, uint64_t axes);
  Value moments(const Value& a, uint64_t axes);
  void drop(const Value& a);
  std::vector<double> read(const Value& a);

  std::vector<std::unique_ptr<Engine>>& engines() { return engines_; }
  void record(Record& record);
  StoreId next_id() { return next_++; }

 private:
  Value reduced(Record& record, const Value& a, uint64_t axes, DType type);
  std::vector<std::unique_ptr<comm::Transport>> transports_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::unique_ptr<Engine>> engines_;
  StoreId next_ = 1;
};

// View helpers.
Value slice(const Value& a, int axis, int64_t start, int64_t stop, int64_t step = 1);
Value transpose(const Value& a);
Value broadcast(const Value& a, const Dims& shape);

}  // namespace tilewise::testing
