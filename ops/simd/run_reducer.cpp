#include "ops/simd/run_reducer.h"

#include <cstring>
#include <new>

#include "ops/ref/reduce.h"
#include "ops/simd/arg_better.h"
#include "ops/simd/fp_status.h"
#include "ops/simd/moment_status.h"
#include "partition/tree.h"
#include "runtime/launch.h"

namespace tilewise::ops::simd {

namespace {

using partition::kRunUnit;

class PlainRun final : public RunReducer {
 public:
  PlainRun(Arena& arena, const PlannedReduction& planned) : RunReducer(planned), kernel_(planned.row) {
    part_ = arena.bytes(2 * kMaxQuantum * size_);
    last_ = arena.bytes(2 * kMaxQuantum * size_);
  }

  void take(char* states, int64_t, bool first, int64_t column, const char* values, int64_t count) override {
    char* into = states + column * size_;
    if (first) {
      std::memcpy(into, values, count * size_);
      return;
    }
    const int64_t rest = count % kernel_.quantum, whole = count - rest;
    if (whole) join(into, into, values, whole);
    if (!rest) return;
    into += whole * size_;
    values += whole * size_;
    // On copies, padded with what is there: nothing beyond is read, and no other element can raise a flag.
    copy_padded(part_, into, rest);
    copy_padded(last_, values, rest);
    join(part_, part_, last_, kernel_.quantum);
    std::memcpy(into, part_, rest * size_);
  }
  void take_rows(char* states, int64_t position, bool first, const char* values, int64_t rows, int64_t columns) override {
    if (!planned_.lanes.runs || columns % kernel_.quantum) {
      RunReducer::take_rows(states, position, first, values, rows, columns);
      return;
    }
    if (first) {
      std::memcpy(states, values, columns * size_);
      values += columns * size_;
      --rows;
    }
    if (rows) planned_.lanes.runs(states, values, rows, columns);
  }
  void end_unit(char*, int64_t) override {}

 private:
  void copy_padded(char* to, const char* from, int64_t count) const {
    std::memcpy(to, from, count * size_);
    for (int64_t i = count; i < kernel_.quantum; ++i) std::memcpy(to + i * size_, from + (count - 1) * size_, size_);
  }
  void join(char* out, const char* a, const char* b, int64_t count) const {
    Call call;
    call.extra = kernel_.extra;
    call.out = out;
    call.in[0] = a;
    call.in[1] = b;
    call.step[0] = call.step[1] = 1;
    kernel_.fn(call, count);
  }

  const KernelInfo& kernel_;
  char *part_, *last_;
};

template <class T, bool kSmallest>
class ArgRun final : public RunReducer {
 public:
  ArgRun(Arena& arena, const PlannedReduction& planned, int64_t columns) : RunReducer(planned) {
    best_ = arena.array<T>(columns);
    at_ = arena.array<int64_t>(columns);
  }
  void take(char*, int64_t position, bool first, int64_t column, const char* values, int64_t count) override {
    T* best = best_ + column;
    int64_t* at = at_ + column;
    for (int64_t i = 0; i < count; ++i) {
      T v;
      std::memcpy(&v, values + i * sizeof(T), sizeof(T));
      const bool wins = first || arg_better<T, kSmallest>(v, best[i]);
      best[i] = wins ? v : best[i];
      at[i] = wins ? position : at[i];
    }
  }
  void end_unit(char* states, int64_t columns) override {
    const int64_t offset = arg_index_offset(planned_.dtype);
    for (int64_t i = 0; i < columns; ++i, states += planned_.state_bytes) {
      std::memcpy(states, best_ + i, sizeof(T));
      std::memcpy(states + offset, at_ + i, 8);
    }
  }

