#include "ops/simd/lane_reducer.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "ops/ref/reduce.h"
#include "ops/simd/arg_better.h"
#include "ops/simd/combine.h"
#include "ops/simd/fp_status.h"
#include "ops/simd/moment_status.h"
#include "partition/tree.h"
#include "runtime/base/convert.h"

namespace tilewise::ops::simd {

namespace {

using partition::kLanes;
using partition::kLaneUnit;

// Reductions whose operation has lane kernels.
class FastReducer final : public LaneReducer {
 public:
  FastReducer(Arena& arena, const PlannedReduction& planned) : LaneReducer(planned), kernel_(planned.lanes) {
    lanes_ = arena.bytes(kLanes * size_);
    part_ = arena.bytes(kLanes * size_);
  }
  void begin_unit(int64_t) override { first_ = true; }
  void take(const char* values, int64_t count) override {
    const int64_t steps = count / kLanes, rest = count % kLanes;
    if (steps) {
      kernel_.accumulate(lanes_, values, steps, first_);
      first_ = false;
    }
    if (!rest) return;
    std::memcpy(part_, values + steps * kLanes * size_, rest * size_);
    for (int64_t l = rest; l < kLanes; ++l) std::memcpy(part_ + l * size_, kernel_.identity, size_);
    kernel_.accumulate(lanes_, part_, 1, first_);
    first_ = false;
  }
  void end_unit(char* state) override { kernel_.fold(lanes_, kLanes, state); }
  void rows(const char* values, int64_t rows, int64_t n, int64_t position, char* states) override {
    if (n < kLanes) kernel_.rows(values, rows, n, states);
    else LaneReducer::rows(values, rows, n, position, states);
  }

 private:
  const LaneKernel& kernel_;
  char* lanes_;
  char* part_;
  bool first_ = true;
};

// Any operation by its row's kernel; absent lanes are left out.
class RowReducer final : public LaneReducer {
 public:
  RowReducer(Arena& arena, const PlannedReduction& planned) : LaneReducer(planned), kernel_(planned.row) {
    lanes_ = arena.bytes((kLanes + kMaxQuantum) * size_);
    part_ = arena.bytes((kLanes + kMaxQuantum) * size_);
    joined_ = arena.bytes((kLanes + kMaxQuantum) * size_);
  }
  void begin_unit(int64_t) override { present_ = 0; }
  void take(const char* values, int64_t count) override {
    for (; count >= kLanes; count -= kLanes, values += kLanes * size_) step(values, kLanes);
    if (count) step(values, count);
  }
  void end_unit(char* state) override {
    for (int64_t w = kLanes / 2; w > 0; w /= 2) {
      const int64_t joins = std::min(w, present_ - w);
      if (joins > 0) join(lanes_ + w * size_, joins);
    }
    std::memcpy(state, lanes_, size_);
  }

 private:
  void step(const char* values, int64_t count) {
    if (!present_) {
      std::memcpy(lanes_, values, count * size_);
      present_ = count;
    } else {
      join(values, count);
    }
  }
  // The first `count` lanes join as many values.
  void join(const char* values, int64_t count) {
    const int64_t padded = (count + kernel_.quantum - 1) / kernel_.quantum * kernel_.quantum;
    std::memcpy(part_, values, count * size_);
    for (int64_t l = count; l < padded; ++l) std::memcpy(part_ + l * size_, part_, size_);
    Call call;
    call.extra = kernel_.extra;
    call.out = joined_;
    call.in[0] = lanes_;
    call.in[1] = part_;
    call.step[0] = call.step[1] = 1;
    if (padded > count) {  // what lies behind must not raise a flag
      std::memcpy(joined_, lanes_, count * size_);
      for (int64_t l = count; l < padded; ++l) std::memcpy(joined_ + l * size_, joined_, size_);
      call.in[0] = joined_;
    }
    kernel_.fn(call, padded);
    std::memcpy(lanes_, joined_, count * size_);
  }

