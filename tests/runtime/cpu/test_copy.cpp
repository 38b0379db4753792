// The copy kernel against moving one element after another.

#include "runtime/cpu/copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "runtime/cpu/device.h"

namespace tilewise::cpu {

namespace {

void copy_slowly(char* to, const char* from, const CopyPiece& piece) {
  Dims at(piece.shape.size());
  for (int64_t i = count_of(piece.shape); i > 0; --i) {
    int64_t to_offset = piece.to_offset, from_offset = piece.from_offset;
    for (int k = 0; k < at.size(); ++k) {
      to_offset += at[k] * piece.to_strides[k];
      from_offset += at[k] * piece.from_strides[k];
    }
    std::memcpy(to + to_offset, from + from_offset, piece.itemsize);
    for (int k = at.size() - 1; k >= 0; --k) {
      if (++at[k] < piece.shape[k]) break;
      at[k] = 0;
    }
  }
}

class Buffers {
 public:
  Buffers(int64_t to_bytes, int64_t from_bytes) : from(from_bytes), expected(to_bytes, 0x55), got(to_bytes, 0x55) {
    for (int64_t i = 0; i < from_bytes; ++i) from[i] = static_cast<char>(i * 7 + i / 251);
  }
  void check(const std::vector<CopyPiece>& pieces) {
    for (const CopyPiece& piece : pieces) copy_slowly(expected.data(), from.data(), piece);
    SerialParallel serial;
    copy_pieces(got.data(), from.data(), pieces, serial);
    ASSERT_EQ(std::memcmp(expected.data(), got.data(), got.size()), 0);
  }
  std::vector<char> from, expected, got;
};

// Strides of a random layout of `shape`: axes in random order, gaps, some reversed; offset and bytes spanned.
struct Layout {
  Dims strides;
  int64_t offset = 0, bytes = 0;
};
Layout random_layout(const Dims& shape, int64_t itemsize, bool may_repeat, std::mt19937& random) {
  auto chance = [&](int one_in) { return random() % one_in == 0; };
  int rank = shape.size();
  std::vector<int> order(rank);
  for (int k = 0; k < rank; ++k) order[k] = k;
  if (chance(2)) std::shuffle(order.begin(), order.end(), random);
  Layout layout{Dims(rank), 0, 0};
  int64_t step = itemsize;
  for (int k = rank - 1; k >= 0; --k) {
    int axis = order[k];
    if (may_repeat && chance(6)) continue;  // stride 0
    if (chance(4)) step += static_cast<int64_t>(random() % 40);
    layout.strides[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1);
    if (chance(4)) {
      layout.offset += layout.strides[axis] * std::max<int64_t>(shape[axis] - 1, 0);
      layout.strides[axis] = -layout.strides[axis];
    }
  }
  layout.bytes = step + itemsize;
  return layout;
}

TEST(Copy, RandomLayouts) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    constexpr int64_t kItems[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 40};
    int64_t itemsize = kItems[random() % std::size(kItems)];
    Dims shape(static_cast<int>(random() % 5));
    for (int64_t& extent : shape) extent = random() % 20 == 0 ? 0 : 1 + random() % 9;
    if (shape.size() == 2 && round % 4 == 0) shape = {1 + int64_t(random() % 150), 1 + int64_t(random() % 150)};
    Layout to = random_layout(shape, itemsize, false, random), from = random_layout(shape, itemsize, true, random);
    Buffers buffers(to.bytes, from.bytes);
    buffers.check({{shape, to.strides, from.strides, to.offset, from.offset, itemsize}});
    if (HasFatalFailure()) FAIL() << "round " << round << " shape " << shape << " to " << to.strides << " from "
                                  << from.strides << " itemsize " << itemsize;
  }
}

TEST(Copy, ManyPiecesOfOneBuffer) {
  std::vector<CopyPiece> pieces;
  for (int64_t i = 0; i < 50; ++i) pieces.push_back({{i % 7, 3}, {24, 8}, {8, 80}, i * 200, i * 8, 8});
  Buffers buffers(50 * 200, 50 * 8 + 400);
  buffers.check(pieces);
}

TEST(Copy, PiecesLargerThanAChunk) {
  for (int64_t itemsize : {1, 2, 4, 8, 16, 12}) {
    int64_t n = 320, m = 290;
    Buffers buffers(n * m * itemsize, n * m * itemsize);
    int64_t s = itemsize;
    buffers.check({{{n, m}, {m * s, s}, {s, n * s}, 0, 0, s}});                        // transposed
    buffers.check({{{n, m}, {s, n * s}, {m * s, s}, 0, 0, s}});
    buffers.check({{{n * m}, {s}, {s}, 0, 0, s}});                                     // one row
    buffers.check({{{n, m - 1}, {m * s, s}, {m * s, s}, s, 0, s}});                    // rows
    buffers.check({{{n * m}, {s}, {-s}, 0, (n * m - 1) * s, s}});                      // reversed
    buffers.check({{{n * m / 2}, {2 * s}, {s}, 0, 0, s}});                             // spread
    buffers.check({{{n, m}, {m * s, s}, {0, s}, 0, 0, s}});                            // repeated rows
    buffers.check({{{n, m}, {m * s, s}, {s, 0}, 0, 0, s}});                            // repeated columns
    buffers.check({{{10, 32, m}, {s * m, s * m * 10, s}, {s * m * 32, s * m, s}, 0, 0, s}});
    if (HasFatalFailure()) FAIL() << itemsize;
  }
}

TEST(Copy, SharedAmongTheCores) {
  Machine& machine = make_machine("cpu:1", 0, 1);
  Device& device = *machine.devices()[0];
  int64_t n = 600, m = 500;
  std::vector<int64_t> from(n * m), to(n * m);
  for (int64_t i = 0; i < n * m; ++i) from[i] = i;
  wait(device.copy({to.data(), to.size() * 8}, {from.data(), from.size() * 8},
                   {{{m, n}, {n * 8, 8}, {8, m * 8}, 0, 0, 8}}, {}));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) ASSERT_EQ(to[i * n + j], j * m + i);
  }
}

TEST(Copy, ScatteredItemsCostMoreThanRows) {
  CopyPiece row{{1000}, {8}, {8}, 0, 0, 8}, column{{1000}, {800}, {8}, 0, 0, 8}, nothing{{0, 8}, {8, 8}, {8, 8}, 0, 0, 8};
  EXPECT_EQ(copy_cost({}), 0);
  EXPECT_EQ(copy_cost(std::vector{nothing}), 0);
  EXPECT_GT(copy_cost(std::vector{column}), 5 * copy_cost(std::vector{row}));
  EXPECT_EQ(copy_cost(std::vector{row, row}), 2 * copy_cost(std::vector{row}));
}

}  // namespace

}  // namespace tilewise::cpu
