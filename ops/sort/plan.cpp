#include "ops/sort/plan.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "ops/sort/keys.h"
#include "ops/sort/local.h"
#include "partition/tiling.h"
#include "runtime/serial.h"

namespace tilewise::ops {

namespace {

using partition::Box;
using partition::Cuts;
using partition::Owners;
using partition::Tiling;
using partition::TilingPtr;

// ---- Many lines -----------------------------------------------------------------------------------------------------

void sort_rows(DType dtype, bool positions, const Bound& in, const Bound& out, Parallel& parallel) {
  const int64_t rows = in.shape[0], n = in.shape[1], size = itemsize(dtype);
  const auto one = [&](int64_t r, Parallel& cores) {
    const char* from = in.base + r * n * size;
    char* to = out.base + r * out.strides[0];
    if (positions) return argsort_line(dtype, from, n, reinterpret_cast<int64_t*>(to), cores);
    sort_line(dtype, from, to, n, cores);
  };
  if (rows < 2 * parallel.width()) {
    for (int64_t r = 0; r < rows; ++r) one(r, parallel);
    return;
  }
  const int64_t pieces = std::min<int64_t>(rows, 8 * parallel.width());
  parallel.run(pieces, [&](int64_t p) {
    SerialParallel alone;
    for (int64_t r = rows * p / pieces; r < rows * (p + 1) / pieces; ++r) one(r, alone);
  });
}

void plan_rows(const SortCall& call, const Record& record, CallPlan& plan) {
  const Ref &lines = record.inputs[0], &out = record.outputs[0];
  const Dims& shape = lines.view.shape;
  const int devices = static_cast<int>(
      std::clamp<int64_t>(std::min(shape[0], lines.view.count() / std::max<int64_t>(plan.min_tile(), 1)), 1, plan.devices()));
  TilingPtr tiling;
  const Tiling& lies = plan.tiling(lines.store);
  if (!lies.is_replicated() && lies.tile_count() > 1 && devices > 1) tiling = partition::inherit(lies, lines.view);
  if (!tiling || tiling->is_replicated() || tiling->grid().cuts(1).count() > 1)
    tiling = devices == 1 ? Tiling::single(shape, lines.view.itemsize, 0) : Tiling::even(shape, lines.view.itemsize, 0, devices);
  plan.place(out.store, Tiling::from_grid(out.view.itemsize, tiling->grid()));
  for (int64_t t = 0; t < tiling->tile_count(); ++t) {
    const Box box = tiling->tile_box(t);
    if (box.empty()) continue;
    Task task;
    task.device = std::max(tiling->owner(t), 0);
    task.inputs.push_back(rows(lines, box.lo[0], box.hi[0], true));
    task.outputs.push_back(rows(out, box.lo[0], box.hi[0]));
    task.cost = static_cast<double>(box.count()) * 8;
    task.body = [dtype = lines.view.dtype, positions = call.positions](std::span<const Bound> in, std::span<const Bound> out,
                                                                      Parallel& parallel) {
      sort_rows(dtype, positions, in[0], out[0], parallel);
    };
    plan.add(std::move(task));
  }
}

// ---- One long line --------------------------------------------------------------------------------------------------

struct Parts {
  std::vector<int64_t> cuts;
  std::vector<int32_t> owners;
  int count() const { return static_cast<int>(owners.size()); }
};

// Where the line lies, if it lies on no more devices than there are shares; else even parts.
Parts parts_of(const Ref& line, int shares, const CallPlan& plan) {
  TilingPtr tiling;
  const Tiling& lies = plan.tiling(line.store);
  if (!lies.is_replicated() && lies.tile_count() > 1) tiling = partition::inherit(lies, line.view);
  if (!tiling || tiling->is_replicated() || tiling->tile_count() > shares)
    tiling = Tiling::even(line.view.shape, line.view.itemsize, 0, shares);
  Parts parts{{0}, {}};
  for (int64_t t = 0; t < tiling->tile_count(); ++t) {
    const int64_t end = tiling->tile_box(t).hi[0];
    if (tiling->tile_box(t).empty()) continue;
    parts.cuts.push_back(end);
    parts.owners.push_back(std::max(tiling->owner(t), 0));
  }
  return parts;
}

using SplittersPtr = std::shared_ptr<const std::vector<Splitter>>;

// Calls body(i, share) for the elements [begin, end) of a part that starts at `first` of the line.
template <class Body>
void for_shares(DType dtype, const char* values, int64_t first, int64_t begin, int64_t end, const std::vector<Splitter>& splitters,
                const Body& body) {
  visit(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (!kIsComplex<T>) {
      const T* v = reinterpret_cast<const T*>(values);
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t key = key_of(v[i]);
        const auto after = std::partition_point(splitters.begin(), splitters.end(), [&](const Splitter& s) {
          return s.key < key || (s.key == key && s.position <= first + i);
        });
        body(i, after - splitters.begin());
      }
    }
  });
}

