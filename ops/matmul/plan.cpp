#include "ops/matmul/plan.h"

#include <algorithm>

#include "ops/matmul/gemm.h"
#include "partition/tiling.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/serial.h"

namespace tilewise::ops {

namespace {

using partition::Box;
using partition::Tiling;
using partition::TilingPtr;
using partition::View;

constexpr int64_t kPanelBytes = 64 << 20;   // of the right operand, on each device at a time
constexpr int64_t kSmallResult = 64 * 1024;  // elements of a result that may be split by depth
constexpr int64_t kSections = 64;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

MatrixIn matrix_in(const Bound& bound, int64_t offset) {
  const int rank = bound.strides.size();
  return {bound.base + offset, bound.strides[rank - 2], bound.strides[rank - 1]};
}
MatrixOut matrix_out(const Bound& bound, int64_t offset) {
  const int rank = bound.strides.size();
  return {bound.base + offset, bound.strides[rank - 2], bound.strides[rank - 1]};
}

// Byte offset of matrix `index` of a stack, counted in C order of the leading axes.
int64_t stack_offset(const Bound& bound, int64_t index) {
  int64_t offset = 0;
  for (int k = bound.shape.size() - 3; k >= 0; --k) {
    offset += index % bound.shape[k] * bound.strides[k];
    index /= bound.shape[k];
  }
  return offset;
}

// out (+)= a b for every matrix of the stack.
void multiply(DType from, DType to, const Bound& a, const Bound& b, const Bound& out, bool accumulate,
              Parallel& parallel) {
  const int rank = out.shape.size();
  const int64_t rows = out.shape[rank - 2], columns = out.shape[rank - 1], depth = a.shape[rank - 1];
  int64_t stack = 1;
  for (int k = 0; k < rank - 2; ++k) stack *= out.shape[k];
  const auto one = [&](int64_t i, Parallel& cores) {
    gemm(from, to, rows, columns, depth, matrix_in(a, stack_offset(a, i)), matrix_in(b, stack_offset(b, i)),
         matrix_out(out, stack_offset(out, i)), accumulate, cores);
  };
  if (stack > 1 && (stack >= 2 * parallel.width() || rows * columns * depth < 1'000'000)) {
    const int64_t pieces = std::min<int64_t>(stack, 8 * parallel.width());
    parallel.run(pieces, [&](int64_t p) {
      SerialParallel alone;
      for (int64_t i = stack * p / pieces; i < stack * (p + 1) / pieces; ++i) one(i, alone);
    });
  } else {
    for (int64_t i = 0; i < stack; ++i) one(i, parallel);
  }
}

// The record seen as a product.
struct Shape {
  explicit Shape(const Record& record)
      : a(record.inputs[0]), b(record.inputs[1]), out(record.outputs[0]), rank(out.view.rank()),
        rows(out.view.shape[rank - 2]), columns(out.view.shape[rank - 1]), depth(a.view.shape[rank - 1]),
        from(a.view.dtype), to(out.view.dtype) {}

  int64_t stack() const { return rows * columns == 0 ? 0 : out.view.count() / (rows * columns); }
  double work() const { return 2.0 * static_cast<double>(out.view.count()) * static_cast<double>(depth); }

