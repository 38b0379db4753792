// How a part of the domain is split: the inner box, whose operands the device reads in place, and border slabs
// around it, for which some operands have to come from other tiles first.
//
// The split is a function of the domain, the accesses and the part alone, so that every rank can tell what any
// part of a neighbour needs. Pure arithmetic; a BorderSplit keeps results by part and belongs to one thread.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "partition/domain.h"
#include "partition/pieces.h"
#include "partition/tiling.h"

namespace tilewise::partition {

// One operand of a group: a view whose shape is the frame's (stride 0 where it is broadcast), of a store with this
// tiling, used in `guard`, a box of the frame.
struct Access {
  View view;
  TilingPtr tiling;
  Box guard;

  Access(View v, TilingPtr t) : view(std::move(v)), tiling(std::move(t)), guard(Box::of(view.shape)) {}
  Access(View v, TilingPtr t, Box g) : view(std::move(v)), tiling(std::move(t)), guard(std::move(g)) {}
};

// How a tile lies in its owner's memory: by default dense, without margins. Called for other devices' tiles too,
// where only `clip` (the tile's box) and whether there is a row pitch matter.
using InstanceRule = std::function<InstanceBox(const Access& access, int64_t tile)>;
InstanceBox dense_tile(const Access& access, int64_t tile);

// The tile of the device that holds most of the region (the lowest number among equals), -1 if it owns none. A
// replicated store has tile 0 everywhere.
int64_t home_tile(const Access& access, const Box& region, int device);

struct PartBoxes {
  std::vector<Box> boxes;  // disjoint, cover the part; the first is the inner box (it may be empty)
  std::vector<std::vector<bool>> fetched;  // [access][box]: not readable in place there
};

class BorderSplit {
 public:
  // The references must outlive this.
  BorderSplit(const DomainPartition& domain, const std::vector<Access>& accesses,
              InstanceRule instances = dense_tile)
      : domain_(domain), accesses_(accesses), instances_(std::move(instances)) {}

  const PartBoxes& of(int64_t part);
  const DomainPartition& domain() const { return domain_; }
  const std::vector<Access>& accesses() const { return accesses_; }

 private:
  PartBoxes split(int64_t part) const;

  const DomainPartition& domain_;
  const std::vector<Access>& accesses_;
  InstanceRule instances_;
  std::map<int64_t, PartBoxes> known_;
};

}  // namespace tilewise::partition