constexpr int64_t kPiece = 1 << 14;
int64_t pieces_of(int64_t n, const Parallel& parallel) { return std::clamp<int64_t>(n / kPiece, 1, 4 * parallel.width()); }

// For each piece of a part, how many of its elements go to each share.
std::vector<std::vector<int64_t>> count_pieces(DType dtype, const Bound& part, int64_t first, const std::vector<Splitter>& splitters,
                                               Parallel& parallel) {
  const int64_t n = part.shape[0], pieces = pieces_of(n, parallel);
  std::vector<std::vector<int64_t>> counts(pieces);
  parallel.run(pieces, [&](int64_t p) {
    std::vector<int64_t> mine(splitters.size() + 1);
    for_shares(dtype, part.base, first, n * p / pieces, n * (p + 1) / pieces, splitters, [&](int64_t, int64_t q) { ++mine[q]; });
    counts[p] = std::move(mine);
  });
  return counts;
}

void plan_count(const Record& record, CallPlan& plan) {
  const SortCall call = SortCall::from(record.bytes);
  const Ref &line = record.inputs[0], &out = record.outputs[0];
  const Parts parts = parts_of(line, call.shares(), plan);
  const SplittersPtr splitters = std::make_shared<const std::vector<Splitter>>(call.splitters);
  for (int p = 0; p < parts.count(); ++p) {
    Task task;
    task.device = parts.owners[p];
    task.inputs.push_back(rows(line, parts.cuts[p], parts.cuts[p + 1], true));
    const int last = p + 1 == parts.count() ? call.shares() : p + 1;  // rows of parts that there are not: zero
    task.outputs.push_back(rows(out, p, last));
    task.cost = static_cast<double>(parts.cuts[p + 1] - parts.cuts[p]) * 3;
    task.body = [dtype = line.view.dtype, first = parts.cuts[p], splitters](std::span<const Bound> in, std::span<const Bound> out,
                                                                          Parallel& parallel) {
      std::vector<int64_t> sums(splitters->size() + 1);
      for (const auto& piece : count_pieces(dtype, in[0], first, *splitters, parallel))
        for (size_t q = 0; q < sums.size(); ++q) sums[q] += piece[q];
      for (int64_t i = 0; i < out[0].shape[0]; ++i)
        for (size_t q = 0; q < sums.size(); ++q) {
          const int64_t n = i == 0 ? sums[q] : 0;
          std::memcpy(out[0].base + i * out[0].strides[0] + static_cast<int64_t>(q) * out[0].strides[1], &n, sizeof n);
        }
    };
    plan.add(std::move(task));
  }
}