  const KernelInfo& kernel_;
  char *lanes_, *part_, *joined_;
  int64_t present_ = 0;
};

// The least or greatest value and where it is.
template <class T, bool kSmallest>
class ArgReducer final : public LaneReducer {
 public:
  explicit ArgReducer(const PlannedReduction& planned)
      : LaneReducer(planned), kernel_(find_arg_kernel(planned.dtype, kSmallest)) {}
  void begin_unit(int64_t position) override {
    next_ = position;
    at_ = -1;
  }
  void take(const char* values, int64_t count) override {
    if (kernel_ && reinterpret_cast<uintptr_t>(values) % alignof(T) == 0) {
      int64_t found = at_ < 0 ? -1 : kMany;
      kernel_(values, count, &best_, &found);
      if (found != kMany) at_ = next_ + found;
    } else {
      for (int64_t i = 0; i < count; ++i) {
        T v;
        std::memcpy(&v, values + i * sizeof(T), sizeof(T));
        if (at_ >= 0 && !arg_better<T, kSmallest>(v, best_)) continue;
        best_ = v;
        at_ = next_ + i;
      }
    }
    next_ += count;
  }
  void end_unit(char* state) override {
    std::memcpy(state, &best_, sizeof(T));
    std::memcpy(state + arg_index_offset(planned_.dtype), &at_, 8);
  }

 private:
  static constexpr int64_t kMany = int64_t{1} << 60;  // no position of a block
  const ArgKernel kernel_;
  T best_{};
  int64_t at_ = -1, next_ = 0;
};

// Mean and squared deviations of a unit, from its values in cache.
template <class T>
class MomentsReducer final : public LaneReducer {
 public:
  using R = typename PartOf<T>::type;
  MomentsReducer(Arena& arena, const PlannedReduction& planned) : LaneReducer(planned) {
    unit_ = arena.array<T>(kLaneUnit);
    status_ = &MomentStatus::of_thread();
  }
  void begin_unit(int64_t) override {
    count_ = 0;
    values_ = unit_;
  }
  // A block is gone when the next comes: it is copied unless it is the whole unit.
  void take(const char* values, int64_t count) override {
    if (count == kLaneUnit && reinterpret_cast<uintptr_t>(values) % alignof(T) == 0) {
      values_ = reinterpret_cast<const T*>(values);
    } else {
      std::memcpy(unit_ + count_, values, count * sizeof(T));
    }
    count_ += count;
  }
  void end_unit(char* state) override {
    compute(state);
    if (status_->watch && take_fp_status(status_->watch)) attribute();
  }
  // The flags are read once for all rows: reading waits for what is under way.
  void rows(const char* values, int64_t rows, int64_t n, int64_t, char* states) override {
    const auto load = [&](int64_t r) {
      begin_unit(0);
      take(values + r * n * size_, n);
    };
    for (int64_t r = 0; r < rows; ++r) {
      load(r);
      compute(states + r * planned_.state_bytes);
    }
    if (!status_->watch || !take_fp_status(status_->watch)) return;
    for (int64_t r = 0; r < rows; ++r) {
      load(r);
      attribute();
    }
  }

 private:
  void compute(char* state) {
    if (kIsComplex<T> || !planned_.lanes.accumulate || !find_deviation_kernel(planned_.dtype)) end_plain(state);
    else if constexpr (!kIsComplex<T>) end_fast(state);
  }

  void end_plain(char* state) const {
    const T mean = by_lanes<T>([this](int64_t p) { return values_[p]; }) / static_cast<R>(count_);
    const R m2 = by_lanes<R>([this, mean](int64_t p) { return squared(values_[p] - mean); });
    std::memcpy(state, &mean, sizeof mean);
    std::memcpy(state + sizeof mean, &m2, sizeof m2);
  }

  // The unit once more by the reference, which watches its parts one by one.
  void attribute() {
    char state[sizeof(T) + sizeof(R)];
    const ref::Line line{reinterpret_cast<const char*>(values_), sizeof(T), 0, count_, true};
    ref::reduce_node({ReduceState::kMoments, 0, 0}, planned_.dtype, line, {0, 0, 0, count_}, state, status_->seen);
  }

