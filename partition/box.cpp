#include "partition/box.h"

namespace tilewise::partition {

Box Box::nothing(int rank) {
  Box box(Dims(rank, 0), Dims(rank, 0));
  box.none = rank == 0;
  return box;
}

Dims Box::shape() const {
  Dims extents(rank());
  for (int k = 0; k < rank(); ++k) extents[k] = extent(k);
  return extents;
}

int64_t Box::count() const {
  int64_t n = none ? 0 : 1;
  for (int k = 0; k < rank(); ++k) n *= extent(k);
  return n;
}

bool Box::empty() const {
  for (int k = 0; k < rank(); ++k)
    if (hi[k] <= lo[k]) return true;
  return none;
}

bool Box::contains(const Box& other) const {
  if (other.empty()) return true;
  if (none) return false;
  for (int k = 0; k < rank(); ++k)
    if (other.lo[k] < lo[k] || other.hi[k] > hi[k]) return false;
  return true;
}

bool Box::contains(const Dims& point) const {
  if (none) return false;
  for (int k = 0; k < rank(); ++k)
    if (point[k] < lo[k] || point[k] >= hi[k]) return false;
  return true;
}

std::ostream& operator<<(std::ostream& out, const Box& box) {
  out << "[";
  for (int k = 0; k < box.rank(); ++k) out << (k ? ", " : "") << box.lo[k] << ":" << box.hi[k];
  return out << (box.none ? "none]" : "]");
}

Box intersect(const Box& a, const Box& b) {
  Box both(a);
  both.none = a.none || b.none;
  for (int k = 0; k < a.rank(); ++k) {
    both.lo[k] = std::max(a.lo[k], b.lo[k]);
    both.hi[k] = std::max(both.lo[k], std::min(a.hi[k], b.hi[k]));
  }
  return both;
}

bool overlaps(const Box& a, const Box& b) {
  for (int k = 0; k < a.rank(); ++k)
    if (std::max(a.lo[k], b.lo[k]) >= std::min(a.hi[k], b.hi[k])) return false;
  return !a.none && !b.none;
}

Box hull(const Box& a, const Box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box both(a);
  for (int k = 0; k < a.rank(); ++k) {
    both.lo[k] = std::min(a.lo[k], b.lo[k]);
    both.hi[k] = std::max(a.hi[k], b.hi[k]);
  }
  return both;
}

Box shifted(const Box& box, const Dims& by) {
  Box moved(box);
  for (int k = 0; k < box.rank(); ++k) {
    moved.lo[k] += by[k];
    moved.hi[k] += by[k];
  }
  return moved;
}

std::vector<Box> subtract(const Box& a, const Box& b) {
  std::vector<Box> slabs;
  if (a.empty()) return slabs;
  const Box inner = intersect(a, b);
  if (inner.empty()) {
    slabs.push_back(a);
    return slabs;
  }
  Box rest(a);
  for (int k = 0; k < a.rank(); ++k) {
    if (rest.lo[k] < inner.lo[k]) {
      slabs.push_back(rest);
      slabs.back().hi[k] = inner.lo[k];
    }
    if (inner.hi[k] < rest.hi[k]) {
      slabs.push_back(rest);
      slabs.back().lo[k] = inner.hi[k];
    }
    rest.lo[k] = inner.lo[k];
    rest.hi[k] = inner.hi[k];
  }
  return slabs;
}

}  // namespace tilewise::partition
