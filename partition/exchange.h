// Who sends what to whom: the moves of one device, found by looking at its own tiles and parts alone.
//
// Parts of a domain read (gather) or write (scatter) regions of views; what lies in tiles of other devices must
// travel. plan_gather gives what one device sends out of its tiles for other devices' parts, and what it receives
// for its own. Both ends list a message's moves in the same order (access, part, region, tile) and each move's
// bytes in the order of its pieces, so nothing but bytes is sent. Time is proportional to the device's own parts,
// tiles and neighbours, never to the number of devices. Pure functions.
#pragma once

#include <functional>
#include <vector>

#include "partition/domain.h"
#include "partition/pieces.h"
#include "partition/split.h"

namespace tilewise::partition {

// The regions of an access (boxes of the frame, within its guard) that a part needs in dense buffers of their own.
// Asked for neighbours' parts too: it must give the same answer on every device.
using RegionRule = std::function<std::vector<Box>(int access, int64_t part)>;
// All of the part that the access uses.
RegionRule whole_parts(const DomainPartition& domain, const std::vector<Access>& accesses);
// The slabs (and the inner box) for which the split says that the access is fetched. Keeps the reference.
RegionRule fetched_boxes(BorderSplit& split);

struct Move {
  int peer = 0;      // the other device; this one itself for a local copy
  int access = 0;    // index into the accesses
  int64_t part = 0;  // of the domain
  int region = 0;    // index into the rule's answer
  int64_t tile = 0;  // of the access' store
  Box box;           // the region itself
  std::vector<Piece> pieces;
  int64_t bytes = 0;   // of all pieces
  int64_t offset = 0;  // where this move's bytes begin in the one message to (from) the peer
};

// Sorted by peer, then access, part, region, tile.
struct ExchangePlan {
  std::vector<Move> sends, receives, local;
};

// Tiles to the buffers of parts. A send packs pieces from the tile's instance; a receive unpacks them into the
// region's buffer; a local move copies from instance to buffer.
ExchangePlan plan_gather(const DomainPartition& domain, const std::vector<Access>& accesses,
                         const RegionRule& regions, int device, const InstanceRule& instances = dense_tile);
// The buffers of parts to tiles: a send packs pieces from the region's buffer, a receive unpacks into the
// instance. Nothing is sent for replicated stores.
ExchangePlan plan_scatter(const DomainPartition& domain, const std::vector<Access>& accesses,
                          const RegionRule& regions, int device, const InstanceRule& instances = dense_tile);

// The bytes of the message to (from) each peer, in the order of the moves.
struct PeerBytes {
  int peer = 0;
  int64_t bytes = 0;
  size_t first = 0, count = 0;  // moves
};
std::vector<PeerBytes> messages(const std::vector<Move>& moves);

}  // namespace tilewise::partition
