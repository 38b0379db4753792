#include "ops/ref/reduce.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/ref/fn_arith.h"
#include "ops/ref/loop.h"
#include "ops/ref/make_loops.h"
#include "runtime/base/convert.h"

namespace tilewise::ops::ref {

namespace {

template <class T>
T get(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}

template <class T>
void put(char* p, T v) {
  std::memcpy(p, &v, sizeof(T));
}

// Whether candidate (v, at) replaces the best so far: NaN first, then the smaller (or larger), then the lower index.
template <class T>
bool wins(bool smallest, T v, int64_t at, T best, int64_t best_at) {
  if constexpr (kIsHalf<T>) {
    return wins(smallest, to_float(v), at, to_float(best), best_at);
  } else {
    if (fn::nan(v) != fn::nan(best)) return fn::nan(v);
    if (!fn::nan(v)) {
      if (smallest ? fn::less(v, best) : fn::less(best, v)) return true;
      if (smallest ? fn::less(best, v) : fn::less(v, best)) return false;
    }
    return at < best_at;
  }
}

void join_arg(bool smallest, DType dtype, char* into, const char* from) {
  visit(dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const int64_t offset = arg_index_offset(dtype);
    if (wins(smallest, get<T>(from), get<int64_t>(from + offset), get<T>(into), get<int64_t>(into + offset)))
      std::memcpy(into, from, offset + 8);
  });
}

// Calls f with the type of a mean that moments are kept in.
template <class F>
void visit_mean(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32: return f(TypeOf<float>());
    case DType::kFloat64: return f(TypeOf<double>());
    case DType::kComplex64: return f(TypeOf<std::complex<float>>());
    case DType::kComplex128: return f(TypeOf<std::complex<double>>());
    default: TW_CHECK(false, "no moments of ", name(dtype));
  }
}

template <class T>
auto squared(T v) {
  if constexpr (kIsComplex<T>) return v.real() * v.real() + v.imag() * v.imag();
  else return v * v;
}

// Computes into `made` and OR-s what the processor's flags say into *flags.
template <class T, class F>
void watch_part(uint8_t* flags, T* made, const F& compute) {
  const HardwareFlags hardware;
  compute();
  asm volatile("" : : "r"(made) : "memory");  // computed before the flags are read
  *flags |= hardware.seen();
}

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};

// Chan's formula. The weights are computed in double, so that counts beyond 2^24 are no matter.
template <class T>
struct MomentsJoin {
  using R = typename RealOf<T>::type;

  MomentsJoin(int64_t n, int64_t m)
      : share(static_cast<R>(static_cast<double>(m) / static_cast<double>(n + m))),
        weight(static_cast<R>(static_cast<double>(n) * (static_cast<double>(m) / static_cast<double>(n + m)))) {}

  T difference(const char* into, const char* from) const { return get<T>(from) - get<T>(into); }
  T mean(const char* into, const char* from, T delta) const {
    const T a = get<T>(into), b = get<T>(from);
    if constexpr (kIsComplex<T>) return {moved(a.real(), b.real(), delta.real()), moved(a.imag(), b.imag(), delta.imag())};
    else return moved(a, b, delta);
  }
  R m2(const char* into, const char* from, R square) const {
    return (get<R>(into + sizeof(T)) + get<R>(from + sizeof(T))) + square * weight;
  }

  R share, weight;

 private:
  // An infinite mean meets others as an infinite sum would.
  R moved(R a, R b, R delta) const { return std::isinf(a) ? a + b : a + delta * share; }
};

template <class T>
void join_moments(char* into, const char* from, int64_t count, int64_t n, int64_t m) {
  using R = typename RealOf<T>::type;
  const MomentsJoin<T> join(n, m);
  for (int64_t i = 0; i < count; ++i, into += sizeof(T) + sizeof(R), from += sizeof(T) + sizeof(R)) {
    const T delta = join.difference(into, from);
    const T mean = join.mean(into, from, delta);
    const R m2 = join.m2(into, from, squared(delta));
    put(into, mean);
    put(into + sizeof(T), m2);
  }
}

// The same part by part, to see which of them meets what: flags[0] in sums, [1] in differences, [2] in squares.
template <class T>
void join_moments_watched(char* into, const char* from, int64_t count, int64_t n, int64_t m, uint8_t* flags) {
  using R = typename RealOf<T>::type;
  constexpr int64_t kAtOnce = 64, kBytes = sizeof(T) + sizeof(R);
  const MomentsJoin<T> join(n, m);
  T delta[kAtOnce];
  R square[kAtOnce];
  for (int64_t first = 0; first < count; first += kAtOnce) {
    const int64_t some = std::min(kAtOnce, count - first);
    char* to = into + first * kBytes;
    const char* of = from + first * kBytes;
    watch_part(flags + 1, delta, [&] {
      for (int64_t i = 0; i < some; ++i) delta[i] = join.difference(to + i * kBytes, of + i * kBytes);
    });
    watch_part(flags + 2, square, [&] {
      for (int64_t i = 0; i < some; ++i) square[i] = squared(delta[i]);
    });
    watch_part(flags, to, [&] {
      for (int64_t i = 0; i < some; ++i) {
        const T mean = join.mean(to + i * kBytes, of + i * kBytes, delta[i]);
        const R m2 = join.m2(to + i * kBytes, of + i * kBytes, square[i]);
        put(to + i * kBytes, mean);
        put(to + i * kBytes + sizeof(T), m2);
      }
    });
  }
}

