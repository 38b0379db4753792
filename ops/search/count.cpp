// Counts and sums by bin. The values are cut into fixed sections, a function of their number and of the bins' alone: a
// section is counted on one core in order, and the sections' counts are added in index order. So float sums have the same
// bits however the values lie; few values are one section, which is NumPy's own order.
#include <algorithm>
#include <cstring>

#include "ops/record_builder.h"
#include "ops/search.h"
#include "ops/search/order.h"
#include "partition/tiling.h"
#include "runtime/step.h"

namespace tilewise::ops {

namespace {

using partition::Box;
using partition::Tiling;
using partition::TilingPtr;
using partition::View;

constexpr int64_t kSections = 64;
constexpr int64_t kLeast = 1 << 16;  // values of a section, and values for each bin of it

struct CountForm {
  int64_t bins = 0;
  int64_t section = 0;  // values
  Binning binning = Binning::kIndex;
  bool weighted = false;
  double width = 0;  // kUniform: from the first edge to the last
};

int64_t section_of(int64_t count, int64_t bins) {
  const int64_t least = std::max(kLeast, 4 * bins);
  const int64_t section = std::max(least, (count + kSections - 1) / kSections);
  return (section + 4095) / 4096 * 4096;
}

// Bins of values as numpy.histogram finds them.
template <class T>
class Uniform {
 public:
  Uniform(const Bound& edges, const CountForm& form)
      : edges_(reinterpret_cast<const T*>(edges.base)), bins_(form.bins), first_(edges_[0]), last_(edges_[bins_]),
        width_(static_cast<T>(form.width)), count_(static_cast<T>(bins_)) {}
  int64_t operator()(T value) const {
    if (!(value >= first_ && value <= last_)) return -1;
    auto index = static_cast<int64_t>((value - first_) / width_ * count_);
    if (index == bins_) --index;
    if (index < 0 || index >= bins_) return -1;
    if (value < edges_[index]) --index;
    else if (value >= edges_[index + 1] && index != bins_ - 1) ++index;
    return index;
  }

 private:
  const T* edges_;
  int64_t bins_;
  T first_, last_, width_, count_;
};

// Bins between edges, for several values at once: -1 outside, NaN too.
template <class T, int kValues>
void bins_between(const T* edges, int64_t bins, const T* values, int64_t* found) {
  search_several<true, kValues>(edges, bins + 1, values, found);
  for (int j = 0; j < kValues; ++j) found[j] = found[j] <= bins ? found[j] - 1 : values[j] == edges[bins] ? bins - 1 : -1;
}

// The values lo .. hi of a section, their weights, and where they are counted.
template <class Count>
struct Section {
  const Bound& values;
  const Bound* weights;
  int64_t lo, hi;
  Count* counts;

