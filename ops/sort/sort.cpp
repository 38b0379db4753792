#include "ops/sort.h"

#include <algorithm>

#include "ops/copy.h"
#include "ops/record_builder.h"
#include "ops/sort/keys.h"
#include "ops/sort/plan.h"

namespace tilewise::ops {

namespace {

constexpr int64_t kLongLine = 1 << 16;  // elements from which a line is worth several devices
constexpr int64_t kSamples = 64;        // for each share

void record_sort(uint16_t family, const SortCall& call, const Array& in, const Array& out) {
  const Array* from = &in;
  record_call(family, call.bytes(), {&from, 1}, out);
}

// Between which elements the shares lie, from elements at regular steps. Waits.
std::vector<Splitter> choose_splitters(const Array& line, int shares) {
  const int64_t n = line.view.shape[0], count = std::min(n, kSamples * shares), step = n / count;
  const Array some{line.store, partition::slice(line.view, 0, step / 2, step, count)};
  std::vector<char> bytes(static_cast<size_t>(count) * line.view.itemsize);
  to_host(copy(some), bytes.data());
  std::vector<Splitter> sample(count);
  visit(line.view.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (!kIsComplex<T>)
      for (int64_t i = 0; i < count; ++i) sample[i] = {key_of(reinterpret_cast<const T*>(bytes.data())[i]), step / 2 + i * step};
  });
  std::sort(sample.begin(), sample.end(), [](const Splitter& a, const Splitter& b) {
    return a.key != b.key ? a.key < b.key : a.position < b.position;
  });
  std::vector<Splitter> splitters;
  for (int q = 1; q < shares; ++q) splitters.push_back(sample[count * q / shares]);
  return splitters;
}

void sort_line_over_devices(const Array& line, int shares, bool positions, const Array& out) {
  SortCall call;
  call.positions = positions;
  call.splitters = choose_splitters(line, shares);
  const Array counts = new_array({shares, shares}, DType::kInt64);
  record_sort(count_shares_family(), call, line, counts);
  call.counts.resize(static_cast<size_t>(shares) * shares);
  session::read(counts, call.counts.data());
  record_sort(sort_family(), call, line, out);
}

Array sorted(const Array& source, int axis, bool positions) {
  const DType type = positions ? DType::kInt64 : source.view.dtype;
  SmallVec<int, 6> order;
  for (int k = 0; k < source.rank(); ++k)
    if (k != axis) order.push_back(k);
  order.push_back(axis);
  const Array turned{source.store, partition::permute(source.view, order)};
  const int64_t n = source.view.shape[axis], rows = n == 0 ? 0 : source.view.count() / n;
  if (rows == 0) return new_array(source.view.shape, type);
  Array lines = turned;
  if (auto view = partition::reshape(turned.view, {rows, n})) {
    lines.view = *view;
  } else {
    lines = copy(turned);
    lines.view = *partition::reshape(lines.view, {rows, n});
  }
  const int shares = static_cast<int>(std::clamp<int64_t>(n / std::max<int64_t>(session::min_tile(), 1), 1, session::devices()));
  const bool worth = n >= kLongLine || session::min_tile() <= 1;
  Array result;
  if (rows == 1 && shares > 1 && worth && !is_complex(source.view.dtype)) {
    lines.view = partition::squeeze(lines.view, 0);
    result = new_array({n}, type);
    sort_line_over_devices(lines, shares, positions, result);
  } else {
    result = new_array({rows, n}, type);
    SortCall call;
    call.positions = positions;
    record_sort(sort_family(), call, lines, result);
  }
  result.view = *partition::reshape(result.view, turned.view.shape);
  SmallVec<int, 6> back(source.rank());
  for (int k = 0; k < source.rank(); ++k) back[order[k]] = k;
  result.view = partition::permute(result.view, back);
  return result;
}

}  // namespace

Array sort(const Array& source, int axis) { return sorted(source, axis, false); }
Array argsort(const Array& source, int axis) { return sorted(source, axis, true); }

}  // namespace tilewise::ops
