#include "partition/exchange.h"

#include <algorithm>
#include <tuple>

namespace tilewise::partition {
namespace {

// Both directions look at the same pairs of a part and a tile; only who sends differs.
class Planner {
 public:
  Planner(const DomainPartition& domain, const std::vector<Access>& accesses, const RegionRule& regions,
          int device, const InstanceRule& instances)
      : domain_(domain), accesses_(accesses), regions_(regions), device_(device), instances_(instances) {}

  void for_own_parts(std::vector<Move>* remote, std::vector<Move>* local) {
    for (int64_t part : domain_.parts_of(device_))
      for (int a = 0; a < static_cast<int>(accesses_.size()); ++a) {
        const std::vector<Box> regions = regions_(a, part);
        for (int r = 0; r < static_cast<int>(regions.size()); ++r)
          for_tiles_of_region(a, part, r, regions[r], remote, local);
      }
    sort(remote);
    sort(local);
  }

  // Tiles of replicated stores are at hand everywhere: nobody sends them.
  void for_own_tiles(std::vector<Move>* remote) {
    for (int a = 0; a < static_cast<int>(accesses_.size()); ++a) {
      const Access& access = accesses_[a];
      if (access.tiling->is_replicated()) continue;
      for (int64_t tile : access.tiling->tiles_of(device_)) {
        const Box image =
            preimage(access.view, access.guard, access.tiling->form(), access.tiling->tile_box(tile));
        if (image.empty()) continue;
        const InstanceBox instance = instances_(access, tile);
        domain_.grid().for_each_overlapping(image, [&](int64_t part) {
          const int peer = domain_.owner(part);
          if (peer == device_) return;
          const std::vector<Box> regions = regions_(a, part);
          for (int r = 0; r < static_cast<int>(regions.size()); ++r)
            if (overlaps(regions[r], image)) add(peer, a, part, r, regions[r], tile, instance, remote);
        });
      }
    }
    sort(remote);
  }

 private:
  void for_tiles_of_region(int a, int64_t part, int r, const Box& region, std::vector<Move>* remote,
                           std::vector<Move>* local) {
    const Access& access = accesses_[a];
    const Box held = footprint(access.view, region, access.tiling->form());
    access.tiling->grid().for_each_overlapping(held, [&](int64_t tile) {
      const int owner = access.tiling->owner(tile);
      const bool here = owner == device_ || owner == kEveryDevice;
      add(here ? device_ : owner, a, part, r, region, tile, instances_(access, tile), here ? local : remote);
    });
  }

  void add(int peer, int a, int64_t part, int r, const Box& region, int64_t tile, const InstanceBox& instance,
           std::vector<Move>* moves) {
    Move move;
    move.pieces = pieces(accesses_[a].view, region, instance);
    if (move.pieces.empty()) return;
    move.peer = peer;
    move.access = a;
    move.part = part;
    move.region = r;
    move.tile = tile;
    move.box = region;
    for (const Piece& piece : move.pieces) move.bytes += piece.bytes();
    moves->push_back(std::move(move));
  }

  static void sort(std::vector<Move>* moves) {
    const auto key = [](const Move& m) { return std::tie(m.peer, m.access, m.part, m.region, m.tile); };
    std::sort(moves->begin(), moves->end(), [&](const Move& a, const Move& b) { return key(a) < key(b); });
    int64_t offset = 0;
    for (size_t i = 0; i < moves->size(); ++i) {
      Move& move = (*moves)[i];
      if (i > 0 && (*moves)[i - 1].peer != move.peer) offset = 0;
      move.offset = offset;
      offset += move.bytes;
    }
  }

  const DomainPartition& domain_;
  const std::vector<Access>& accesses_;
  const RegionRule& regions_;
  int device_;
  const InstanceRule& instances_;
};

}  // namespace

RegionRule whole_parts(const DomainPartition& domain, const std::vector<Access>& accesses) {
  return [&domain, &accesses](int access, int64_t part) {
    const Box region = intersect(domain.part_box(part), accesses[access].guard);
    return region.empty() ? std::vector<Box>{} : std::vector<Box>{region};
  };
}

RegionRule fetched_boxes(BorderSplit& split) {
  return [&split](int access, int64_t part) {
    std::vector<Box> regions;
    const PartBoxes& boxes = split.of(part);
    for (size_t b = 0; b < boxes.boxes.size(); ++b)
      if (boxes.fetched[access][b]) regions.push_back(intersect(boxes.boxes[b], split.accesses()[access].guard));
    return regions;
  };
}

ExchangePlan plan_gather(const DomainPartition& domain, const std::vector<Access>& accesses,
                         const RegionRule& regions, int device, const InstanceRule& instances) {
  ExchangePlan plan;
  Planner planner(domain, accesses, regions, device, instances);
  planner.for_own_tiles(&plan.sends);
  planner.for_own_parts(&plan.receives, &plan.local);
  return plan;
}

ExchangePlan plan_scatter(const DomainPartition& domain, const std::vector<Access>& accesses,
                          const RegionRule& regions, int device, const InstanceRule& instances) {
  ExchangePlan plan;
  Planner planner(domain, accesses, regions, device, instances);
  planner.for_own_parts(&plan.sends, &plan.local);
  planner.for_own_tiles(&plan.receives);
  return plan;
}

std::vector<PeerBytes> messages(const std::vector<Move>& moves) {
  std::vector<PeerBytes> list;
  for (size_t i = 0; i < moves.size(); ++i) {
    if (list.empty() || list.back().peer != moves[i].peer) list.push_back({moves[i].peer, 0, i, 0});
    list.back().bytes += moves[i].bytes;
    ++list.back().count;
  }
  return list;
}

}  // namespace tilewise::partition