  const Ref &a, &b, &out;
  int rank;
  int64_t rows, columns, depth;
  DType from, to;
};

// The regions of the operands that a box of the result needs, for positions [lo, hi) of the contracted axis.
Box left_region(Box box, int64_t lo, int64_t hi) {
  box.lo.back() = lo;
  box.hi.back() = hi;
  return box;
}
Box right_region(Box box, int64_t lo, int64_t hi) {
  box.lo[box.rank() - 2] = lo;
  box.hi[box.rank() - 2] = hi;
  return box;
}

// ---- By result ----------------------------------------------------------------------------------------------------

// As the larger operand lies, where its rows (or columns) are cut evenly enough; else even parts of the longest axis.
TilingPtr result_tiling(const Shape& p, const CallPlan& plan) {
  const Dims& shape = p.out.view.shape;
  const int32_t size = itemsize(p.to);
  const int64_t worth = std::max<int64_t>(1, plan.min_tile());
  const double parts = std::max(static_cast<double>(p.out.view.count()), p.work() / 64) / static_cast<double>(worth);
  const int devices = static_cast<int>(std::clamp<double>(parts, 1, plan.devices()));
  if (devices == 1) return Tiling::single(shape, size, 0);
  const bool by_rows = p.a.view.count() >= p.b.view.count() || p.columns == 1;
  const Ref& larger = by_rows ? p.a : p.b;
  View like = larger.view;  // of the result's shape; what varies along the contracted axis is read at its start
  const int other = by_rows ? p.rank - 1 : p.rank - 2;
  like.shape[other] = shape[other];
  like.strides[other] = 0;
  const Tiling& tiling = plan.tiling(larger.store);
  if (!tiling.is_replicated() && tiling.tile_count() > 1) {
    const TilingPtr inherited = partition::inherit(tiling, like);
    if (inherited && !inherited->is_replicated() && inherited->tile_count() > 1) return inherited;
  }
  int axis = by_rows ? p.rank - 2 : p.rank - 1;
  for (int k = 0; k < p.rank; ++k)
    if (shape[axis] < devices && shape[k] > shape[axis]) axis = k;
  return Tiling::even(shape, size, axis, devices);
}

// Positions of the contracted axis taken in one step.
int64_t panel_depth(const Shape& p, const CallPlan& plan, const Tiling& tiling) {
  if (tiling.tile_count() == 1 || plan.devices() == 1) return p.depth;
  const int64_t position = p.columns * itemsize(p.from);
  const int64_t chunks = std::max<int64_t>(1, kPanelBytes / std::max<int64_t>(1, position * kChunk));
  return chunks * kChunk;
}

void plan_by_result(const Shape& p, CallPlan& plan) {
  const TilingPtr tiling = result_tiling(p, plan);
  plan.place(p.out.store, tiling);
  // Where sums are kept in a wider type than the result's, partial ones may not be rounded: one step.
  const bool one_step = product_type(p.from) != p.to && itemsize(product_type(p.from)) != itemsize(p.to);
  const int64_t panel = one_step ? p.depth : panel_depth(p, plan, *tiling);
  for (int64_t lo = 0; lo < std::max<int64_t>(p.depth, 1); lo += std::max<int64_t>(panel, 1)) {
    const int64_t hi = std::min(p.depth, lo + panel);
    for (int64_t t = 0; t < tiling->tile_count(); ++t) {
      const Box box = tiling->tile_box(t);
      if (box.empty()) continue;
      Task task;
      task.device = std::max(tiling->owner(t), 0);
      task.inputs.push_back({p.a.store, p.a.view, left_region(box, lo, hi)});
      task.inputs.push_back({p.b.store, p.b.view, right_region(box, lo, hi)});
      task.outputs.push_back({p.out.store, p.out.view, box});
      task.tells = !is_integer(p.from);
      task.cost = 2.0 * static_cast<double>(box.count()) * static_cast<double>(std::max<int64_t>(hi - lo, 1));
      task.body = [from = p.from, to = p.to, accumulate = lo > 0](std::span<const Bound> in, std::span<const Bound> out,
                                                                 Parallel& parallel) {
        multiply(from, to, in[0], in[1], out[0], accumulate, parallel);
      };
      plan.add(std::move(task));
    }
    plan.next_step();
  }
}

// ---- By depth -----------------------------------------------------------------------------------------------------

// A stack of sections' products, added in index order.
void add_sections(DType type, DType to, const Bound& sections, const Bound& out) {
  const int rank = out.shape.size();
  const int64_t rows = out.shape[rank - 2], columns = out.shape[rank - 1];
  const auto add = [&](auto t, auto convert_to) {
    using T = typename decltype(t)::type;
    using To = typename decltype(convert_to)::type;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const char* at = sections.base + i * sections.strides[1] + j * sections.strides[2];
        T sum = *reinterpret_cast<const T*>(at);
        for (int64_t s = 1; s < sections.shape[0]; ++s)
          sum = static_cast<T>(sum + *reinterpret_cast<const T*>(at + s * sections.strides[0]));
        *reinterpret_cast<To*>(out.base + i * out.strides[rank - 2] + j * out.strides[rank - 1]) = convert<To>(sum);
      }
    }
  };
  visit(to, [&](auto target) {
    switch (type) {
      case DType::kFloat32: return add(TypeOf<float>(), target);
      case DType::kFloat64: return add(TypeOf<double>(), target);
      case DType::kComplex64: return add(TypeOf<std::complex<float>>(), target);
      case DType::kComplex128: return add(TypeOf<std::complex<double>>(), target);
      case DType::kInt32: return add(TypeOf<uint32_t>(), target);
      default: return add(TypeOf<uint64_t>(), target);
    }
  });
}

