// Devices with memories of their own exchange what the plans say; every part must find every byte once.
#include "partition/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "tests/partition/enumerate.h"

namespace tilewise::partition {
namespace {

using Bytes = std::vector<int64_t>;  // a byte's value is its number in the store, so wide cells instead of bytes
using Key = std::tuple<int, int64_t, int>;  // access, part, region

// A group over some devices: `devices` plans, executed by copying along pieces.
struct World {
  DomainPartition domain;
  std::vector<Access> accesses;
  int devices;
};

void copy_piece(const Piece& piece, Bytes* region, Bytes* instance, Bytes* message, bool pack) {
  for_each_point(Box::of(piece.shape), [&](const Dims& at) {
    int64_t in_region = piece.region_offset, in_instance = piece.instance_offset;
    for (int k = 0; k < at.size(); ++k) {
      in_region += at[k] * piece.region_strides[k];
      in_instance += at[k] * piece.instance_strides[k];
    }
    for (int b = 0; b < piece.itemsize; ++b) {
      int64_t& cell = region ? (*region)[in_region + b] : (*instance)[in_instance + b];
      if (pack) {
        message->push_back(cell);
      } else {
        cell = message->front();
        message->erase(message->begin());
      }
    }
  });
}

int64_t buffer_bytes(const World& world, const Key& key, const RegionRule& regions) {
  const auto& [access, part, region] = key;
  return regions(access, part)[region].count() * world.accesses[access].view.itemsize;
}

Bytes tile_bytes(const Access& access, int64_t tile) {
  const InstanceBox instance = dense_tile(access, tile);
  Bytes bytes(instance.bytes());
  const StoreForm& form = instance.form;
  int64_t next = 0;
  for_each_point(instance.box, [&](const Dims& at) {
    int64_t index = 0;
    for (int k = 0; k < at.size(); ++k) index = index * form.shape[k] + at[k];
    for (int b = 0; b < form.itemsize; ++b) bytes[next++] = index * form.itemsize + b;
  });
  return bytes;
}

// Sends of every device to each peer match the receives there: move by move, piece by piece in count and shape.
void check_matching(const std::vector<ExchangePlan>& plans) {
  for (size_t from = 0; from < plans.size(); ++from)
    for (size_t to = 0; to < plans.size(); ++to) {
      std::vector<const Move*> sends, receives;
      for (const Move& move : plans[from].sends)
        if (move.peer == static_cast<int>(to)) sends.push_back(&move);
      for (const Move& move : plans[to].receives)
        if (move.peer == static_cast<int>(from)) receives.push_back(&move);
      ASSERT_EQ(sends.size(), receives.size()) << from << " to " << to;
      for (size_t i = 0; i < sends.size(); ++i) {
        ASSERT_EQ(sends[i]->access, receives[i]->access);
        ASSERT_EQ(sends[i]->part, receives[i]->part);
        ASSERT_EQ(sends[i]->region, receives[i]->region);
        ASSERT_EQ(sends[i]->tile, receives[i]->tile);
        ASSERT_EQ(sends[i]->offset, receives[i]->offset);
        ASSERT_EQ(sends[i]->pieces.size(), receives[i]->pieces.size());
        for (size_t p = 0; p < sends[i]->pieces.size(); ++p)
          ASSERT_EQ(sends[i]->pieces[p].shape, receives[i]->pieces[p].shape);
      }
    }
}

// The messages of one direction: packed by `pack(move, piece, message)` and unpacked on the other side.
template <class Pack, class Unpack>
void deliver(const std::vector<ExchangePlan>& plans, Pack&& pack, Unpack&& unpack) {
  std::map<std::pair<int, int>, Bytes> messages;
  for (int device = 0; device < static_cast<int>(plans.size()); ++device) {
    for (const Move& move : plans[device].sends) {
      Bytes& message = messages[{device, move.peer}];
      ASSERT_EQ(static_cast<int64_t>(message.size()), move.offset);
      for (const Piece& piece : move.pieces) pack(move, piece, &message);
    }
    for (const Move& move : plans[device].local) {
      Bytes message;
      for (const Piece& piece : move.pieces) pack(move, piece, &message);
      for (const Piece& piece : move.pieces) unpack(move, piece, &message);
    }
  }
  for (int device = 0; device < static_cast<int>(plans.size()); ++device)
    for (const Move& move : plans[device].receives)
      for (const Piece& piece : move.pieces) unpack(move, piece, &messages[{move.peer, device}]);
  for (const auto& [peers, message] : messages) ASSERT_TRUE(message.empty());
}

void check_gather(const World& world, const RegionRule& regions) {
  std::vector<ExchangePlan> plans;
  for (int device = 0; device < world.devices; ++device)
    plans.push_back(plan_gather(world.domain, world.accesses, regions, device));
  check_matching(plans);
  if (testing::Test::HasFatalFailure()) return;
  std::map<Key, Bytes> buffers;
  const auto buffer = [&](const Move& move) -> Bytes* {
    const Key key{move.access, move.part, move.region};
    const auto [at, fresh] = buffers.try_emplace(key);
    if (fresh) at->second.assign(buffer_bytes(world, key, regions), -1);
    return &at->second;
  };
  deliver(
      plans,
      [&](const Move& move, const Piece& piece, Bytes* message) {
        Bytes tile = tile_bytes(world.accesses[move.access], move.tile);
        copy_piece(piece, nullptr, &tile, message, true);
      },
      [&](const Move& move, const Piece& piece, Bytes* message) {
        Bytes before = *buffer(move);
        copy_piece(piece, buffer(move), nullptr, message, false);
        for (size_t i = 0; i < before.size(); ++i)
          ASSERT_TRUE(before[i] == -1 || before[i] == (*buffer(move))[i]) << "arrived twice";
      });
  if (testing::Test::HasFatalFailure()) return;
  for (int a = 0; a < static_cast<int>(world.accesses.size()); ++a)
    for (int64_t part = 0; part < world.domain.part_count(); ++part) {
      const std::vector<Box> list = regions(a, part);
      for (int r = 0; r < static_cast<int>(list.size()); ++r) {
        if (list[r].empty()) continue;
        const Bytes& got = buffers[{a, part, r}];
        size_t next = 0;
        const View& view = world.accesses[a].view;
        ASSERT_EQ(static_cast<int64_t>(got.size()), list[r].count() * view.itemsize);
        for_each_point(list[r], [&](const Dims& at) {
          for (int b = 0; b < view.itemsize; ++b) ASSERT_EQ(got[next++], view.address(at) + b);
        });
      }
    }
}

// Writes: parts hold the values of their elements; afterwards tiles hold those of the written bytes, and no
// others.
void check_scatter(const World& world, const RegionRule& regions) {
  std::vector<ExchangePlan> plans;
  for (int device = 0; device < world.devices; ++device)
    plans.push_back(plan_scatter(world.domain, world.accesses, regions, device));
  check_matching(plans);
  if (testing::Test::HasFatalFailure()) return;
  std::map<std::pair<int, int64_t>, Bytes> tiles;
  for (int a = 0; a < static_cast<int>(world.accesses.size()); ++a)
    for (int64_t tile = 0; tile < world.accesses[a].tiling->tile_count(); ++tile)
      tiles[{a, tile}].assign(dense_tile(world.accesses[a], tile).bytes(), -1);
  deliver(
      plans,
      [&](const Move& move, const Piece& piece, Bytes* message) {
        Bytes buffer;
        const View& view = world.accesses[move.access].view;
        for_each_point(move.box, [&](const Dims& at) {
          for (int b = 0; b < view.itemsize; ++b) buffer.push_back(view.address(at) + b);
        });
        copy_piece(piece, &buffer, nullptr, message, true);
      },
      [&](const Move& move, const Piece& piece, Bytes* message) {
        copy_piece(piece, nullptr, &tiles[{move.access, move.tile}], message, false);
      });
  if (testing::Test::HasFatalFailure()) return;
  for (int a = 0; a < static_cast<int>(world.accesses.size()); ++a) {
    const Access& access = world.accesses[a];
    std::vector<bool> written(access.tiling->form().bytes());
    for (int64_t part = 0; part < world.domain.part_count(); ++part)
      for (const Box& box : regions(a, part))
        for_each_point(box, [&](const Dims& at) {
          for (int b = 0; b < access.view.itemsize; ++b) written[access.view.address(at) + b] = true;
        });
    for (int64_t tile = 0; tile < access.tiling->tile_count(); ++tile) {
      const Bytes truth = tile_bytes(access, tile), &got = tiles[{a, tile}];
      for (size_t i = 0; i < truth.size(); ++i) ASSERT_EQ(got[i], written[truth[i]] ? truth[i] : -1);
    }
  }
}

TilingPtr random_tiling(Random& random, const StoreForm& form, int devices) {
  if (pick(random, 0, 7) == 0) return Tiling::replicated(form.shape, static_cast<int32_t>(form.itemsize));
  std::vector<Cuts> cuts;
  int64_t count = 1;
  for (int64_t extent : form.shape) {
    cuts.push_back(random_cuts(random, extent));
    count *= cuts.back().count();
  }
  std::vector<int32_t> owners(count);
  for (int32_t& owner : owners) owner = static_cast<int32_t>(pick(random, 0, devices - 1));
  return Tiling::from_cuts(static_cast<int32_t>(form.itemsize), std::move(cuts),
                           pick(random, 0, 1) ? Owners::listed(owners) : Owners::cyclic(devices));
}

// Several views of one shape (the frame) of several stores, and a domain of one of three kinds.
World random_world(Random& random) {
  World world;
  world.devices = static_cast<int>(pick(random, 1, 4));
  const StoreForm form{{pick(random, 1, 6), pick(random, 1, 6)}, pick(random, 1, 2) * 2};
  const View first = random_view(random, form);
  world.accesses.emplace_back(first, random_tiling(random, form, world.devices));
  for (int64_t more = pick(random, 0, 2); more > 0; --more) {
    const StoreForm other{first.shape, pick(random, 1, 3)};  // a dense store of the frame's shape, or flipped
    View view = dense_view(other.shape, DType::kVoid, static_cast<int32_t>(other.itemsize));
    if (view.rank() > 0 && pick(random, 0, 1))
      view = flip(view, static_cast<int>(pick(random, 0, view.rank() - 1)));
    world.accesses.emplace_back(view, random_tiling(random, other, world.devices));
    if (pick(random, 0, 1)) world.accesses.back().guard = random_box(random, first.shape);
  }
  const Access& key = world.accesses[pick(random, 0, static_cast<int64_t>(world.accesses.size()) - 1)];
  world.domain = pick(random, 0, 1) ? DomainPartition::induced(key.view, *key.tiling, world.devices)
                                    : DomainPartition::by_count(first.shape, world.devices, 1);
  return world;
}

TEST(Exchange, WholePartsArriveOnce) {
  Random random(40);
  for (int round = 0; round < 3000; ++round) {
    const World world = random_world(random);
    if (count_of(world.domain.frame()) > 150) continue;
    check_gather(world, whole_parts(world.domain, world.accesses));
    check_scatter(world, whole_parts(world.domain, world.accesses));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Exchange, BordersArriveOnce) {
  Random random(41);
  for (int round = 0; round < 3000; ++round) {
    const World world = random_world(random);
    if (count_of(world.domain.frame()) > 150) continue;
    BorderSplit split(world.domain, world.accesses);
    check_gather(world, fetched_boxes(split));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// From any grid to any other over the same devices: redistribution.
TEST(Exchange, EveryPairOfTilingsOfASmallStore) {
  const Dims shape{4, 3};
  for (const Cuts& rows : all_cuts(4))
    for (const Cuts& columns : all_cuts(3))
      for (const Cuts& to_rows : all_cuts(4))
        for (const Cuts& to_columns : all_cuts(3)) {
          World world;
          world.devices = 3;
          world.domain = DomainPartition(Grid({to_rows, to_columns}, Owners::cyclic(3)));
          world.accesses.emplace_back(dense_view(shape, DType::kInt8, 1),
                                      Tiling::from_cuts(1, {rows, columns}, Owners::cyclic(3)));
          check_gather(world, whole_parts(world.domain, world.accesses));
          if (HasFatalFailure()) return;
        }
}

// What a stencil owes: a row to each neighbour and nothing else.
TEST(Exchange, HaloOfRowsIsOneRowEachWay) {
  const TilingPtr tiling = Tiling::even({400, 50}, 8, 0, 4);
  const View u = dense_view({400, 50}, DType::kFloat64, 8);
  std::vector<Access> accesses;
  for (const Box& box : {Box({1, 1}, {399, 49}), Box({0, 1}, {398, 49}), Box({2, 1}, {400, 49})})
    accesses.emplace_back(region(u, box), tiling);
  const DomainPartition domain = DomainPartition::induced(accesses[0].view, *tiling, 4);
  BorderSplit split(domain, accesses);
  EXPECT_EQ(split.of(1).boxes,
            (std::vector<Box>{Box({100, 0}, {198, 48}), Box({99, 0}, {100, 48}), Box({198, 0}, {199, 48})}));
  const ExchangePlan plan = plan_gather(domain, accesses, fetched_boxes(split), 1);
  const std::vector<PeerBytes> sent = messages(plan.sends), received = messages(plan.receives);
  ASSERT_EQ(sent.size(), 2u);
  ASSERT_EQ(received.size(), 2u);
  for (const std::vector<PeerBytes>& list : {sent, received})
    for (const PeerBytes& message : list) {
      EXPECT_TRUE(message.peer == 0 || message.peer == 2);
      EXPECT_EQ(message.bytes, 48 * 8);
    }
  EXPECT_TRUE(plan.local.empty());
}

}  // namespace
}  // namespace tilewise::partition
