#include "ops/random/plan.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "ops/random/kernel.h"
#include "partition/tiling.h"
#include "runtime/base/error.h"
#include "runtime/record.h"
#include "runtime/step.h"

namespace tilewise::ops {

namespace {

using partition::Box;
using partition::Tiling;
using partition::TilingPtr;

constexpr int64_t kCountBlock = 1 << 14;  // elements of the stream for which a count is sent
constexpr double kCost = 1.5;             // of a value

// What the tasks of a record share.
struct Shared {
  RandomCall call;
  std::unique_ptr<const RandomKernel> kernel;
  int32_t itemsize = 8;
  Dims shape;
};
using SharedPtr = std::shared_ptr<const Shared>;

RandomState start_of(const Shared& shared, std::span<const Bound> in) {
  if (!shared.call.takes_input) return shared.call.start;
  RandomState state;
  std::memcpy(&state, in[0].base, sizeof(state));  // one axis, dense wherever it lies
  return state;
}

// Calls f(first, last, at) for each run of the box that is contiguous in C order: the values' indices in the whole array,
// and where they go. The output's innermost axis is dense.
template <class F>
void for_each_run(const Dims& shape, const Box& box, const Bound& out, int64_t itemsize, F&& f) {
  const int rank = shape.size();
  int axis = rank;  // axes from here on make one run
  int64_t length = 1, whole = 1;
  while (axis > 0 && (length == whole) && (box.extent(axis - 1) == 1 || out.strides[axis - 1] == length * itemsize)) {
    --axis;
    length *= box.extent(axis);
    whole *= shape[axis];
  }
  const Dims all = c_strides(shape, 1);
  Dims at(axis, 0);
  for (;;) {
    int64_t index = 0;
    char* to = out.base;
    for (int k = 0; k < rank; ++k) index += box.lo[k] * all[k];
    for (int k = 0; k < axis; ++k) {
      index += at[k] * all[k];
      to += at[k] * out.strides[k];
    }
    f(index, index + length, to);
    int k = axis - 1;
    for (; k >= 0 && ++at[k] == box.extent(k); --k) at[k] = 0;
    if (k < 0) return;
  }
}

// One task's values; the state behind the last value of all, if the task has it, to `end`.
void fill_box(const Shared& shared, const Box& box, std::span<const Bound> in, std::span<const Bound> out, int64_t blocks,
              Parallel& parallel) {
  const RandomState start = start_of(shared, in);
  const auto* counts = blocks ? reinterpret_cast<const int64_t*>(in.back().base) : nullptr;
  const int64_t total = count_of(shared.shape);
  for_each_run(shared.shape, box, out[0], shared.itemsize, [&](int64_t first, int64_t last, char* to) {
    const Entry entry = shared.kernel->locate(start, kCountBlock, blocks, counts, first);
    const int64_t position = shared.kernel->fill(start, entry, first, last, to, parallel);
    if (last != total || out.size() < 2) return;
    const RandomState end = shared.kernel->state_at(start, position);
    std::memcpy(out[1].base, &end, sizeof(end));
  });
}

class Plan {
 public:
  Plan(const Record& record, CallPlan& plan) : record_(record), plan_(plan), out_(record.outputs[0]) {
    auto shared = std::make_shared<Shared>();
    shared->call = RandomCall::from(record.bytes);
    shared->kernel = random_kernel(shared->call.draw);
    shared->itemsize = out_.view.itemsize;
    shared->shape = out_.view.shape;
    shared_ = shared;
  }

  void make() {
    const Tiling& tiling = plan_.tiling(out_.store);
    if (record_.outputs.size() > 1) place_end(tiling);
    count_values(tiling);
    for (int64_t t = 0; t < tiling.tile_count(); ++t)
      if (!tiling.tile_box(t).empty()) plan_.add(fill_task(tiling, t));
    plan_.next_step();
  }

 private:
  void place_end(const Tiling& tiling) {
    const Ref& end = record_.outputs[1];
    const int64_t last = tiling.tile_count() - 1;
    plan_.place(end.store, tiling.is_replicated() ? Tiling::replicated({kStateWords}, 8)
                                                  : Tiling::single({kStateWords}, 8, last_owner(tiling, last)));
  }
  static int last_owner(const Tiling& tiling, int64_t tile) {
    while (tile > 0 && tiling.tile_box(tile).empty()) --tile;
    return std::max(tiling.owner(tile), 0);
  }