 private:
  T* best_;
  int64_t* at_;
};

// Keeps the rows of a unit: first their mean, then the squared deviations from it.
template <class T>
class MomentsRun final : public RunReducer {
 public:
  using R = typename PartOf<T>::type;
  MomentsRun(Arena& arena, const PlannedReduction& planned, int64_t columns) : RunReducer(planned), columns_(columns) {
    rows_ = arena.array<T>(kRunUnit * columns);
    mean_ = arena.array<T>(columns);
    m2_ = arena.array<R>(columns);
    status_ = &MomentStatus::of_thread();
  }
  void take(char*, int64_t, bool first, int64_t column, const char* values, int64_t count) override {
    if (first && column == 0) row_ = -1;
    if (column == 0) ++row_;
    std::memcpy(rows_ + row_ * columns_ + column, values, count * sizeof(T));
  }
  void end_unit(char* states, int64_t columns) override {
    compute(states, columns);
    if (status_->watch && take_fp_status(status_->watch)) attribute(columns);
  }

 private:
  void compute(char* states, int64_t columns) {
    const R count = static_cast<R>(row_ + 1);
    std::memcpy(mean_, rows_, columns * sizeof(T));
    for (int64_t r = 1; r <= row_; ++r)
      for (int64_t i = 0; i < columns; ++i) mean_[i] += rows_[r * columns_ + i];
    for (int64_t i = 0; i < columns; ++i) mean_[i] /= count;
    for (int64_t i = 0; i < columns; ++i) m2_[i] = squared(rows_[i] - mean_[i]);
    for (int64_t r = 1; r <= row_; ++r)
      for (int64_t i = 0; i < columns; ++i) m2_[i] += squared(rows_[r * columns_ + i] - mean_[i]);
    for (int64_t i = 0; i < columns; ++i, states += planned_.state_bytes) {
      std::memcpy(states, mean_ + i, sizeof(T));
      std::memcpy(states + sizeof(T), m2_ + i, sizeof(R));
    }
  }

  // The unit once more by the reference, which watches its parts one by one.
  void attribute(int64_t columns) {
    char state[sizeof(T) + sizeof(R)];
    for (int64_t i = 0; i < columns; ++i) {
      const ref::Line line{reinterpret_cast<const char*>(rows_ + i), static_cast<int64_t>(columns_ * sizeof(T)), 0, row_ + 1, false};
      ref::reduce_node({ReduceState::kMoments, 0, 0}, planned_.dtype, line, {0, 0, 0, row_ + 1}, state, status_->seen);
    }
  }

  static R squared(T d) {
    if constexpr (kIsComplex<T>) return d.real() * d.real() + d.imag() * d.imag();
    else return d * d;
  }

  int64_t columns_, row_ = -1;
  T *rows_, *mean_;
  R* m2_;
  MomentStatus* status_;
};

template <class Made, class... Args>
RunReducer* place(Arena& arena, Args&&... args) {
  return new (arena.bytes(sizeof(Made))) Made(arena, std::forward<Args>(args)...);
}

}  // namespace

RunReducer* RunReducer::make(Arena& arena, const PlannedReduction& planned, const Reduction& reduction, int64_t columns) {
  switch (reduction.state) {
    case ReduceState::kPlain: return place<PlainRun>(arena, planned);
    case ReduceState::kArgMin:
      return visit(planned.dtype, [&](auto t) {
        return place<ArgRun<typename decltype(t)::type, true>>(arena, planned, columns);
      });
    case ReduceState::kArgMax:
      return visit(planned.dtype, [&](auto t) {
        return place<ArgRun<typename decltype(t)::type, false>>(arena, planned, columns);
      });
    case ReduceState::kMoments: break;
  }
  switch (planned.dtype) {
    case DType::kFloat32: return place<MomentsRun<float>>(arena, planned, columns);
    case DType::kFloat64: return place<MomentsRun<double>>(arena, planned, columns);
    case DType::kComplex64: return place<MomentsRun<std::complex<float>>>(arena, planned, columns);
    case DType::kComplex128: return place<MomentsRun<std::complex<double>>>(arena, planned, columns);
    default: TW_CHECK(false, "no moments of ", name(planned.dtype));
  }
}

}  // namespace tilewise::ops::simd
