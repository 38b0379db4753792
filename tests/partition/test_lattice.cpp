// How many pieces views need: few where memory is regular, however large the store.
#include "partition/lattice.h"

#include <gtest/gtest.h>

#include "partition/pieces.h"

namespace tilewise::partition {
namespace {

size_t count_pieces(const View& view, const Box& region, const Dims& shape, const Box& tile) {
  return pieces(view, region, InstanceBox({shape, view.itemsize}, tile)).size();
}

View dense(const Dims& shape) { return dense_view(shape, DType::kFloat64, 8); }

TEST(Lattice, FlatViews) {
  const Dims shape{100000, 100000};
  const View flat = *reshape(dense(shape), {count_of(shape)});
  const Box all = Box::of(flat.shape), some({123456}, {9876543210});
  EXPECT_EQ(count_pieces(flat, all, shape, Box({0, 0}, {50000, 100000})), 1u);
  EXPECT_EQ(count_pieces(flat, some, shape, Box({0, 0}, {50000, 100000})), 1u);
  EXPECT_EQ(count_pieces(flat, all, shape, Box({0, 25000}, {100000, 50000})), 1u);
  EXPECT_LE(count_pieces(flat, some, shape, Box({7, 25000}, {70000, 50000})), 3u);
  EXPECT_LE(count_pieces(flip(flat, 0), some, shape, Box({7, 25000}, {70000, 50000})), 3u);
  const Dims cube{1000, 1000, 1000};
  const View flat_cube = *reshape(dense(cube), {count_of(cube)});
  EXPECT_LE(count_pieces(flat_cube, Box({123456}, {987654321}), cube, Box({5, 6, 7}, {900, 800, 700})), 7u);
}

TEST(Lattice, StepsThatDoNotDivideRows) {
  const Dims shape{100000, 100000};
  const View flat = *reshape(dense(shape), {count_of(shape)});
  const View thirds = slice(flat, 0, 1, 3, 3000000000);
  EXPECT_LE(count_pieces(thirds, Box::of(thirds.shape), shape, Box({0, 25000}, {100000, 50000})), 8u);
}

TEST(Lattice, MergedAndSplitAxes) {
  const Dims shape{1000, 1000};
  const View halves = *reshape(dense(shape), {500, 2000}), doubled = *reshape(dense(shape), {2000, 500});
  EXPECT_LE(count_pieces(halves, Box::of(halves.shape), shape, Box({0, 250}, {1000, 500})), 2u);
  EXPECT_LE(count_pieces(doubled, Box::of(doubled.shape), shape, Box({0, 250}, {1000, 750})), 3u);
  // Rows of 1000 in rows of 999: each row of the view begins elsewhere, so it takes pieces by row, not by element.
  const Dims odd{1000, 999};
  const View other = *reshape(dense(odd), {999, 1000});
  EXPECT_LE(count_pieces(other, Box::of(other.shape), odd, Box({0, 250}, {1000, 500})), 2000u);
}

TEST(Lattice, DiagonalsAndWindows) {
  const Dims shape{10000, 10000};
  const View u = dense(shape);
  EXPECT_EQ(count_pieces(diagonal(u, 3, 0, 1), Box::of({9997}), shape, Box({100, 0}, {5000, 4000})), 1u);
  EXPECT_EQ(count_pieces(diagonal(flip(u, 1), 0, 0, 1), Box::of({10000}), shape, Box({100, 0}, {9000, 4000})), 1u);
  View windows = newaxis(u, 2);
  windows.shape = {10000, 9992, 9};
  windows.strides[2] = 8;
  EXPECT_LE(count_pieces(windows, Box::of(windows.shape), shape, Box({0, 2500}, {10000, 5000})), 17u);
}

TEST(Lattice, ItemsAreNotTakenApart) {
  const Dims shape{1000, 1000};
  const View bytes = reinterpret(dense(shape), DType::kUInt8, 1);
  EXPECT_EQ(count_pieces(bytes, Box::of(bytes.shape), shape, Box::of(shape)), 1u);
  const StoreForm form{shape, 8};
  const View pairs = reinterpret(dense(shape), DType::kComplex128, 16);
  const std::vector<Piece> cut = pieces(pairs, Box::of(pairs.shape), InstanceBox(form, Box({0, 0}, {1000, 501})));
  ASSERT_EQ(cut.size(), 2u);  // whole items, and halves of those at the cut
  EXPECT_EQ(cut[0].bytes() + cut[1].bytes(), 1000 * 501 * 8);
  const View parts = imag_part(dense_view(shape, DType::kComplex128, 16));
  EXPECT_EQ(pieces(parts, Box::of(shape), InstanceBox({shape, 16}, Box({0, 0}, {7, 5}))).size(), 1u);
}

TEST(Lattice, ManyAxes) {
  Dims shape(64, 1);
  shape[3] = 5;
  shape[60] = 7;
  const StoreForm form{shape, 8};
  Box tile = Box::of(shape);
  tile.lo[60] = 2;
  const View u = dense_view(shape, DType::kFloat64, 8);
  const std::vector<Piece> list = pieces(u, Box::of(shape), InstanceBox(form, tile));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].shape, (Dims{5, 5}));
  EXPECT_EQ(list[0].region_offset, 16);
}

}  // namespace
}  // namespace tilewise::partition
