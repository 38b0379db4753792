#include "runtime/cpu/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/cpu/copy_loops.h"

namespace tilewise::cpu {

namespace {

constexpr int64_t kChunk = 128 << 10;    // bytes, the grain of sharing
constexpr int64_t kLongRow = 4096;       // bytes from which a row is worth a step of its own

enum class Loop { kRow, kRows, kLine, kTiles };

// A piece in plain form. The last `inner` axes belong to the loop, the others are stepped through.
struct Plan {
  Dims shape, to_strides, from_strides;
  char* to = nullptr;
  const char* from = nullptr;
  int64_t unit = 0;                // bytes moved at once; where there are rows, the row
  Loop loop = Loop::kRow;
  int inner = 0;                   // axes of the loop
  CopyLoops loops;
  int64_t outer = 1;               // steps over the other axes
  int64_t segment = 0, segments = 1;  // of the loop's first axis (of the row's bytes): cut where it is long
  int64_t group = 1;               // (step, segment) pairs in one chunk
  int64_t chunks = 0;
};

// Bytes moved at once: the largest power of two up to 16 in an item, which may be a record of any size.
int64_t unit_of(int64_t itemsize) { return std::min<int64_t>(itemsize & -itemsize, 16); }

// Axes of extent 1 dropped, target strides made positive, an axis for the parts of an odd-sized item.
void load(Plan& plan, const CopyPiece& piece) {
  auto add = [&](int64_t extent, int64_t to, int64_t from) {
    if (extent == 1) return;
    if (to < 0) {
      plan.to += to * (extent - 1);
      plan.from += from * (extent - 1);
      to = -to;
      from = -from;
    }
    plan.shape.push_back(extent);
    plan.to_strides.push_back(to);
    plan.from_strides.push_back(from);
  };
  for (int k = 0; k < piece.shape.size(); ++k) add(piece.shape[k], piece.to_strides[k], piece.from_strides[k]);
  plan.unit = unit_of(piece.itemsize);
  add(piece.itemsize / plan.unit, plan.unit, plan.unit);
}

void move_axis(Plan& plan, int from, int to) {
  for (Dims* dims : {&plan.shape, &plan.to_strides, &plan.from_strides}) {
    int64_t value = (*dims)[from];
    dims->erase(from);
    dims->insert(to, value);
  }
}

void sort_and_merge(Plan& plan) {
  for (int k = 1; k < plan.shape.size(); ++k) {
    int at = k;
    while (at > 0 && plan.to_strides[at - 1] < plan.to_strides[k]) --at;
    if (at != k) move_axis(plan, k, at);
  }
  for (int k = plan.shape.size() - 2; k >= 0; --k) {
    if (plan.to_strides[k] != plan.to_strides[k + 1] * plan.shape[k + 1]) continue;
    if (plan.from_strides[k] != plan.from_strides[k + 1] * plan.shape[k + 1]) continue;
    plan.shape[k + 1] *= plan.shape[k];
    for (Dims* dims : {&plan.shape, &plan.to_strides, &plan.from_strides}) dims->erase(k);
  }
}

void choose_loop(Plan& plan) {
  int last = plan.shape.size() - 1;
  plan.loops = copy_loops(plan.unit);
  if (last < 0) return;
  if (plan.to_strides[last] == plan.unit && plan.from_strides[last] == plan.unit) {  // the axis becomes the row
    plan.unit *= plan.shape[last];
    for (Dims* dims : {&plan.shape, &plan.to_strides, &plan.from_strides}) dims->pop_back();
    plan.loop = last > 0 && plan.unit < kLongRow ? Loop::kRows : Loop::kRow;
    plan.inner = plan.loop == Loop::kRows;
    return;
  }
  // The axis along which the source runs: if it is another one, both are cut into tiles.
  int along = last;
  for (int k = 0; k < last; ++k) {
    int64_t stride = std::abs(plan.from_strides[k]);
    if (stride != 0 && stride < std::abs(plan.from_strides[along])) along = k;
  }
  plan.loop = along == last ? Loop::kLine : Loop::kTiles;
  plan.inner = along == last ? 1 : 2;
  if (plan.inner == 2) move_axis(plan, along, last - 1);
}

void cut(Plan& plan) {
  int lead = plan.shape.size() - plan.inner;
  for (int k = 0; k < lead; ++k) plan.outer *= plan.shape[k];
  int64_t extent = plan.inner == 0 ? plan.unit : plan.shape[lead];
  int64_t step = plan.inner == 0 ? 1 : plan.inner == 1 ? plan.unit : plan.unit * plan.shape[lead + 1];  // bytes
  int64_t grain = plan.inner == 1 ? 1 : plan.inner == 0 ? kLongRow : kTileEdge;
  plan.segment = std::max<int64_t>(1, kChunk / step / grain) * grain;
  plan.segments = (extent + plan.segment - 1) / plan.segment;
  plan.group = std::max<int64_t>(1, kChunk / (step * std::min(extent, plan.segment)));
  plan.chunks = (plan.outer * plan.segments + plan.group - 1) / plan.group;
}

Plan make_plan(char* to, const char* from, const CopyPiece& piece) {
  Plan plan;
  if (count_of(piece.shape) == 0 || piece.itemsize == 0) return plan;
  plan.to = to + piece.to_offset;
  plan.from = from + piece.from_offset;
  load(plan, piece);
  sort_and_merge(plan);
  choose_loop(plan);
  cut(plan);
  return plan;
}

// One segment of the loop at the given place.
void run_segment(const Plan& plan, char* to, const char* from, int64_t segment) {
  int64_t begin = segment * plan.segment;
  if (plan.inner == 0) {
    std::memcpy(to + begin, from + begin, std::min(plan.segment, plan.unit - begin));
    return;
  }
  int first = plan.shape.size() - plan.inner;
  int64_t count = std::min(plan.segment, plan.shape[first] - begin);
  int64_t to_stride = plan.to_strides[first], from_stride = plan.from_strides[first];
  to += begin * to_stride;
  from += begin * from_stride;
  if (plan.loop == Loop::kRows) {
    copy_rows(to, from, count, to_stride, from_stride, plan.unit);
  } else if (plan.loop == Loop::kLine) {
    plan.loops.line(to, from, count, to_stride, from_stride);
  } else {
    plan.loops.tiles(to, from, count, to_stride, from_stride, plan.shape[first + 1], plan.to_strides[first + 1],
                     plan.from_strides[first + 1]);
  }
}

void run_chunk(const Plan& plan, int64_t chunk) {
  int lead = plan.shape.size() - plan.inner;
  int64_t begin = chunk * plan.group, end = std::min(begin + plan.group, plan.outer * plan.segments);
  int64_t segment = begin % plan.segments, step = begin / plan.segments;
  Dims at(lead);
  char* to = plan.to;
  const char* from = plan.from;
  for (int k = lead - 1; k >= 0; --k) {
    at[k] = step % plan.shape[k];
    step /= plan.shape[k];
    to += at[k] * plan.to_strides[k];
    from += at[k] * plan.from_strides[k];
  }
  for (int64_t i = begin; i < end; ++i) {
    run_segment(plan, to, from, segment);
    if (++segment < plan.segments) continue;
    segment = 0;
    for (int k = lead - 1; k >= 0; --k) {
      to += plan.to_strides[k];
      from += plan.from_strides[k];
      if (++at[k] < plan.shape[k]) break;
      to -= at[k] * plan.to_strides[k];
      from -= at[k] * plan.from_strides[k];
      at[k] = 0;
    }
  }
}

}  // namespace

void copy_pieces(char* to, const char* from, std::span<const CopyPiece> pieces, Parallel& parallel) {
  if (pieces.size() == 1) {
    Plan plan = make_plan(to, from, pieces[0]);
    if (plan.chunks == 1) return run_chunk(plan, 0);
    return parallel.run(plan.chunks, [&](int64_t chunk) { run_chunk(plan, chunk); });
  }
  std::vector<Plan> plans;
  std::vector<int64_t> starts;  // of each plan's chunks among all
  int64_t chunks = 0;
  for (const CopyPiece& piece : pieces) {
    Plan plan = make_plan(to, from, piece);
    if (plan.chunks == 0) continue;
    starts.push_back(chunks);
    chunks += plan.chunks;
    plans.push_back(std::move(plan));
  }
  parallel.run(chunks, [&](int64_t chunk) {
    size_t k = std::upper_bound(starts.begin(), starts.end(), chunk) - starts.begin() - 1;
    run_chunk(plans[k], chunk - starts[k]);
  });
}

double copy_cost(std::span<const CopyPiece> pieces) {
  constexpr double kRow = 5, kByte = 0.05;  // a row is a run of contiguous bytes on both sides, often a cache miss
  double cost = 0;
  for (const CopyPiece& piece : pieces) {
    auto items = static_cast<double>(count_of(piece.shape));
    int last = piece.shape.size() - 1;
    bool dense = last >= 0 && piece.to_strides[last] == piece.itemsize && piece.from_strides[last] == piece.itemsize;
    double rows = dense && items > 0 ? items / static_cast<double>(piece.shape[last]) : items;
    cost += rows * kRow + items * static_cast<double>(piece.itemsize) * kByte;
  }
  return cost;
}

}  // namespace tilewise::cpu
