#include "ops/ref/reduce.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/ref/fn_arith.h"
#include "ops/ref/loop.h"
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
void join_moments(char* into, const char* from, int64_t n, int64_t m) {
  using R = typename RealOf<T>::type;
  const double share = static_cast<double>(m) / static_cast<double>(n + m);
  const T delta = get<T>(from) - get<T>(into);
  const T mean = get<T>(into) + delta * static_cast<R>(share);
  const R m2 = (get<R>(into + sizeof(T)) + get<R>(from + sizeof(T))) +
               squared(delta) * static_cast<R>(static_cast<double>(n) * share);
  put(into, mean);
  put(into + sizeof(T), m2);
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
      const T sum = join_unit<T>(count, line.lanes, [&](int64_t p) { return get<T>(source(p)); }, plus);
      const T mean = sum / static_cast<R>(count);
      const R m2 = join_unit<R>(count, line.lanes, [&](int64_t p) { return squared(get<T>(source(p)) - mean); }, plus);
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
        for (int64_t i = 0; i < n; ++i)
          join_moments<T>(to + i * size, of + i * size, into_positions, from_positions);
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
