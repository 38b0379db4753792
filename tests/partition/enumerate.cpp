#include "tests/partition/enumerate.h"

#include <algorithm>

namespace tilewise::partition {

std::vector<Dims> all_shapes(int rank, int64_t lowest, int64_t highest) {
  std::vector<Dims> shapes;
  for_each_point(Box(Dims(rank, lowest), Dims(rank, highest + 1)), [&](const Dims& at) { shapes.push_back(at); });
  return shapes;
}

std::vector<Box> all_boxes(const Dims& shape) {
  std::vector<Box> boxes;
  Dims twice;
  for (int64_t extent : shape) {
    twice.push_back(extent);
    twice.push_back(extent);
  }
  for_each_point(Box::of(twice), [&](const Dims& at) {
    Box box = Box::of(shape);
    for (int k = 0; k < shape.size(); ++k) {
      box.lo[k] = at[2 * k];
      box.hi[k] = at[2 * k + 1] + 1;
    }
    if (!box.empty()) boxes.push_back(box);
  });
  return boxes;
}

std::vector<Cuts> all_cuts(int64_t extent) {
  std::vector<Cuts> cuts;
  const int64_t inner = std::max<int64_t>(extent - 1, 0);
  for (int64_t set = 0; set < int64_t{1} << inner; ++set) {
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < inner; ++i)
      if (set >> i & 1) positions.push_back(i + 1);
    cuts.push_back(Cuts::at(extent, positions));
  }
  return cuts;
}

std::vector<AxisSlice> all_slices(int64_t extent) {
  std::vector<AxisSlice> slices{{0, 1, 0}};
  for (int64_t step : {1, -1, 2, -2})
    for (int64_t start = 0; start < extent; ++start)
      for (int64_t count = step == 1 ? 1 : 2;; ++count) {
        const int64_t last = start + step * (count - 1);
        if (last < 0 || last >= extent) break;
        slices.push_back({start, step, count});
      }
  return slices;
}

Box random_box(Random& random, const Dims& shape) {
  Box box = Box::of(shape);
  for (int k = 0; k < shape.size(); ++k) {
    box.lo[k] = pick(random, 0, shape[k]);
    box.hi[k] = pick(random, box.lo[k], shape[k]);
  }
  return box;
}

Cuts random_cuts(Random& random, int64_t extent) {
  switch (pick(random, 0, 3)) {
    case 0: return Cuts::even(extent, pick(random, 1, 5), pick(random, 1, 3));
    case 1: return Cuts::every(extent, pick(random, 1, 4));
    case 2: return Cuts::whole(extent);
    default: break;
  }
  std::vector<int64_t> positions(pick(random, 0, 4));
  for (int64_t& position : positions) position = pick(random, 0, extent);
  std::sort(positions.begin(), positions.end());
  return Cuts::at(extent, positions);
}

namespace {

View random_slice(Random& random, const View& view) {
  const int axis = static_cast<int>(pick(random, 0, view.rank() - 1));
  const std::vector<AxisSlice> slices = all_slices(std::min<int64_t>(view.shape[axis], 9));
  const AxisSlice chosen =
      slices[pick(random, slices.size() > 1 ? 1 : 0, static_cast<int64_t>(slices.size()) - 1)];
  return slice(view, axis, chosen.start, chosen.step * (chosen.count > 1 ? 1 : pick(random, 1, 3)), chosen.count);
}

View random_reshape(Random& random, const View& view) {
  Dims shape;
  int64_t rest = view.count();
  while (rest > 1) {
    int64_t extent = pick(random, 1, rest);
    while (rest % extent != 0) ++extent;
    shape.push_back(extent);
    rest /= extent;
  }
  if (view.count() == 0) shape = Dims{0, 2};
  return reshape(view, shape).value_or(view);
}

View random_reinterpret(Random& random, const View& view) {
  static constexpr int32_t kSizes[] = {1, 2, 3, 4, 6, 8, 12};
  const int32_t itemsize = kSizes[pick(random, 0, 6)];
  const int last = view.rank() - 1;
  if (last < 0 || view.strides[last] != view.itemsize) return view;
  if (itemsize < view.itemsize && view.itemsize % itemsize != 0) return view;
  if (view.shape[last] * view.itemsize % itemsize != 0) return view;
  return reinterpret(view, DType::kVoid, itemsize);
}

}  // namespace

View random_view(Random& random, const StoreForm& form) {
  View view = dense_view(form.shape, DType::kVoid, static_cast<int32_t>(form.itemsize));
  for (int64_t change = pick(random, 1, 5); change > 0; --change) {
    switch (view.rank() == 0 ? 6 : pick(random, 0, 7)) {
      case 0:
      case 1: view = random_slice(random, view); break;
      case 2: view = flip(view, static_cast<int>(pick(random, 0, view.rank() - 1))); break;
      case 3: {
        SmallVec<int, 6> order(view.rank());
        for (int k = 0; k < view.rank(); ++k) order[k] = k;
        std::shuffle(order.begin(), order.end(), random);
        view = permute(view, order);
        break;
      }
      case 4: view = random_reshape(random, view); break;
      case 5:
        if (view.rank() >= 2) view = diagonal(view, pick(random, -1, 1), 0, static_cast<int>(view.rank() - 1));
        break;
      case 6: {
        view = newaxis(view, static_cast<int>(pick(random, 0, view.rank())));
        Dims wide(view.shape);
        for (int64_t& extent : wide)
          if (extent == 1) extent = pick(random, 1, 3);
        if (count_of(wide) <= 300) view = broadcast_to(view, wide);
        break;
      }
      default: view = random_reinterpret(random, view);
    }
  }
  return view;
}

View random_strides(Random& random, const StoreForm& form) {
  const int64_t bytes = form.bytes();
  View view;
  view.dtype = DType::kVoid;
  view.itemsize = static_cast<int32_t>(pick(random, 1, std::min<int64_t>(bytes, 4)));
  for (;;) {
    const int rank = static_cast<int>(pick(random, 0, 3));
    view.shape = Dims(rank);
    view.strides = Dims(rank);
    view.offset = pick(random, 0, bytes - view.itemsize);
    for (int k = 0; k < rank; ++k) {
      view.shape[k] = pick(random, 1, 7);
      view.strides[k] = pick(random, -bytes / 2, bytes / 2) / pick(random, 1, 8);
    }
    const Interval range = view.range();
    if (range.lo >= 0 && range.hi <= bytes) return view;
  }
}

Dims coordinates(const StoreForm& form, int64_t byte) {
  Dims at(form.shape.size());
  int64_t element = byte / form.itemsize;
  for (int k = form.shape.size() - 1; k >= 0; --k) {
    at[k] = element % form.shape[k];
    element /= form.shape[k];
  }
  return at;
}

}  // namespace tilewise::partition
