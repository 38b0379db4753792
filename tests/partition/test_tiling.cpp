// Grids and tilings: every point in one tile, queries equal to looking at all tiles, inheritance through views.
#include "partition/tiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

Owners random_owners(Random& random, int64_t count) {
  if (pick(random, 0, 1)) return Owners::cyclic(static_cast<int>(pick(random, 1, 5)));
  std::vector<int32_t> list(count);
  for (int32_t& owner : list) owner = static_cast<int32_t>(pick(random, 0, 4));
  return Owners::listed(list);
}

Grid random_grid(Random& random, const Dims& shape) {
  std::vector<Cuts> cuts;
  int64_t count = 1;
  for (int64_t extent : shape) {
    cuts.push_back(random_cuts(random, extent));
    count *= cuts.back().count();
  }
  return Grid(std::move(cuts), random_owners(random, count));
}

void check_grid(Random& random, const Grid& grid) {
  int64_t points = 0, largest = 0;
  std::set<int> devices;
  for (int64_t cell = 0; cell < grid.cell_count(); ++cell) {
    const Box box = grid.cell_box(cell);
    points += box.count();
    largest = std::max(largest, box.count());
    devices.insert(grid.owner(cell));
    for_each_point(box, [&](const Dims& at) { ASSERT_EQ(grid.cell_at(at), cell); });
  }
  ASSERT_EQ(points, count_of(grid.shape()));
  ASSERT_GE(grid.largest_cell(), largest);
  ASSERT_GE(grid.device_count(), static_cast<int64_t>(devices.size()));
  for (int tries = 0; tries < 4; ++tries) {
    const Box box = tries == 0 ? Box::of(grid.shape()) : random_box(random, grid.shape());
    std::vector<int64_t> expected;
    for (int64_t cell = 0; cell < grid.cell_count(); ++cell)
      if (overlaps(grid.cell_box(cell), box)) expected.push_back(cell);
    ASSERT_EQ(grid.overlapping(box), expected) << box;
  }
  for (int device = -1; device <= 6; ++device) {
    std::vector<int64_t> expected;
    for (int64_t cell = 0; cell < grid.cell_count(); ++cell)
      if (grid.owner(cell) == device && !grid.cell_box(cell).empty()) expected.push_back(cell);
    ASSERT_EQ(grid.cells_of(device), expected);
  }
}

TEST(Grid, AllCutsOfTwoAxes) {
  Random random(20);
  for (const Dims& shape : all_shapes(2, 0, 4))
    for (const Cuts& rows : all_cuts(shape[0]))
      for (const Cuts& columns : all_cuts(shape[1])) {
        check_grid(random, Grid({rows, columns}, Owners::cyclic(3)));
        if (HasFatalFailure()) return;
      }
}

