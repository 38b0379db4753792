// Every view, every box: each byte of the region that lies in the instance is in exactly one piece, at its
// address.
#include "partition/pieces.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/base/error.h"
#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

// Where each byte of a region's dense buffer lies in an instance, or -1, by counting.
struct Truth {
  std::vector<int64_t> place;
  int64_t inside = 0;

  Truth(const View& view, const Box& region, const InstanceBox& instance) {
    const StoreForm& form = instance.form;
    for_each_point(region, [&](const Dims& at) {
      for (int b = 0; b < view.itemsize; ++b) {
        const int64_t byte = view.address(at) + b;
        const Dims point = coordinates(form, byte);
        place.push_back(-1);
        if (!instance.clip.contains(point)) continue;
        ++inside;
        int64_t index = 0, rows = 0;
        const int rank = point.size();
        for (int k = 0; k < rank; ++k) {
          if (k == rank - 1) rows = index;
          index = index * instance.box.extent(k) + point[k] - instance.box.lo[k];
        }
        int64_t where = index * form.itemsize;
        if (instance.row_pitch > 0)
          where = rows * instance.row_pitch + (point[rank - 1] - instance.box.lo[rank - 1]) * form.itemsize;
        place.back() = where + byte % form.itemsize;
      }
    });
  }
};

std::string describe(const View& view, const Box& region, const InstanceBox& instance) {
  return str("view ", view, " region ", region, " base ", instance.form.shape, "x", instance.form.itemsize,
             " box ", instance.box, " clip ", instance.clip, " pitch ", instance.row_pitch);
}

void check_pieces(const View& view, const Box& region, const InstanceBox& instance, const Truth& truth) {
  std::vector<int64_t> found(truth.place.size(), -1);
  int64_t total = 0;
  for (const Piece& piece : pieces(view, region, instance)) {
    for_each_point(Box::of(piece.shape), [&](const Dims& at) {
      int64_t from = piece.region_offset, to = piece.instance_offset;
      for (int k = 0; k < at.size(); ++k) {
        from += at[k] * piece.region_strides[k];
        to += at[k] * piece.instance_strides[k];
      }
      for (int b = 0; b < piece.itemsize; ++b) {
        ASSERT_TRUE(from + b >= 0 && from + b < static_cast<int64_t>(found.size()));
        ASSERT_EQ(found[from + b], -1) << "twice";
        found[from + b] = to + b;
        ++total;
      }
    });
  }
  ASSERT_EQ(total, truth.inside);
  ASSERT_EQ(found, truth.place);
}

// The access that the region's first element and its neighbours on each axis ask for, if all others follow it.
std::optional<DirectAccess> true_access(const View& view, const Box& region, const Truth& truth) {
  DirectAccess access{0, Dims(view.rank())};
  if (region.empty()) return access;
  if (truth.inside != static_cast<int64_t>(truth.place.size())) return std::nullopt;
  access.offset = truth.place[0];
  int64_t step = view.itemsize;
  for (int k = view.rank() - 1; k >= 0; --k) {
    if (region.extent(k) > 1) access.strides[k] = truth.place[step] - truth.place[0];
    step *= region.extent(k);
  }
  size_t next = 0;
  bool affine = true;
  for_each_point(region, [&](const Dims& at) {
    int64_t where = access.offset;
    for (int k = 0; k < at.size(); ++k) where += access.strides[k] * (at[k] - region.lo[k]);
    for (int b = 0; b < view.itemsize; ++b) affine = affine && truth.place[next++] == where + b;
  });
  if (affine) return access;
  return std::nullopt;
}

// Some accesses are affine by chance, though the view wraps; direct() need not find those.
void check_boxes(const View& view, const Box& region, const InstanceBox& instance, const Truth& truth,
                 bool any_strides) {
  const std::optional<DirectAccess> expected = true_access(view, region, truth);
  const std::optional<DirectAccess> got = direct(view, region, instance);
  if (got) {
    ASSERT_TRUE(expected);
    ASSERT_EQ(got->offset, expected->offset);
    ASSERT_EQ(got->strides, expected->strides);
  }
  const Box inner = interior(view, region, instance);
  ASSERT_TRUE(region.contains(inner));
  if (got && !region.empty()) {
    ASSERT_EQ(inner, region);
  }
  if (!inner.empty()) {
    ASSERT_TRUE(direct(view, inner, instance));
  }
  // Bounding box of the elements inside.
  Box truly = Box::nothing(view.rank());
  size_t next = 0;
  bool some_readable = false;
  for_each_point(region, [&](const Dims& at) {
    bool touches = false, readable = true;
    const int64_t first = truth.place[next];
    for (int b = 0; b < view.itemsize; ++b, ++next) {
      touches = truth.place[next] >= 0 || touches;
      readable = readable && first >= 0 && truth.place[next] == first + b;
    }
    some_readable = some_readable || readable;
    Box point(at, at);
    for (int k = 0; k < at.size(); ++k) ++point.hi[k];
    if (touches) truly = hull(truly, point);
  });
  // Items wider than the base's, or that begin anywhere, may be found in parts only.
  if (some_readable && !any_strides && view.itemsize <= instance.form.itemsize) {
    ASSERT_FALSE(inner.empty());
  }
  const Box image = preimage(view, region, instance);
  ASSERT_TRUE(image.contains(truly)) << image << " lacks " << truly;
  ASSERT_TRUE(region.contains(image));
}

