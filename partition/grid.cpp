#include "partition/grid.h"

#include <algorithm>
#include <map>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"

namespace tilewise::partition {

Owners Owners::single(int device) {
  Owners owners;
  owners.first_ = device;
  return owners;
}

Owners Owners::cyclic(int devices, int first) {
  TW_CHECK(devices > 0 && first >= 0 && first < devices);
  if (devices == 1) return single(first);
  Owners owners;
  owners.first_ = first;
  owners.devices_ = devices;
  return owners;
}

Owners Owners::listed(std::vector<int32_t> list) {
  auto shared = std::make_shared<List>();
  std::map<int32_t, std::vector<int64_t>> by_device;
  for (size_t i = 0; i < list.size(); ++i) by_device[list[i]].push_back(static_cast<int64_t>(i));
  for (auto& [device, indices] : by_device) {
    shared->devices.push_back(device);
    shared->indices.push_back(std::move(indices));
  }
  shared->owners = std::move(list);
  Owners owners;
  owners.list_ = std::move(shared);
  return owners;
}

const std::vector<int64_t>& Owners::List::of(int device) const {
  static const std::vector<int64_t> kNone;
  const auto at = std::lower_bound(devices.begin(), devices.end(), device);
  return at != devices.end() && *at == device ? indices[at - devices.begin()] : kNone;
}

int64_t Owners::device_count(int64_t count) const {
  return list_ ? static_cast<int64_t>(list_->devices.size()) : std::min<int64_t>(devices_, count);
}

uint64_t Owners::hash(uint64_t h) const {
  if (list_) return hash_bytes(list_->owners.data(), list_->owners.size() * sizeof(int32_t), h);
  return mix(mix(h, static_cast<uint64_t>(first_)), static_cast<uint64_t>(devices_));
}

bool operator==(const Owners& a, const Owners& b) {
  if (a.list_ || b.list_) return a.list_ && b.list_ && (a.list_ == b.list_ || a.list_->owners == b.list_->owners);
  return a.first_ == b.first_ && a.devices_ == b.devices_;
}

Grid::Grid(std::vector<Cuts> cuts, Owners owners) : cuts_(std::move(cuts)), owners_(std::move(owners)) {
  for (const Cuts& axis : cuts_) shape_.push_back(axis.extent());
  number_cells();
  for (int k = 0; k < rank(); ++k)
    if (cuts_[k].count() > 1) owner_axes_.push_back({cuts_[k].count(), 0, k, false});
}

bool Grid::owned_in_order() const {
  if (cell_count_ == 1) return owner(0) == 0;
  if (owner_axes_.size() != 1 || !owners_.is_identity(cell_count_)) return false;
  const OwnerAxis& axis = owner_axes_[0];
  return axis.from >= 0 && !axis.reversed && axis.count == cell_count_ && cuts_[axis.from].count() == cell_count_;
}

void Grid::number_cells() {
  cell_strides_ = Dims(rank());
  cell_count_ = 1;
  for (int k = rank() - 1; k >= 0; --k) {
    cell_strides_[k] = cell_count_;
    cell_count_ *= cuts_[k].count();
  }
}

Box Grid::cell_box(int64_t cell) const {
  Box box = Box::of(shape_);
  for (int k = 0; k < rank(); ++k) {
    if (cuts_[k].count() == 1) continue;
    const Interval at = cuts_[k].interval(cell / cell_strides_[k]);
    box.lo[k] = at.lo;
    box.hi[k] = at.hi;
    cell %= cell_strides_[k];
  }
  return box;
}

int Grid::owner(int64_t cell) const {
  int64_t index = 0;
  for (const OwnerAxis& axis : owner_axes_) {
    int64_t at = axis.fixed;
    if (axis.from >= 0) {
      at = cell / cell_strides_[axis.from] % cuts_[axis.from].count();
      if (axis.reversed) at = axis.count - 1 - at;
    }
    index = index * axis.count + at;
  }
  return owners_[index];
}

int64_t Grid::cell_at(const Dims& point) const {
  int64_t cell = 0;
  for (int k = 0; k < rank(); ++k) cell += cuts_[k].find(point[k]) * cell_strides_[k];
  return cell;
}

int64_t Grid::largest_cell() const {
  int64_t largest = 1;
  for (const Cuts& axis : cuts_) largest *= axis.largest();
  return largest;
}

int64_t Grid::device_count() const {
  int64_t count = 1;
  for (const OwnerAxis& axis : owner_axes_) count *= axis.count;
  return owners_.device_count(count);
}

std::vector<int64_t> Grid::overlapping(const Box& box) const {
  std::vector<int64_t> cells;
  for_each_overlapping(box, [&](int64_t cell) { cells.push_back(cell); });
  return cells;
}

std::vector<int64_t> Grid::cells_of(int device) const {
  std::vector<int64_t> cells;
  for (int64_t extent : shape_)
    if (extent == 0) return cells;
  int64_t count = 1;
  for (const OwnerAxis& axis : owner_axes_) count *= axis.count;
  owners_.for_each_of(device, count, [&](int64_t index) {
    int64_t cell = 0;
    for (int j = owner_axes_.size() - 1; j >= 0; --j) {
      const OwnerAxis& axis = owner_axes_[j];
      const int64_t at = index % axis.count;
      index /= axis.count;
      if (axis.from < 0 && at != axis.fixed) return;
      if (axis.from < 0) continue;
      const int64_t position = axis.reversed ? axis.count - 1 - at : at;
      if (cuts_[axis.from].interval(position).empty()) return;
      cell += position * cell_strides_[axis.from];
    }
    cells.push_back(cell);
  });
  // Positions that run backwards, or in another order of axes, come out unsorted.
  if (!std::is_sorted(cells.begin(), cells.end())) std::sort(cells.begin(), cells.end());
  return cells;
}

Grid Grid::rounded(const Dims& multiples) const {
  Grid grid(*this);
  for (int k = 0; k < rank(); ++k) grid.cuts_[k] = cuts_[k].rounded(multiples[k]);
  return grid;
}

uint64_t Grid::hash(uint64_t h) const {
  h = owners_.hash(mix(h, static_cast<uint64_t>(rank())));
  for (const Cuts& axis : cuts_) h = axis.hash(h);
  for (const OwnerAxis& axis : owner_axes_) {
    h = mix(h, static_cast<uint64_t>(axis.count));
    h = mix(h, static_cast<uint64_t>(axis.fixed) << 8 | static_cast<uint64_t>(axis.from + 1) << 1 | axis.reversed);
  }
  return h;
}

bool operator==(const Grid& a, const Grid& b) {
  return a.cuts_ == b.cuts_ && a.owners_ == b.owners_ && a.owner_axes_ == b.owner_axes_;
}

}  // namespace tilewise::partition