void multiply_sections(DType from, DType type, int64_t section, const Bound& a, const Bound& b, const Bound& out,
                       Parallel& parallel) {
  const int rank = a.shape.size();
  const int64_t depth = a.shape[rank - 1], rows = out.shape[1], columns = out.shape[2];
  parallel.run(out.shape[0], [&](int64_t s) {
    SerialParallel alone;
    const int64_t lo = s * section;
    gemm(from, type, rows, columns, std::min(section, depth - lo), matrix_in(a, lo * a.strides[rank - 1]),
         matrix_in(b, lo * b.strides[rank - 2]), matrix_out(out, s * out.strides[0]), false, alone);
  });
}

void plan_by_depth(const Shape& p, int64_t section, CallPlan& plan) {
  const int64_t sections = ceil_div(p.depth, section);
  const DType type = product_type(p.from);
  const Dims shape = {sections, p.rows, p.columns};
  const View whole = partition::dense_view(shape, type, itemsize(type));
  const TilingPtr tiling = Tiling::even(shape, itemsize(type), 0, plan.devices());
  const StoreId products = plan.temporary(shape, itemsize(type), tiling);
  const Box result = Box::of(p.out.view.shape);
  plan.place(p.out.store, Tiling::single(p.out.view.shape, itemsize(p.to), 0));
  for (int64_t t = 0; t < tiling->tile_count(); ++t) {
    const Box box = tiling->tile_box(t);
    if (box.empty()) continue;
    const int64_t lo = box.lo[0] * section, hi = std::min(p.depth, box.hi[0] * section);
    Task task;
    task.device = std::max(tiling->owner(t), 0);
    task.inputs.push_back({p.a.store, p.a.view, left_region(result, lo, hi)});
    task.inputs.push_back({p.b.store, p.b.view, right_region(result, lo, hi)});
    task.outputs.push_back({products, whole, box});
    task.tells = !is_integer(p.from);
    task.cost = 2.0 * static_cast<double>(p.rows * p.columns) * static_cast<double>(hi - lo);
    task.body = [from = p.from, type, section](std::span<const Bound> in, std::span<const Bound> out,
                                               Parallel& parallel) {
      multiply_sections(from, type, section, in[0], in[1], out[0], parallel);
    };
    plan.add(std::move(task));
  }
  plan.next_step();
  Task join;
  join.inputs.push_back({products, whole, Box::of(shape)});
  join.outputs.push_back({p.out.store, p.out.view, result});
  join.tells = !is_integer(p.from);
  join.cost = static_cast<double>(whole.count());
  join.body = [type, to = p.to](std::span<const Bound> in, std::span<const Bound> out, Parallel&) {
    add_sections(type, to, in[0], out[0]);
  };
  plan.add(std::move(join));
  plan.next_step();
}

void plan_matmul(const Record& record, CallPlan& plan) {
  const Shape p(record);
  const int64_t section = p.stack() == 1 ? section_depth(p.rows, p.columns, p.depth) : 0;
  if (section) plan_by_depth(p, section, plan);
  else plan_by_result(p, plan);
}

}  // namespace

int64_t section_depth(int64_t rows, int64_t columns, int64_t depth) {
  if (rows * columns > kSmallResult || depth < 16 * kChunk || depth < 16 * std::max(rows, columns)) return 0;
  return ceil_div(ceil_div(depth, kSections), kChunk) * kChunk;
}

namespace {
// When the program starts, so that every rank knows the family before the stream names it.
const uint16_t kMatmulFamily = register_family({"matmul", plan_matmul});
}  // namespace

uint16_t matmul_family() { return kMatmulFamily; }

}  // namespace tilewise::ops