void check(const View& view, const Box& region, const InstanceBox& instance, bool any_strides = false) {
  const Truth truth(view, region, instance);
  check_pieces(view, region, instance, truth);
  check_boxes(view, region, instance, truth, any_strides);
  if (testing::Test::HasFatalFailure()) FAIL() << describe(view, region, instance);
}

void check_footprint(const View& view, const Box& region, const StoreForm& form) {
  const Box box = footprint(view, region, form);
  for_each_point(region, [&](const Dims& at) {
    for (int b = 0; b < view.itemsize; ++b)
      ASSERT_TRUE(box.contains(coordinates(form, view.address(at) + b))) << view << region << form.shape << box;
  });
}

// Views that move along one base axis each: all slices of all axes.
template <class F>
void for_each_sliced(const View& whole, int axis, F&& f) {
  if (axis == whole.rank()) return f(whole);
  for (const AxisSlice& s : all_slices(whole.shape[axis]))
    for_each_sliced(slice(whole, axis, s.start, s.step, s.count), axis + 1, f);
}

void check_all_slices(const Dims& shape) {
  const StoreForm form{shape, 1};
  std::vector<InstanceBox> instances;
  for (const Box& box : all_boxes(shape)) instances.emplace_back(form, box);
  for_each_sliced(dense_view(shape, DType::kInt8, 1), 0, [&](const View& view) {
    const Box region = Box::of(view.shape);
    check_footprint(view, region, form);
    for (const InstanceBox& instance : instances) {
      check(view, region, instance);
      // Separable: at most one piece, and an exact preimage that is the interior.
      ASSERT_LE(pieces(view, region, instance).size(), 1u);
      ASSERT_EQ(preimage(view, region, instance), interior(view, region, instance));
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(Pieces, SlicesOfOneAxis) {
  for (const Dims& shape : all_shapes(1, 0, 6)) check_all_slices(shape);
}
TEST(Pieces, SlicesOfTwoAxes) {
  for (const Dims& shape : all_shapes(2, 0, 4)) check_all_slices(shape);
}
TEST(Pieces, SlicesOfThreeAxes) {
  for (const Dims& shape : all_shapes(3, 0, 2)) check_all_slices(shape);
  for (const Dims& shape : {Dims{3, 2, 2}, Dims{2, 3, 2}, Dims{2, 2, 3}, Dims{1, 3, 3}}) check_all_slices(shape);
}

TEST(Pieces, WithoutAxes) {
  const StoreForm form{{}, 8};
  check(dense_view({}, DType::kFloat64, 8), Box::of({}), InstanceBox(form, Box::of({})));
  check(broadcast_to(dense_view({}, DType::kFloat64, 8), {2, 3}), Box::of({2, 3}), InstanceBox(form, Box::of({})));
}

// Reshapes of a dense store to every shape of the same count: merged and split axes, on every box.
TEST(Pieces, EveryReshape) {
  for (int rank : {1, 2, 3})
    for (const Dims& shape : all_shapes(rank, 1, 4)) {
      const StoreForm form{shape, 1};
      const View whole = dense_view(shape, DType::kInt8, 1);
      for (int to_rank : {1, 2, 3})
        for (const Dims& to : all_shapes(to_rank, 1, to_rank == 1 ? 64 : 12)) {
          if (count_of(to) != count_of(shape)) continue;
          for (const Box& box : all_boxes(shape)) check(*reshape(whole, to), Box::of(to), InstanceBox(form, box));
          if (HasFatalFailure()) return;
        }
    }
}

// A flat view with every step and offset: rows that steps do not divide.
TEST(Pieces, StepsOfFlatViews) {
  for (const Dims& shape : {Dims{5, 7}, Dims{7, 5}, Dims{9, 2}, Dims{3, 4, 5}}) {
    const StoreForm form{shape, 1};
    const View flat = *reshape(dense_view(shape, DType::kInt8, 1), {count_of(shape)});
    const std::vector<Box> boxes = all_boxes(shape);
    for (int64_t step = 1; step < count_of(shape); ++step)
      for (int64_t start = 0; start < step; start += 2) {
        View view = slice(flat, 0, start, step, (count_of(shape) - start + step - 1) / step);
        if (step % 2 == 1) view = flip(view, 0);
        for (size_t b = step % 3; b < boxes.size(); b += 3)
          check(view, Box::of(view.shape), InstanceBox(form, boxes[b]));
        if (HasFatalFailure()) return;
      }
  }
}

TEST(Pieces, DiagonalsAndWindows) {
  for (const Dims& shape : all_shapes(2, 1, 5)) {
    const StoreForm form{shape, 1};
    const View whole = dense_view(shape, DType::kInt8, 1);
    std::vector<View> views;
    for (int64_t k = -4; k <= 4; ++k) {
      views.push_back(diagonal(whole, k, 0, 1));
      views.push_back(diagonal(flip(whole, 1), k, 0, 1));
    }
    for (int64_t width = 1; width <= shape[1]; ++width) {  // sliding windows along rows
      View windows = newaxis(whole, 2);
      windows.shape = {shape[0], shape[1] - width + 1, width};
      windows.strides[2] = windows.strides[1];
      views.push_back(windows);
    }
    for (const View& view : views)
      for (const Box& box : all_boxes(shape)) check(view, Box::of(view.shape), InstanceBox(form, box));
    if (HasFatalFailure()) return;
  }
}

StoreForm random_form(Random& random) {
  static constexpr int64_t kSizes[] = {1, 2, 4, 8, 12, 16};
  StoreForm form{Dims(static_cast<int>(pick(random, 1, 3))), kSizes[pick(random, 0, 5)]};
  for (int64_t& extent : form.shape) extent = pick(random, 1, form.shape.size() == 1 ? 24 : 6);
  return form;
}

void check_random(uint32_t seed, int rounds, View (*make)(Random&, const StoreForm&)) {
  Random random(seed);
  const bool any_strides = make == random_strides;
  for (int round = 0; round < rounds; ++round) {
    const StoreForm form = random_form(random);
    const View view = make(random, form);
    if (view.count() * view.itemsize > 4000) continue;
    for (int tries = 0; tries < 4; ++tries) {
      const Box region = tries == 0 ? Box::of(view.shape) : random_box(random, view.shape);
      const Box box = random_box(random, form.shape);
      if (tries % 2 == 0) {
        check(view, region, InstanceBox(form, box), any_strides);
      } else {  // a clip within it, and padded rows
        Box clip = shifted(random_box(random, box.shape()), box.lo);
        const int64_t row = box.extent(box.rank() - 1) * form.itemsize;
        check(view, region, InstanceBox(form, box, clip, tries == 1 ? row + 5 : 0), any_strides);
      }
      check_footprint(view, region, form);
    }
    if (testing::Test::HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Pieces, ChainsOfViews) { check_random(1, 100000, random_view); }
TEST(Pieces, AnyStrides) { check_random(2, 100000, random_strides); }

// The order of bytes in a message is the same for a tile with margins as for the tile alone.
TEST(Pieces, OrderDoesNotDependOnMargins) {
  Random random(3);
  for (int round = 0; round < 20000; ++round) {
    const StoreForm form = random_form(random);
    const View view = random_view(random, form);
    if (view.count() * view.itemsize > 4000) continue;
    const Box box = random_box(random, form.shape);
    const Box clip = shifted(random_box(random, box.shape()), box.lo);
    const auto order = [&](const InstanceBox& instance) {
      std::vector<int64_t> bytes;
      for (const Piece& piece : pieces(view, Box::of(view.shape), instance))
        for_each_point(Box::of(piece.shape), [&](const Dims& at) {
          int64_t from = piece.region_offset;
          for (int k = 0; k < at.size(); ++k) from += at[k] * piece.region_strides[k];
          for (int b = 0; b < piece.itemsize; ++b) bytes.push_back(from + b);
        });
      return bytes;
    };
    ASSERT_EQ(order(InstanceBox(form, box, clip, 0)), order(InstanceBox(form, clip)))
        << describe(view, Box::of(view.shape), InstanceBox(form, box, clip, 0));
  }
}

}  // namespace
}  // namespace tilewise::partition