TEST(Grid, RandomGrids) {
  Random random(21);
  for (int round = 0; round < 3000; ++round) {
    Dims shape(static_cast<int>(pick(random, 0, 3)));
    for (int64_t& extent : shape) extent = pick(random, 0, 8);
    check_grid(random, random_grid(random, shape));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// Element by element: the owner of a view's element in the grid seen is that of the store's element.
void check_seen(const Grid& grid, const View& view, int64_t itemsize, bool exact) {
  const std::optional<Grid> seen = grid.seen_through(view, itemsize);
  if (!seen) {
    ASSERT_FALSE(exact) << view;
    return;
  }
  ASSERT_EQ(seen->shape(), view.shape);
  Random random(1);
  check_grid(random, *seen);
  if (!exact) return;
  for_each_point(Box::of(view.shape), [&](const Dims& at) {
    const Dims base = coordinates({grid.shape(), itemsize}, view.address(at));
    ASSERT_EQ(seen->owner(seen->cell_at(at)), grid.owner(grid.cell_at(base))) << view << " at " << at;
  });
}

TEST(Grid, SeenThroughSlicesFlipsAndPermutations) {
  Random random(22);
  for (int round = 0; round < 20000; ++round) {
    const Dims shape{pick(random, 1, 6), pick(random, 1, 6), pick(random, 1, 4)};
    Grid grid = random_grid(random, shape);
    View view = dense_view(shape, DType::kInt32, 4);
    for (int k = 0; k < 3; ++k) {
      const std::vector<AxisSlice> slices = all_slices(shape[k]);
      const AxisSlice s = slices[pick(random, 1, static_cast<int64_t>(slices.size()) - 1)];
      view = slice(view, k, s.start, s.step, s.count);
    }
    SmallVec<int, 6> order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    view = permute(view, order);
    if (pick(random, 0, 1)) {
      view = newaxis(view, static_cast<int>(pick(random, 0, 3)));
      Dims wide(view.shape);
      for (int64_t& extent : wide)
        if (extent == 1) extent = pick(random, 1, 3);
      view = broadcast_to(view, wide);
    }
    check_seen(grid, view, 4, true);
    // And again through what was seen.
    const std::optional<Grid> seen = grid.seen_through(view, 4);
    if (seen) check_seen(*seen, flip(dense_view(view.shape, DType::kInt32, 4), 0), 4, true);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Grid, SeenThroughAnyViewIsAGridOrNothing) {
  Random random(23);
  for (int round = 0; round < 20000; ++round) {
    const StoreForm form{{pick(random, 1, 6), pick(random, 1, 6)}, 4};
    const View view = random_view(random, form);
    if (view.count() <= 300) check_seen(random_grid(random, form.shape), view, 4, false);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Grid, FlatViewsOfRowCutsAreExact) {
  for (int64_t rows = 1; rows <= 5; ++rows)
    for (int64_t columns = 1; columns <= 5; ++columns)
      for (int parts = 1; parts <= 4; ++parts) {
        const Grid grid({Cuts::even(rows, parts), Cuts::whole(columns)}, Owners::cyclic(parts));
        const View flat = *reshape(dense_view({rows, columns}, DType::kInt8, 1), {rows * columns});
        check_seen(grid, flat, 1, true);
        check_seen(grid, flip(flat, 0), 1, true);
      }
}

TEST(Tiling, DefaultsAreLegalForAnyShape) {
  for (int rank : {0, 1, 2, 3})
    for (const Dims& shape : all_shapes(rank, 0, 4))
      for (int devices : {1, 2, 3, 7}) {
        const TilingPtr tiling = default_tiling(shape, 8, devices, 1);
        int64_t points = 0;
        for (int64_t tile = 0; tile < tiling->tile_count(); ++tile) points += tiling->tile_box(tile).count();
        ASSERT_EQ(points, count_of(shape));
        ASSERT_EQ(tiling->base_shape(), shape);
      }
  EXPECT_EQ(default_tiling({100}, 8, 4, 26)->tile_count(), 3);  // each at least 26
  EXPECT_EQ(default_tiling({100}, 8, 4, 1000, 2)->owner(0), 2);
  EXPECT_EQ(default_tiling({2, 1000}, 8, 7, 1)->tile_box(0), Box({0, 0}, {2, 142}));
  EXPECT_EQ(default_tiling({1000, 1000}, 8, 7, 1)->tile_box(6), Box({857, 0}, {1000, 1000}));
}

TEST(Tiling, InheritsShiftedCuts) {
  const TilingPtr u = Tiling::from_cuts(8, {Cuts::every(400, 100), Cuts::whole(50)}, Owners::cyclic(4));
  const View center = region(dense_view({400, 50}, DType::kFloat64, 8), Box({1, 1}, {399, 49}));
  const TilingPtr v = inherit(*u, center);
  ASSERT_TRUE(v);
  EXPECT_EQ(v->base_shape(), (Dims{398, 48}));
  EXPECT_EQ(v->tile_box(0), Box({0, 0}, {99, 48}));
  EXPECT_EQ(v->tile_box(3), Box({299, 0}, {398, 48}));
  EXPECT_EQ(v->owner(2), 2);
  EXPECT_EQ(v->hash(), inherit(*u, center)->hash());
  EXPECT_TRUE(*v == *inherit(*u, center));
  EXPECT_FALSE(*v == *u);
}

TEST(Tiling, DoesNotInheritWhatWouldPileUp) {
  const TilingPtr u = Tiling::even({400, 50}, 8, 0, 4);
  const View all = dense_view({400, 50}, DType::kFloat64, 8);
  EXPECT_FALSE(inherit(*u, region(all, Box({0, 0}, {100, 50}))));  // all on one device
  EXPECT_FALSE(inherit(*u, slice(all, 0, 7, 1, 1)));               // one row
  EXPECT_TRUE(inherit(*u, region(all, Box({0, 0}, {200, 50}))));   // twice the even share
  EXPECT_FALSE(inherit(*u, region(all, Box({0, 0}, {190, 50}))));
  EXPECT_TRUE(inherit(*u, permute(all, {1, 0})));
  EXPECT_TRUE(inherit(*u, broadcast_to(all, {3, 400, 50})));
  EXPECT_FALSE(inherit(*Tiling::replicated({400, 50}, 8), all));
}

TEST(Tiling, ReplicatedLiesEverywhere) {
  const TilingPtr tiling = Tiling::replicated({5}, 8);
  EXPECT_EQ(tiling->owner(0), kEveryDevice);
  EXPECT_EQ(tiling->tiles_of(17), std::vector<int64_t>{0});
  EXPECT_EQ(tiling->tile_box(0), Box::of({5}));
  EXPECT_FALSE(*tiling == *Tiling::single({5}, 8, 0));
}

TEST(Tiling, TenThousandTiles) {
  const TilingPtr tiling =
      Tiling::from_cuts(8, {Cuts::even(1000000, 100), Cuts::even(1000000, 100)}, Owners::cyclic(10000));
  EXPECT_EQ(tiling->tiles_of(5050), std::vector<int64_t>{5050});
  EXPECT_EQ(tiling->tile_box(5050), Box({500000, 500000}, {510000, 510000}));
  EXPECT_EQ(tiling->tiles_overlapping(Box({509999, 500000}, {510001, 510000})),
            (std::vector<int64_t>{5050, 5150}));
}

}  // namespace
}  // namespace tilewise::partition