  void add_start(Task& task) const {
    if (!shared_->call.takes_input) return;
    const Ref& state = record_.inputs[0];
    task.inputs.push_back({state.store, state.view, Box::of(state.view.shape), false, true});
  }

  // The step of the counts, where there are several tiles of an uncertain distribution. All but the last tile's values
  // lie in the blocks counted, if the stream is as it is on average; if not, a task reads on from the last block.
  void count_values(const Tiling& tiling) {
    if (shared_->kernel->fixed() || tiling.tile_count() == 1) return;
    const int64_t total = count_of(shared_->shape);
    const double elements = shared_->kernel->elements(static_cast<double>(total - total / plan_.devices()));
    blocks_ = static_cast<int64_t>(elements) / kCountBlock;
    if (blocks_ == 0) return;
    const Dims shape = {blocks_, 2};
    const TilingPtr even = Tiling::even(shape, 8, 0, static_cast<int>(std::min<int64_t>(blocks_, plan_.devices())));
    counts_ = plan_.temporary(shape, 8, even);
    for (int64_t t = 0; t < even->tile_count(); ++t) {
      const Box box = even->tile_box(t);
      if (box.empty()) continue;
      Task task;
      task.device = std::max(even->owner(t), 0);
      add_start(task);
      task.outputs.push_back({counts_, counts_view(), box, false, true});
      task.cost = kCost * static_cast<double>(box.extent(0) * kCountBlock);
      task.body = [shared = shared_, box](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
        shared->kernel->count(start_of(*shared, in), kCountBlock, box.lo[0], box.hi[0],
                              reinterpret_cast<int64_t*>(out[0].base), parallel);
      };
      plan_.add(std::move(task));
    }
    plan_.next_step();
  }

  partition::View counts_view() const { return partition::dense_view({blocks_, 2}, DType::kInt64, 8); }

  Task fill_task(const Tiling& tiling, int64_t t) const {
    const Box box = tiling.tile_box(t);
    Task task;
    task.device = std::max(tiling.owner(t), 0);
    task.everywhere = tiling.is_replicated();
    add_start(task);
    if (blocks_) task.inputs.push_back({counts_, counts_view(), Box::of({blocks_, 2}), false, true});
    task.outputs.push_back({out_.store, out_.view, box});
    if (record_.outputs.size() > 1 && box.hi == shared_->shape) {
      const Ref& end = record_.outputs[1];
      task.outputs.push_back({end.store, end.view, Box::of(end.view.shape)});
    }
    task.cost = kCost * static_cast<double>(box.count());
    task.body = [shared = shared_, box, blocks = blocks_](std::span<const Bound> in, std::span<const Bound> out,
                                                          Parallel& parallel) {
      fill_box(*shared, box, in, out, blocks, parallel);
    };
    return task;
  }

  const Record& record_;
  CallPlan& plan_;
  const Ref& out_;
  SharedPtr shared_;
  StoreId counts_ = 0;
  int64_t blocks_ = 0;
};

void plan_random(const Record& record, CallPlan& plan) { Plan(record, plan).make(); }

// When the program starts, so that every rank knows the family before the stream names it.
const uint16_t kRandomFamily = register_family({"random", plan_random});

}  // namespace

uint16_t random_family() { return kRandomFamily; }

namespace {

struct CallWords {
  uint64_t distribution, dtype, scales, shifts, scale, shift, low, range, takes_input;
  RandomState start;
};
static_assert(std::has_unique_object_representations_v<CallWords>);

}  // namespace

std::vector<char> RandomCall::bytes() const {
  const CallWords words{static_cast<uint64_t>(draw.distribution), static_cast<uint64_t>(draw.dtype), draw.scales, draw.shifts,
                        std::bit_cast<uint64_t>(draw.scale), std::bit_cast<uint64_t>(draw.shift), draw.low, draw.range,
                        takes_input, start};
  const char* at = reinterpret_cast<const char*>(&words);
  return {at, at + sizeof(words)};
}

RandomCall RandomCall::from(const std::vector<char>& bytes) {
  CallWords words;
  TW_CHECK(bytes.size() == sizeof(words));
  std::memcpy(&words, bytes.data(), sizeof(words));
  RandomCall call;
  call.draw = {static_cast<Distribution>(words.distribution), static_cast<DType>(words.dtype), words.scales != 0,
               words.shifts != 0, std::bit_cast<double>(words.scale), std::bit_cast<double>(words.shift), words.low, words.range};
  call.start = words.start;
  call.takes_input = words.takes_input != 0;
  return call;
}

}  // namespace tilewise::ops