void plan_line(const SortCall& call, const Record& record, CallPlan& plan) {
  const Ref &line = record.inputs[0], &out = record.outputs[0];
  const int shares = call.shares();
  const Parts parts = parts_of(line, shares, plan);
  // Shares one after the other; in a share, what each part has for it.
  std::vector<std::vector<int64_t>> begin(shares + 1, std::vector<int64_t>(parts.count() + 1));
  std::vector<int64_t> cuts;
  std::vector<int32_t> owners;
  for (int q = 0; q < shares; ++q) {
    for (int p = 0; p < parts.count(); ++p) begin[q][p + 1] = begin[q][p] + call.counts[static_cast<size_t>(p) * shares + q];
    begin[q + 1][0] = begin[q][parts.count()];
    if (q > 0) cuts.push_back(begin[q][0]);
    owners.push_back(q);
  }
  const auto share_tiling = [&](int32_t size) {
    return Tiling::from_cuts(size, {Cuts::at(line.view.shape[0], cuts)}, Owners::listed(owners));
  };
  const auto temporary = [&](DType dtype, int32_t size) -> Ref {
    return {plan.temporary(line.view.shape, size, share_tiling(size)), partition::dense_view(line.view.shape, dtype, size)};
  };
  const DType dtype = line.view.dtype;
  const Ref values = temporary(dtype, line.view.itemsize);
  Ref places;
  if (call.positions) places = temporary(DType::kInt64, 8);
  plan.place(out.store, share_tiling(out.view.itemsize));
  const SplittersPtr splitters = std::make_shared<const std::vector<Splitter>>(call.splitters);
  for (int p = 0; p < parts.count(); ++p) {
    Task task;
    task.device = parts.owners[p];
    task.inputs.push_back(rows(line, parts.cuts[p], parts.cuts[p + 1], true));
    std::vector<int> with;
    for (int q = 0; q < shares; ++q) {
      if (begin[q][p] == begin[q][p + 1]) continue;
      task.outputs.push_back(rows(values, begin[q][p], begin[q][p + 1]));
      with.push_back(q);
    }
    if (call.positions)
      for (const int q : with) task.outputs.push_back(rows(places, begin[q][p], begin[q][p + 1]));
    task.cost = static_cast<double>(parts.cuts[p + 1] - parts.cuts[p]) * 4;
    task.body = [dtype, first = parts.cuts[p], splitters, with, size = line.view.itemsize](
                    std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      auto next = count_pieces(dtype, in[0], first, *splitters, parallel);
      for (size_t q = 0; q <= splitters->size(); ++q) {
        int64_t before = 0;
        for (auto& piece : next) before += std::exchange(piece[q], before);
      }
      std::vector<char*> to(splitters->size() + 1), place(splitters->size() + 1);
      for (size_t k = 0; k < with.size(); ++k) {
        to[with[k]] = out[k].base;
        if (out.size() > with.size()) place[with[k]] = out[with.size() + k].base;
      }
      const int64_t n = in[0].shape[0], pieces = static_cast<int64_t>(next.size());
      parallel.run(pieces, [&](int64_t p) {
        for_shares(dtype, in[0].base, first, n * p / pieces, n * (p + 1) / pieces, *splitters, [&](int64_t i, int64_t q) {
          const int64_t at = next[p][q]++;
          std::memcpy(to[q] + at * size, in[0].base + i * size, size);
          const int64_t position = first + i;
          if (place[q]) std::memcpy(place[q] + at * 8, &position, 8);
        });
      });
    };
    plan.add(std::move(task));
  }
  plan.next_step();
  for (int q = 0; q < shares; ++q) {
    const int64_t lo = begin[q][0], hi = begin[q + 1][0];
    if (lo == hi) continue;
    Task task;
    task.device = owners[q];
    task.inputs.push_back(rows(values, lo, hi, true));
    if (call.positions) task.inputs.push_back(rows(places, lo, hi, true));
    task.outputs.push_back(rows(out, lo, hi));
    task.cost = static_cast<double>(hi - lo) * 8;
    task.body = [dtype](std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel) {
      const int64_t n = in[0].shape[0];
      if (in.size() == 1) return sort_line(dtype, in[0].base, out[0].base, n, parallel);
      int64_t* order = reinterpret_cast<int64_t*>(out[0].base);
      const int64_t* position = reinterpret_cast<const int64_t*>(in[1].base);
      argsort_line(dtype, in[0].base, n, order, parallel);
      for (int64_t i = 0; i < n; ++i) order[i] = position[order[i]];
    };
    plan.add(std::move(task));
  }
}

void plan_sort(const Record& record, CallPlan& plan) {
  const SortCall call = SortCall::from(record.bytes);
  call.splitters.empty() ? plan_rows(call, record, plan) : plan_line(call, record, plan);
}

// When the program starts, so that every rank knows the families before the stream names them.
const uint16_t kCount = register_family({"count of shares to sort", plan_count});
const uint16_t kSort = register_family({"sort", plan_sort});

struct Header {
  int64_t positions, splitters;
};

}  // namespace

std::vector<char> SortCall::bytes() const {
  const Header header{positions, static_cast<int64_t>(splitters.size())};
  const size_t split_bytes = splitters.size() * sizeof(Splitter), count_bytes = counts.size() * sizeof(int64_t);
  std::vector<char> bytes(sizeof header + split_bytes + count_bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (split_bytes) std::memcpy(bytes.data() + sizeof header, splitters.data(), split_bytes);
  if (count_bytes) std::memcpy(bytes.data() + sizeof header + split_bytes, counts.data(), count_bytes);
  return bytes;
}

SortCall SortCall::from(const std::vector<char>& bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  SortCall call;
  call.positions = header.positions;
  call.splitters.resize(header.splitters);
  const size_t split_bytes = call.splitters.size() * sizeof(Splitter);
  if (split_bytes) std::memcpy(call.splitters.data(), bytes.data() + sizeof header, split_bytes);
  call.counts.resize((bytes.size() - sizeof header - split_bytes) / sizeof(int64_t));
  if (!call.counts.empty())
    std::memcpy(call.counts.data(), bytes.data() + sizeof header + split_bytes, call.counts.size() * sizeof(int64_t));
  return call;
}

uint16_t count_shares_family() { return kCount; }
uint16_t sort_family() { return kSort; }

}  // namespace tilewise::ops
