#include "runtime/node_rows.h"

#include <bit>

namespace tilewise {

using partition::Cuts;
using partition::Interval;
using partition::TreeNode;

NodeRows::NodeRows(const Cuts& cuts, int64_t unit, bool in_order) : cut_(cuts), unit_(unit) {
  if (in_order) {
    // Going up from either end of the interval, one node of each size at most.
    // An axis that is not cut has one.
    const auto units = static_cast<uint64_t>((cuts.largest() + unit - 1) / unit);
    room_ = cuts.count() == 1 ? 1 : 2 * std::bit_width(units);
    return;
  }
  for (int64_t i = 0; i < cuts.count(); ++i) {
    first_.push_back(static_cast<int64_t>(nodes_.size()));
    for (const TreeNode& node : nodes_of(i)) nodes_.push_back(node);
  }
  first_.push_back(static_cast<int64_t>(nodes_.size()));
}

std::vector<TreeNode> NodeRows::nodes_of(int64_t interval) const {
  const Interval at = cut_.interval(interval);
  return at.empty() ? std::vector<TreeNode>() : partition::tree_nodes(at.lo, at.hi, cut_.extent(), unit_);
}

int64_t NodeRows::count() const { return room_ ? room_ * cut_.count() : static_cast<int64_t>(nodes_.size()); }

Interval NodeRows::of(int64_t interval) const {
  if (!room_) return {first_[interval], first_[interval + 1]};
  const int64_t begin = interval * room_;
  return {begin, begin + static_cast<int64_t>(nodes_of(interval).size())};
}

Cuts NodeRows::cuts() const {
  if (room_) return Cuts::every(count(), room_);
  return Cuts::at(count(), std::vector<int64_t>(first_.begin() + 1, first_.end() - 1));
}

}  // namespace tilewise
