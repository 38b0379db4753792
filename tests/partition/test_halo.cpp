#include "partition/halo.h"

#include <gtest/gtest.h>

namespace tilewise::partition {
namespace {

struct Rows {
  TilingPtr tiling = Tiling::even({400, 50}, 8, 0, 4);
  View u = dense_view({400, 50}, DType::kFloat64, 8);
  std::vector<Access> accesses;

  void read(int64_t row, int64_t column) {
    accesses.emplace_back(region(u, Box({row, column}, {396 + row, 46 + column})), tiling);
  }
};

TEST(Margins, AreWhatTheViewsReachBeyondTheTile) {
  Rows r;
  r.read(2, 2);
  r.read(1, 2);
  r.read(4, 2);
  r.read(2, 0);
  const DomainPartition domain = DomainPartition::induced(r.accesses[0].view, *r.tiling, 4);
  const Margins middle = margins(r.accesses, domain.part_box(1), r.tiling->tile_box(1));
  EXPECT_EQ(middle.below, (Dims{1, 0}));
  EXPECT_EQ(middle.above, (Dims{2, 0}));
  EXPECT_EQ(with_margins(r.tiling->tile_box(1), middle, {400, 50}), Box({99, 0}, {202, 50}));
  // What lies at the edge of the store has nothing beyond it.
  const Margins first = margins(r.accesses, domain.part_box(0), r.tiling->tile_box(0));
  EXPECT_EQ(first.below, (Dims{0, 0}));
  EXPECT_EQ(with_margins(r.tiling->tile_box(0), first, {400, 50}), Box({0, 0}, {102, 50}));
}

TEST(Margins, TooWideOnesAreNone) {
  Rows r;
  r.read(0, 0);
  r.accesses.emplace_back(flip(region(r.u, Box({0, 0}, {396, 46})), 0), r.tiling);
  const Margins wide = margins(r.accesses, Box({100, 0}, {200, 46}), r.tiling->tile_box(1));
  EXPECT_TRUE(wide.empty());
}

TEST(Margins, GuardsCountOnlyWhereTheyHold) {
  Rows r;
  r.read(2, 2);
  r.accesses.emplace_back(region(r.u, Box({1, 2}, {397, 48})), r.tiling, Box({0, 0}, {50, 46}));
  EXPECT_TRUE(margins(r.accesses, Box({98, 0}, {198, 46}), r.tiling->tile_box(1)).empty());
}

// A tile with its margins reads all views in place: no border is left.
TEST(Margins, MakeTheWholePartTheInside) {
  Rows r;
  r.read(2, 2);
  r.read(1, 2);
  r.read(3, 2);
  const DomainPartition domain = DomainPartition::induced(r.accesses[0].view, *r.tiling, 4);
  const InstanceRule with_halo = [&](const Access& access, int64_t tile) {
    const Box box = access.tiling->tile_box(tile);
    const Margins around = margins(r.accesses, domain.part_box(tile), box);
    return InstanceBox(access.tiling->form(), with_margins(box, around, access.tiling->base_shape()));
  };
  BorderSplit split(domain, r.accesses, with_halo);
  for (int64_t part = 0; part < 4; ++part)
    EXPECT_EQ(split.of(part).boxes, std::vector<Box>{domain.part_box(part)});
}

}  // namespace
}  // namespace tilewise::partition