// The values of one unit joined by lanes or in order, where value(p) gives that of position p of the unit.
template <class T, class Value, class Join>
T join_unit(int64_t count, bool lanes, const Value& value, const Join& join) {
  if (!lanes) {
    T run = value(0);
    for (int64_t p = 1; p < count; ++p) run = join(run, value(p));
    return run;
  }
  const int64_t present = std::min(count, partition::kLanes);
  std::vector<T> lane(present);
  for (int64_t l = 0; l < present; ++l) {
    lane[l] = value(l);
    for (int64_t p = l + partition::kLanes; p < count; p += partition::kLanes) lane[l] = join(lane[l], value(p));
  }
  for (int64_t half = partition::kLanes / 2; half >= 1; half /= 2)
    for (int64_t l = 0; l < half && l + half < present; ++l) lane[l] = join(lane[l], lane[l + half]);
  return lane[0];
}

struct Bytes {
  alignas(16) char data[24] = {};
};

void unit_state(const Reduction& reduction, DType dtype, const Line& line, int64_t begin, int64_t end, char* state,
                uint8_t* flags) {
  const int64_t size = state_bytes(reduction, dtype);
  const auto source = [&](int64_t p) { return line.first + (begin + p - line.begin) * line.stride; };
  if (reduction.state == ReduceState::kMoments) {
    return visit_mean(dtype, [&](auto t) {
      using T = typename decltype(t)::type;
      using R = typename RealOf<T>::type;
      const auto plus = [](auto a, auto b) { return a + b; };
      const int64_t count = end - begin;
      std::vector<T> difference(count);
      std::vector<R> square(count);
      uint8_t none[kMomentParts];
      uint8_t* seen = flags ? flags : none;
      T mean;
      R m2;
      watch_part(seen, &mean, [&] {
        mean = join_unit<T>(count, line.lanes, [&](int64_t p) { return get<T>(source(p)); }, plus);
      });
      watch_part(seen + 3, &mean, [&] { mean = mean / static_cast<R>(count); });
      watch_part(seen + 1, difference.data(), [&] {
        for (int64_t p = 0; p < count; ++p) difference[p] = get<T>(source(p)) - mean;
      });
      watch_part(seen + 2, square.data(), [&] {
        for (int64_t p = 0; p < count; ++p) square[p] = squared(difference[p]);
      });
      watch_part(seen, &m2, [&] { m2 = join_unit<R>(count, line.lanes, [&](int64_t p) { return square[p]; }, plus); });
      put(state, mean);
      put(state + sizeof(T), m2);
    });
  }
  const auto value = [&](int64_t p) {
    Bytes b;
    std::memcpy(b.data, source(p), itemsize(dtype));
    if (reduction.state != ReduceState::kPlain) put(b.data + arg_index_offset(dtype), begin + p);
    return b;
  };
  const auto join = [&](Bytes a, const Bytes& b) {
    combine_states(reduction, dtype, a.data, b.data, 1, 1, 1, flags);
    return a;
  };
  const Bytes result = join_unit<Bytes>(end - begin, line.lanes, value, join);
  std::memcpy(state, result.data, size);
}

}  // namespace

void combine_states(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n, int64_t into_positions,
                    int64_t from_positions, uint8_t* flags) {
  const int64_t size = state_bytes(reduction, dtype);
  auto* to = static_cast<char*>(into);
  const auto* of = static_cast<const char*>(from);
  switch (reduction.state) {
    case ReduceState::kPlain: {
      const void* operands[3] = {into, from, nullptr};
      find_loop(reduction.op, dtype)(operands, into, n, flags);
      return;
    }
    case ReduceState::kArgMin:
    case ReduceState::kArgMax:
      for (int64_t i = 0; i < n; ++i)
        join_arg(reduction.state == ReduceState::kArgMin, dtype, to + i * size, of + i * size);
      return;
    case ReduceState::kMoments:
      visit_mean(dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        if (flags) join_moments_watched<T>(to, of, n, into_positions, from_positions, flags);
        else join_moments<T>(to, of, n, into_positions, from_positions);
      });
      return;
  }
}

void reduce_node(const Reduction& reduction, DType dtype, const Line& line, const partition::TreeNode& node, char* state,
                 uint8_t* flags) {
  const int64_t unit = line.lanes ? partition::kLaneUnit : partition::kRunUnit;
  if (node.level == 0) return unit_state(reduction, dtype, line, node.begin, node.end, state, flags);
  const int64_t half = unit << (node.level - 1);
  const int64_t middle = std::min(node.begin + half, node.end);
  reduce_node(reduction, dtype, line, {node.level - 1, 2 * node.index, node.begin, middle}, state, flags);
  if (middle == node.end) return;  // no right one: the left passes up unchanged
  Bytes right;
  reduce_node(reduction, dtype, line, {node.level - 1, 2 * node.index + 1, middle, node.end}, right.data, flags);
  combine_states(reduction, dtype, state, right.data, 1, middle - node.begin, node.end - middle, flags);
}

const char* reduced_value(const Reduction& reduction, DType dtype, const char* state) {
  switch (reduction.state) {
    case ReduceState::kArgMin:
    case ReduceState::kArgMax: return state + arg_index_offset(dtype);
    case ReduceState::kMoments: return state + itemsize(dtype);
    case ReduceState::kPlain: break;
  }
  return state;
}

}  // namespace tilewise::ops::ref