  template <class T>
  T value(int64_t i) const {
    return *reinterpret_cast<const T*>(values.base + i * values.strides[0]);
  }
  void add(int64_t i, int64_t bin) const {
    if (bin < 0) return;
    if constexpr (std::is_same_v<Count, double>)
      counts[bin] += *reinterpret_cast<const double*>(weights->base + i * weights->strides[0]);
    else
      counts[bin] += 1;
  }
};

template <class T, class Count, class Bin>
void count_each(const Section<Count>& section, const Bin& bin) {
  for (int64_t i = section.lo; i < section.hi; ++i) section.add(i, bin(section.template value<T>(i)));
}

template <class T, class Count>
void count_between(const Section<Count>& section, const T* edges, int64_t bins) {
  constexpr int kValues = 8;
  T values[kValues];
  int64_t found[kValues];
  int64_t i = section.lo;
  for (; i + kValues <= section.hi; i += kValues) {
    for (int j = 0; j < kValues; ++j) values[j] = section.template value<T>(i + j);
    bins_between<T, kValues>(edges, bins, values, found);
    for (int j = 0; j < kValues; ++j) section.add(i + j, found[j]);
  }
  for (; i < section.hi; ++i) {
    values[0] = section.template value<T>(i);
    bins_between<T, 1>(edges, bins, values, found);
    section.add(i, found[0]);
  }
}

template <class Count>
void count_task(const CountForm& form, DType dtype, const Bound& values, const Bound* edges, const Bound* weights,
                const Bound& out, Parallel& parallel) {
  const int64_t count = values.shape[0];
  parallel.run(out.shape[0], [&](int64_t s) {
    const int64_t lo = s * form.section, hi = std::min(count, lo + form.section);
    std::vector<Count> counts(static_cast<size_t>(form.bins));
    const Section<Count> section{values, weights, lo, hi, counts.data()};
    if (form.binning == Binning::kIndex) {
      count_each<int64_t>(section, [](int64_t index) { return index; });
    } else if (form.binning == Binning::kUniform && dtype == DType::kFloat32) {
      count_each<float>(section, Uniform<float>(*edges, form));
    } else if (form.binning == Binning::kUniform) {
      count_each<double>(section, Uniform<double>(*edges, form));
    } else {
      visit(dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        if constexpr (!kIsComplex<T> && !kIsHalf<T>)
          count_between(section, reinterpret_cast<const T*>(edges->base), form.bins);
      });
    }
    char* to = out.base + s * out.strides[0];
    for (int64_t b = 0; b < form.bins; ++b) *reinterpret_cast<Count*>(to + b * out.strides[1]) = counts[static_cast<size_t>(b)];
  });
}

template <class Count>
void add_sections(const Bound& sections, const Bound& out) {
  for (int64_t b = 0; b < out.shape[0]; ++b) {
    const char* at = sections.base + b * sections.strides[1];
    Count sum = 0;
    for (int64_t s = 0; s < sections.shape[0]; ++s) sum += *reinterpret_cast<const Count*>(at + s * sections.strides[0]);
    *reinterpret_cast<Count*>(out.base + b * out.strides[0]) = sum;
  }
}

void plan_count(const Record& record, CallPlan& plan) {
  CountForm form;
  std::memcpy(&form, record.bytes.data(), sizeof(form));
  const Ref &values = record.inputs[0], &out = record.outputs[0];
  const Ref* edges = form.binning == Binning::kIndex ? nullptr : &record.inputs[1];
  const Ref* weights = form.weighted ? &record.inputs.back() : nullptr;
  const DType dtype = values.view.dtype, type = out.view.dtype;
  const int64_t count = values.view.count();
  const int64_t sections = std::max<int64_t>(1, (count + form.section - 1) / form.section);
  const Dims shape = {sections, form.bins};
  const View whole = partition::dense_view(shape, type, itemsize(type));
  const TilingPtr tiling = Tiling::even(shape, itemsize(type), 0, plan.devices());
  const StoreId partial = plan.temporary(shape, itemsize(type), tiling);
  plan.place(out.store, Tiling::single(out.view.shape, out.view.itemsize, 0));
  for (int64_t t = 0; t < tiling->tile_count(); ++t) {
    const Box box = tiling->tile_box(t);
    if (box.empty()) continue;
    const Box range(Dims{box.lo[0] * form.section}, Dims{std::min(count, box.hi[0] * form.section)});
    Task task;
    task.device = std::max(tiling->owner(t), 0);
    task.inputs.push_back({values.store, values.view, range});
    if (edges) task.inputs.push_back({edges->store, edges->view, Box::of(edges->view.shape), false, true});
    if (weights) task.inputs.push_back({weights->store, weights->view, range});
    task.outputs.push_back({partial, whole, box});
    task.cost = 4 * static_cast<double>(range.count());
    task.body = [form, dtype](std::span<const Bound> in, std::span<const Bound> to, Parallel& parallel) {
      const Bound* edges = form.binning == Binning::kIndex ? nullptr : &in[1];
      if (form.weighted) count_task<double>(form, dtype, in[0], edges, &in.back(), to[0], parallel);
      else count_task<int64_t>(form, dtype, in[0], edges, nullptr, to[0], parallel);
    };
    plan.add(std::move(task));
  }
  plan.next_step();
  Task join;
  join.inputs.push_back({partial, whole, Box::of(shape)});
  join.outputs.push_back({out.store, out.view, Box::of(out.view.shape)});
  join.cost = static_cast<double>(whole.count());
  join.body = [weighted = form.weighted](std::span<const Bound> in, std::span<const Bound> to, Parallel&) {
    if (weighted) add_sections<double>(in[0], to[0]);
    else add_sections<int64_t>(in[0], to[0]);
  };
  plan.add(std::move(join));
  plan.next_step();
}

const uint16_t kCountFamily = register_family({"count", plan_count});

}  // namespace

Array count_bins(const Array& values, Binning binning, int64_t bins, const Array* edges, double width,
                 const Array* weights) {
  Array result = new_array(Dims{bins}, weights ? DType::kFloat64 : DType::kInt64);
  if (bins == 0) return result;
  CountForm form;
  form.bins = bins;
  form.section = section_of(values.view.count(), bins);
  form.binning = binning;
  form.weighted = weights != nullptr;
  form.width = width;
  std::vector<char> bytes(sizeof(form));
  std::memcpy(bytes.data(), &form, sizeof(form));
  SmallVec<const Array*, 4> in;
  in.push_back(&values);
  if (binning != Binning::kIndex) in.push_back(edges);
  if (weights) in.push_back(weights);
  record_call(kCountFamily, std::move(bytes), {in.begin(), static_cast<size_t>(in.size())}, result);
  return result;
}

}  // namespace tilewise::ops
