#include "partition/overlap.h"

#include <algorithm>
#include <cstdlib>

#include "partition/arith.h"

namespace tilewise::partition {
namespace {

bool same_elements(const View& a, const View& b) {
  if (a.offset != b.offset || a.itemsize != b.itemsize || a.shape != b.shape) return false;
  for (int k = 0; k < a.rank(); ++k)
    if (a.shape[k] > 1 && a.strides[k] != b.strides[k]) return false;
  return true;
}

// Is there a solution of  sum(step * x) == target,  0 <= x <= reach  for all terms? All steps are positive.
class Equation {
 public:
  void add(int64_t step, int64_t reach) {
    if (reach == 0 || step == 0) return;
    for (Term& term : terms_)
      if (term.step == step) {  // two of the same step are one with the longer reach
        term.reach += reach;
        return;
      }
    terms_.push_back({step, reach, 0, 0});
  }

  // True also where the bound on the work is reached.
  bool may_equal(int64_t target) {
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.step > b.step; });
    int64_t divisor = 0, largest = 0;
    for (int k = terms_.size() - 1; k >= 0; --k) {
      divisor = std::gcd(divisor, terms_[k].step);
      largest += terms_[k].step * terms_[k].reach;
      terms_[k].divisor = divisor;
      terms_[k].largest = largest;
    }
    return search(0, target);
  }

 private:
  struct Term {
    int64_t step, reach;
    int64_t divisor, largest;  // of this term and all after it
  };

  bool search(int k, int64_t target) {
    if (target == 0) return true;
    if (k == terms_.size() || target < 0 || target > terms_[k].largest || target % terms_[k].divisor != 0)
      return false;
    if (++work_ > kMostWork) return true;
    const Term& term = terms_[k];
    const int64_t later = k + 1 < terms_.size() ? terms_[k + 1].largest : 0;
    // Too few of the larger steps cannot be made up for by the smaller ones.
    const int64_t most = std::min(term.reach, target / term.step);
    const int64_t fewest = std::max<int64_t>(0, ceil_div(target - later, term.step));
    for (int64_t x = most; x >= fewest; --x)
      if (search(k + 1, target - x * term.step)) return true;
    return false;
  }

  static constexpr int kMostWork = 20000;
  SmallVec<Term, 12> terms_;
  int work_ = 0;
};

}  // namespace

Overlap overlap(const View& a, const View& b) {
  if (a.empty() || b.empty()) return Overlap::kNone;
  const Interval in_a = a.range(), in_b = b.range();
  if (in_a.hi <= in_b.lo || in_b.hi <= in_a.lo) return Overlap::kNone;
  if (same_elements(a, b)) return Overlap::kSame;
  // A byte of a: in_a.lo + sum(|s| x) + e; of b, counted from its last: in_b.hi - 1 - sum(|t| y) - f. They meet
  // where sum(|s| x) + sum(|t| y) + e + f is the distance from in_a.lo to b's last byte.
  Equation bytes;
  for (const View* view : {&a, &b}) {
    for (int k = 0; k < view->rank(); ++k) bytes.add(std::abs(view->strides[k]), view->shape[k] - 1);
    bytes.add(1, view->itemsize - 1);
  }
  return bytes.may_equal(in_b.hi - 1 - in_a.lo) ? Overlap::kSome : Overlap::kNone;
}

namespace {

// Writes the distance as a sum of strides, largest first; each axis tries the two multiples next to what is left,
// and none.
class ShiftSearch {
 public:
  ShiftSearch(const View& a, const View& b) : shift_(a.rank(), 0) {
    for (int k : a.memory_order()) {
      const int64_t longest = std::max(a.shape[k], b.shape[k]);
      if (a.strides[k] != 0 && a.strides[k] == b.strides[k])
        axes_.push_back({k, std::abs(a.strides[k]), a.strides[k] < 0 ? -1 : 1, longest});
    }
  }

  std::optional<Dims> find(int64_t distance) {
    search(0, distance, true, 0);
    return best_;
  }

 private:
  struct Axis {
    int k;
    int64_t step, sign, extent;
  };

  void search(int j, int64_t rest, bool overlapping, int64_t length) {
    if (rest == 0) {
      if (!best_ || overlapping > best_overlapping_ ||
          (overlapping == best_overlapping_ && length < best_length_)) {
        best_ = shift_;
        best_overlapping_ = overlapping;
        best_length_ = length;
      }
      return;
    }
    if (j == axes_.size() || ++work_ > kMostWork) return;
    const Axis& axis = axes_[j];
    const int64_t below = floor_div(rest, axis.step);
    for (int64_t d : {int64_t{0}, below, below + 1}) {
      shift_[axis.k] = d * axis.sign;
      search(j + 1, rest - d * axis.step, overlapping && std::abs(d) < axis.extent, length + std::abs(d));
    }
    shift_[axis.k] = 0;
  }

  static constexpr int kMostWork = 1024;
  SmallVec<Axis, 6> axes_;
  Dims shift_;
  std::optional<Dims> best_;
  bool best_overlapping_ = false;
  int64_t best_length_ = 0;
  int work_ = 0;
};

}  // namespace

std::optional<Dims> lattice_shift(const View& a, const View& b) {
  if (a.rank() != b.rank() || a.dtype != b.dtype || a.itemsize != b.itemsize) return std::nullopt;
  for (int k = 0; k < a.rank(); ++k)
    if ((a.shape[k] > 1 || b.shape[k] > 1) && a.strides[k] != b.strides[k]) return std::nullopt;
  return ShiftSearch(a, b).find(b.offset - a.offset);
}

}  // namespace tilewise::partition
