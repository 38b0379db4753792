#include "tests/ops/simd/launch_maker.h"

#include <cmath>
#include <complex>
#include <limits>

#include "runtime/base/convert.h"

namespace tilewise::ops {

namespace {

int first_axis(const Reduction& r) { return 63 - __builtin_clzll(r.axes); }

template <class F>
void each_element(const Dims& extents, const F& f) {
  Dims at(extents.size());
  if (count_of(extents) == 0) return;
  for (;;) {
    f(at);
    int k = extents.size() - 1;
    for (; k >= 0 && ++at[k] == extents[k]; --k) at[k] = 0;
    if (k < 0) return;
  }
}

int64_t offset_of(const Dims& at, const Dims& strides) {
  int64_t offset = 0;
  for (int k = 0; k < at.size(); ++k) offset += at[k] * strides[k];
  return offset;
}

template <class T>
T some_real(std::mt19937& random, bool corners) {
  using L = std::numeric_limits<T>;
  const unsigned pick = random() % (corners ? 24 : 8);
  const T plain = static_cast<T>(static_cast<double>(random()) / 4294967296.0 * 4 - (corners ? 2 : 0));
  switch (pick) {
    case 8: return L::infinity();
    case 9: return -L::infinity();
    case 10: return L::quiet_NaN();
    case 11: return T(0);
    case 12: return T(-0.0);
    case 13: return L::denorm_min() * static_cast<T>(random() % 1000);
    case 14: return L::max();
    case 15: return L::min();
    case 16: return plain * T(1e4);
    case 17: return T(random() % 7) - 3;
    default: return plain;
  }
}

template <class T>
T some_value(std::mt19937& random, bool corners) {
  if constexpr (std::is_same_v<T, bool>) return random() % 2;
  else if constexpr (kIsHalf<T>) return to_half(some_real<float>(random, corners));
  else if constexpr (kIsComplex<T>) {
    using R = typename T::value_type;
    const R re = some_real<R>(random, corners);
    return T(re, some_real<R>(random, corners));
  } else if constexpr (std::is_floating_point_v<T>) return some_real<T>(random, corners);
  else {
    const unsigned pick = random() % 8;
    if (pick == 0) return T(0);
    if (pick == 1) return std::numeric_limits<T>::min();
    if (pick == 2) return std::numeric_limits<T>::max();
    if (pick < 6) return static_cast<T>(random() % 100);
    return static_cast<T>((uint64_t{random()} << 32) | random());
  }
}

}  // namespace

TestArray make_array(const Dims& extents, int itemsize, Layout layout, uint64_t broadcast) {
  TestArray array;
  const int rank = extents.size();
  Dims shape = extents;
  for (int k = 0; k < rank; ++k)
    if (broadcast >> k & 1) shape[k] = 1;
  Dims padded = shape;
  if (layout == Layout::kPadded)
    for (int64_t& e : padded) e += 2;
  array.strides = c_strides(padded, itemsize);
  if (layout == Layout::kTransposed) {
    int64_t step = itemsize;
    for (int k = 0; k < rank; ++k) {
      array.strides[k] = step;
      step *= shape[k];
    }
  }
  array.bytes.assign(count_of(padded) * itemsize + 256, 0x5a);
  int64_t offset = 64;
  if (layout == Layout::kOffset) offset += itemsize * 3;
  if (layout == Layout::kMisaligned) offset += 1;
  if (layout == Layout::kReversed)
    for (int k = 0; k < rank; ++k) {
      offset += (shape[k] - 1) * array.strides[k];
      array.strides[k] = -array.strides[k];
    }
  array.base = array.bytes.data() + offset;
  for (int k = 0; k < rank; ++k)
    if (shape[k] == 1) array.strides[k] = 0;
  return array;
}

void fill_values(char* base, const Dims& extents, const Dims& strides, DType dtype, std::mt19937& random, bool corners) {
  each_element(extents, [&](const Dims& at) {
    visit(dtype, [&](auto t) {
      using T = typename decltype(t)::type;
      const T v = some_value<T>(random, corners);
      std::memcpy(base + offset_of(at, strides), &v, sizeof v);
    });
  });
}

Outcome run(const TestLaunch& test, unsigned seed, void (*interpreter)(const Launch&, Parallel&), Parallel& parallel) {
  const Program& p = test.program;
  std::mt19937 random(seed);
  std::vector<TestArray> arrays;
  std::vector<Operand> operands;
  std::vector<Dims> shapes;
  for (size_t a = 0; a < p.accesses.size(); ++a) {
    const Layout layout = test.layouts.empty() ? Layout::kDense : test.layouts[a];
    const uint64_t broadcast = test.broadcasts.empty() ? 0 : test.broadcasts[a];
    const int guard = a < test.within.size() ? test.within[a] : -1;
    shapes.push_back(guard < 0 ? test.extents : test.guards[guard].shape());
    arrays.push_back(make_array(shapes[a], p.accesses[a].itemsize, layout, broadcast));
    if (!p.accesses[a].write)
      fill_values(arrays[a].base, shapes[a], arrays[a].strides, p.accesses[a].dtype, random, test.corners);
    operands.push_back({arrays[a].base, arrays[a].strides});
    if (guard >= 0) operands[a].base -= offset_of(test.guards[guard].lo, arrays[a].strides);
  }
  Outcome out;
  std::vector<ReduceTarget> targets(p.reductions.size());
  out.nodes.resize(p.reductions.size());
  for (const Instr& in : p.code) {
    if (in.op != kReduce) continue;
    const Reduction& r = p.reductions[in.b];
    const int axis = first_axis(r);
    const bool lanes = axis == test.extents.size() - 1;
    const int64_t begin = test.begins.empty() ? 0 : test.begins[in.b];
    const int64_t extent = test.reduced_extents.empty() ? test.extents[axis] : test.reduced_extents[in.b];
    ReduceTarget& t = targets[in.b];
    t.begin = begin;
    t.end = begin + test.extents[axis];
    t.extent = extent;
    const auto nodes = partition::tree_nodes(t.begin, t.end, extent, lanes ? partition::kLaneUnit : partition::kRunUnit);
    const int64_t others = count_of(test.extents) / test.extents[axis];
    out.nodes[in.b].assign(nodes.size() * others * state_bytes(r, in.dtype), 0);
    t.nodes = out.nodes[in.b].data();
  }
  out.flags.assign(p.code.size(), 0);
  Launch launch;
  launch.program = &p;
  launch.extents = test.extents;
  launch.origin = test.origin.empty() ? Dims(test.extents.size(), 0) : test.origin;
  launch.operands = operands.data();
  launch.guards = test.guards.data();
  launch.params = test.params.data();
  launch.reductions = targets.data();
  launch.fp_flags = test.flags ? out.flags.data() : nullptr;
  interpreter(launch, parallel);
  for (size_t a = 0; a < p.accesses.size(); ++a) {
    if (!p.accesses[a].write) continue;
    const int64_t size = p.accesses[a].itemsize;
    std::vector<char> dense;
    each_element(shapes[a], [&](const Dims& at) {
      const char* from = arrays[a].base + offset_of(at, arrays[a].strides);
      dense.insert(dense.end(), from, from + size);
    });
    out.outputs.push_back(std::move(dense));
  }
  return out;
}

namespace {

template <class T>
bool same_value(T a, T b, double ulp) {
  if constexpr (kIsComplex<T>) {
    return same_value(a.real(), b.real(), ulp) && same_value(a.imag(), b.imag(), ulp);
  } else if constexpr (kIsHalf<T>) {
    return same_value(to_float(a), to_float(b), ulp * 8192);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (ulp == 0) return std::memcmp(&a, &b, sizeof a) == 0;
    if (std::isinf(a) || std::isinf(b)) return a == b;
    const T scale = std::max(std::fabs(b), std::numeric_limits<T>::min());
    const T unit = std::nextafter(scale, std::numeric_limits<T>::infinity()) - scale;
    return static_cast<double>(std::fabs(a - b)) <= ulp * static_cast<double>(unit);
  } else {
    return a == b;
  }
}

}  // namespace

bool same_values(DType dtype, const std::vector<char>& a, const std::vector<char>& b, double ulp, int64_t* where) {
  if (a.size() != b.size()) return false;
  bool same = true;
  visit(dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    for (size_t i = 0; i * sizeof(T) < a.size() && same; ++i) {
      T x, y;
      std::memcpy(&x, a.data() + i * sizeof(T), sizeof(T));
      std::memcpy(&y, b.data() + i * sizeof(T), sizeof(T));
      if (!same_value(x, y, ulp)) {
        same = false;
        if (where) *where = static_cast<int64_t>(i);
      }
    }
  });
  return same;
}

std::string difference(const TestLaunch& test, const Outcome& got, const Outcome& want) {
  size_t k = 0;
  int64_t where = -1;
  for (const Access& a : test.program.accesses) {
    if (!a.write) continue;
    if (!same_values(a.dtype, got.outputs[k], want.outputs[k], 0, &where))
      return str("output ", k, " element ", where, "\n", print(test.program));
    ++k;
  }
  for (size_t i = 0; i < got.flags.size(); ++i)
    if (got.flags[i] != want.flags[i])
      return str("flags ", int{got.flags[i]}, " instead of ", int{want.flags[i]}, " of ", i, "\n", print(test.program));
  return "";
}

}  // namespace tilewise::ops
