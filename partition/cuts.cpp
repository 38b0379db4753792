#include "partition/cuts.h"

#include <algorithm>

#include "partition/arith.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"

namespace tilewise::partition {

Cuts Cuts::whole(int64_t extent) { return even(extent, 1); }

Cuts Cuts::even(int64_t extent, int64_t parts, int64_t multiple_of) {
  TW_CHECK(extent >= 0 && parts > 0 && multiple_of > 0);
  Cuts cuts;
  cuts.extent_ = extent;
  cuts.count_ = parts;
  cuts.a_ = ceil_div(extent, multiple_of);
  cuts.d_ = parts;
  cuts.scale_ = multiple_of;
  return cuts;
}

Cuts Cuts::every(int64_t extent, int64_t step) {
  TW_CHECK(extent >= 0 && step > 0);
  Cuts cuts;
  cuts.extent_ = extent;
  cuts.count_ = std::max<int64_t>(1, ceil_div(extent, step));
  cuts.a_ = 1;
  cuts.scale_ = step;
  return cuts;
}

Cuts Cuts::at(int64_t extent, const std::vector<int64_t>& positions) {
  std::vector<int64_t> cuts{0};
  for (int64_t position : positions) {
    TW_CHECK(cuts.size() == 1 || std::clamp<int64_t>(position, 0, extent) >= cuts.back(), "cuts must ascend");
    cuts.push_back(std::clamp<int64_t>(position, 0, extent));
  }
  cuts.push_back(extent);
  return listed(extent, std::move(cuts));
}

Cuts Cuts::listed(int64_t extent, std::vector<int64_t> positions) {
  Cuts cuts;
  cuts.extent_ = extent;
  cuts.count_ = static_cast<int64_t>(positions.size()) - 1;
  cuts.list_ = std::make_shared<const std::vector<int64_t>>(std::move(positions));
  return cuts;
}

int64_t Cuts::raw(int64_t i) const { return list_ ? (*list_)[i] : scale_ * floor_div(a_ * i + b_, d_) + shift_; }

int64_t Cuts::cut(int64_t i) const {
  if (i <= 0) return 0;
  if (i >= count_) return extent_;
  return std::clamp<int64_t>(raw(i), 0, extent_);
}

int64_t Cuts::find(int64_t coordinate) const {
  if (list_) {
    const auto after = std::upper_bound(list_->begin(), list_->end(), coordinate);
    return std::clamp<int64_t>(after - list_->begin() - 1, 0, count_ - 1);
  }
  if (count_ == 1 || a_ == 0) return count_ - 1;
  // The first i with cut(i + 1) > coordinate.
  const int64_t quotient = ceil_div(coordinate + 1 - shift_, scale_);
  return std::clamp<int64_t>(ceil_div(quotient * d_ - b_, a_) - 1, 0, count_ - 1);
}

int64_t Cuts::largest() const {
  constexpr int64_t kFew = 64;
  if (list_ || count_ <= kFew) {
    int64_t longest = 0;
    for (int64_t i = 0; i < count_; ++i) longest = std::max(longest, interval(i).size());
    return longest;
  }
  // The first and last intervals may be longer than the rule, since they take what lies outside its cuts.
  const int64_t ends = std::max(interval(0).size(), interval(count_ - 1).size());
  return std::min(extent_, std::max(ends, scale_ * ceil_div(a_, d_)));
}

Cuts Cuts::divided(Cuts form, int64_t e, int64_t k, int64_t times) {
  // floor((g s F + e) / (g k)) = floor((s F + floor(e / g)) / k), so only what is left of k after that matters.
  const int64_t g = std::gcd(form.scale_, k);
  form.scale_ /= g;
  k /= g;
  e = floor_div(e, g);
  if (k == 1) {
    form.shift_ = e;
  } else if (form.scale_ == 1) {
    form.b_ += form.d_ * e;
    form.d_ *= k;
    form.shift_ = 0;
  } else {
    std::vector<int64_t> positions(form.count_ + 1, 0);
    for (int64_t i = 1; i < form.count_; ++i) {
      const int64_t inner = form.scale_ * floor_div(form.a_ * i + form.b_, form.d_);
      positions[i] = std::clamp<int64_t>(times * floor_div(inner + e, k), 0, form.extent_);
    }
    positions.back() = form.extent_;
    return listed(form.extent_, std::move(positions));
  }
  form.scale_ *= times;
  form.shift_ *= times;
  return form;
}

Cuts Cuts::mapped(int64_t start, int64_t step, int64_t extent) const {
  TW_CHECK(step != 0);
  const int64_t k = step < 0 ? -step : step;
  if (list_) {
    std::vector<int64_t> positions(count_ + 1, 0);
    for (int64_t i = 1; i < count_; ++i) {
      const int64_t at = step > 0 ? ceil_div(raw(i) - start, k) : floor_div(start - raw(count_ - i), k) + 1;
      positions[i] = std::clamp<int64_t>(at, 0, extent);
    }
    positions.back() = extent;
    return listed(extent, std::move(positions));
  }
  Cuts form(*this);
  form.extent_ = extent;
  // Upwards: v = ceil((cut - start) / k).
  if (step > 0) return divided(form, shift_ - start + k - 1, k, 1);
  // Downwards, with interval i the old count - 1 - i: v = floor((start - cut(count - i)) / k) + 1, and minus the
  // floor in cut is the ceiling of the negated fraction.
  form.b_ = d_ - 1 - b_ - a_ * count_;
  return divided(form, start - shift_ + k, k, 1);
}

Cuts Cuts::scaled(int64_t by) const {
  if (by == 1) return *this;
  if (list_) {
    std::vector<int64_t> positions(*list_);
    for (int64_t& position : positions) position *= by;
    return listed(extent_ * by, std::move(positions));
  }
  Cuts form(*this);
  form.extent_ *= by;
  form.scale_ *= by;
  form.shift_ *= by;
  return form;
}

Cuts Cuts::rounded(int64_t multiple) const {
  if (multiple <= 1 || count_ == 1) return *this;
  if (!list_) return divided(*this, shift_ + multiple / 2, multiple, multiple);
  std::vector<int64_t> positions(*list_);
  for (int64_t i = 1; i < count_; ++i)
    positions[i] = std::min(extent_, floor_div(positions[i] + multiple / 2, multiple) * multiple);
  return listed(extent_, std::move(positions));
}

bool operator==(const Cuts& a, const Cuts& b) {
  if (a.extent_ != b.extent_ || a.count_ != b.count_ || a.is_regular() != b.is_regular()) return false;
  if (a.list_) return a.list_ == b.list_ || *a.list_ == *b.list_;
  return a.count_ == 1 ||
         (a.a_ == b.a_ && a.b_ == b.b_ && a.d_ == b.d_ && a.scale_ == b.scale_ && a.shift_ == b.shift_);
}

uint64_t Cuts::hash(uint64_t h) const {
  h = mix(mix(h, static_cast<uint64_t>(extent_)), static_cast<uint64_t>(count_));
  if (count_ == 1) return h;
  if (list_) return hash_bytes(list_->data(), list_->size() * sizeof(int64_t), h);
  for (int64_t value : {a_, b_, d_, scale_, shift_}) h = mix(h, static_cast<uint64_t>(value));
  return h;
}

}  // namespace tilewise::partition