  void end_fast(char* state) {
    const LaneKernel& add = planned_.lanes;
    const DeviationKernel deviations = find_deviation_kernel(planned_.dtype);
    const int64_t steps = count_ / kLanes, rest = count_ % kLanes;
    const T* tail = values_ + steps * kLanes;
    alignas(64) T lanes[kLanes], part[kLanes], mean;
    const auto add_part = [&] {  // absent lanes hold add's identity
      for (int64_t l = rest; l < kLanes; ++l) std::memcpy(part + l, add.identity, sizeof(T));
      add.accumulate(lanes, part, 1, steps == 0);
    };
    if (steps) add.accumulate(lanes, values_, steps, true);
    if (rest) {
      std::memcpy(part, tail, rest * sizeof(T));
      add_part();
    }
    add.fold(lanes, kLanes, &mean);
    mean /= static_cast<R>(count_);
    if (steps) deviations(lanes, values_, steps, &mean, true);
    if (rest) {
      for (int64_t l = 0; l < rest; ++l) part[l] = (tail[l] - mean) * (tail[l] - mean);
      add_part();
    }
    std::memcpy(state, &mean, sizeof mean);
    add.fold(lanes, kLanes, state + sizeof mean);
  }
  template <class S, class F>
  S by_lanes(const F& f) const {
    S lane[kLanes];
    const int64_t present = std::min(count_, kLanes);
    for (int64_t l = 0; l < present; ++l) lane[l] = f(l);
    int64_t at = kLanes;
    for (; at + kLanes <= count_; at += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) lane[l] += f(at + l);
    for (; at < count_; ++at) lane[at % kLanes] += f(at);
    for (int64_t w = kLanes / 2; w > 0; w /= 2)
      for (int64_t l = 0; l < w && l + w < present; ++l) lane[l] += lane[l + w];
    return lane[0];
  }

  static R squared(T d) {
    if constexpr (kIsComplex<T>) return d.real() * d.real() + d.imag() * d.imag();
    else return d * d;
  }

  MomentStatus* status_;
  T* unit_;
  const T* values_ = nullptr;
  int64_t count_ = 0;
};

template <class Made, class... Args>
LaneReducer* place(Arena& arena, Args&&... args) {
  return new (arena.bytes(sizeof(Made))) Made(std::forward<Args>(args)...);
}

}  // namespace

void LaneReducer::rows(const char* values, int64_t rows, int64_t n, int64_t position, char* states) {
  for (int64_t r = 0; r < rows; ++r) {
    begin_unit(position);
    take(values + r * n * size_, n);
    end_unit(states + r * planned_.state_bytes);
  }
}

LaneReducer* LaneReducer::make(Arena& arena, const PlannedReduction& planned, const Reduction& reduction) {
  switch (reduction.state) {
    case ReduceState::kPlain:
      if (planned.lanes.accumulate) return place<FastReducer>(arena, arena, planned);
      return place<RowReducer>(arena, arena, planned);
    case ReduceState::kArgMin:
      return visit(planned.dtype, [&](auto t) {
        return place<ArgReducer<typename decltype(t)::type, true>>(arena, planned);
      });
    case ReduceState::kArgMax:
      return visit(planned.dtype, [&](auto t) {
        return place<ArgReducer<typename decltype(t)::type, false>>(arena, planned);
      });
    case ReduceState::kMoments: break;
  }
  switch (planned.dtype) {
    case DType::kFloat32: return place<MomentsReducer<float>>(arena, arena, planned);
    case DType::kFloat64: return place<MomentsReducer<double>>(arena, arena, planned);
    case DType::kComplex64: return place<MomentsReducer<std::complex<float>>>(arena, arena, planned);
    case DType::kComplex128: return place<MomentsReducer<std::complex<double>>>(arena, arena, planned);
    default: TW_CHECK(false, "no moments of ", name(planned.dtype));
  }
}

StateJoin make_join(const PlannedReduction& planned, const Reduction& reduction) {
  return {reduction, planned.dtype, planned.state_bytes, planned.lanes.join};
}

int64_t value_offset(const Reduction& reduction, DType dtype) {
  return ref::reduced_value(reduction, dtype, nullptr) - static_cast<const char*>(nullptr);
}

void StateJoin::operator()(char* into, const char* from, int64_t width, int64_t into_positions,
                           int64_t from_positions) const {
  if (width == 1 && one) return one(into, from);
  if (reduction.state == ReduceState::kMoments) {
    MomentStatus& status = MomentStatus::of_thread();
    if (status.watch)
      return combine_moments(reduction, dtype, into, from, width, into_positions, from_positions, status.seen, status.watch);
  }
  combine_simd(reduction, dtype, into, from, width, into_positions, from_positions, nullptr);
}

}  // namespace tilewise::ops::simd
