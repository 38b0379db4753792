// What a task of a scan runs: bands dealt to the cores, or the blocks of few long bands.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "ops/scan/kernel.h"
#include "ops/scan/plan.h"

namespace tilewise::ops {

namespace {

struct alignas(64) Values {
  char data[kBandBytes];
};

// The box of a task as bands along the scanned axis.
class Bands {
 public:
  // y and totals may be null.
  Bands(const ScanForm& form, DType dtype, const Bound& x, const Bound* y, const Bound* totals)
      : axis_(form.axis), size_(itemsize(dtype)), x_(x), y_(y), totals_(totals), across_(-1) {
    const Dims& strides = y ? y->strides : x.strides;
    for (int k = 0; k < strides.size(); ++k)
      if (k != axis_ && x.shape[k] > 1 && std::abs(strides[k]) < std::abs(strides[across_ < 0 ? axis_ : across_])) across_ = k;
    for (int k = 0; k < x.shape.size(); ++k)
      if (k != axis_ && k != across_) outer_.push_back(k);
    tiles_ = across_ < 0 ? 1 : (x.shape[across_] + kBandWidth - 1) / kBandWidth;
    count_ = tiles_;
    for (int64_t k : outer_) count_ *= x.shape[k];
    length_ = x.shape[axis_];
    block_ = form.blocks ? kScanBlock : length_;
    blocks_ = length_ ? (length_ + block_ - 1) / block_ : 0;
  }

  int64_t count() const { return count_; }
  int64_t blocks() const { return blocks_; }
  int64_t value_bytes(const Band& band) const { return band.w * size_; }

  // Band `index`, whole; *totals is its first total.
  Band band(int64_t index, const char** totals) const {
    Band band;
    band.n = length_;
    band.x = x_.base;
    band.y = y_ ? y_->base : nullptr;
    *totals = totals_ ? totals_->base : nullptr;
    band.x_step = x_.strides[axis_];
    if (y_) band.y_step = y_->strides[axis_];
    if (across_ >= 0) {
      const int64_t first = index % tiles_ * kBandWidth;
      band.w = std::min(kBandWidth, x_.shape[across_] - first);
      band.x_across = x_.strides[across_];
      band.y_across = y_ ? y_->strides[across_] : size_;
      move(&band, totals, across_, first);
    }
    index /= tiles_;
    for (int i = outer_.size() - 1; i >= 0; --i) {
      const int k = static_cast<int>(outer_[i]);
      move(&band, totals, k, index % x_.shape[k]);
      index /= x_.shape[k];
    }
    return band;
  }
  Band block(Band band, int64_t b) const {
    band.n = std::min(block_, length_ - b * block_);
    band.x += b * block_ * band.x_step;
    if (band.y) band.y += b * block_ * band.y_step;
    return band;
  }
  // The totals of one block, between the store and dense memory.
  void read_total(void* to, const char* totals, const Band& band, int64_t b) const { copy(band, totals, b, to, true); }
  void write_total(const void* from, const char* totals, const Band& band, int64_t b) const {
    copy(band, totals, b, const_cast<void*>(from), false);
  }

 private:
  void move(Band* band, const char** totals, int k, int64_t by) const {
    band->x += by * x_.strides[k];
    if (band->y) band->y += by * y_->strides[k];
    if (*totals) *totals += by * totals_->strides[k];
  }
  void copy(const Band& band, const char* totals, int64_t b, void* dense, bool to_dense) const {
    for (int64_t j = 0; j < band.w; ++j) {
      char* at = const_cast<char*>(totals) + b * totals_->strides[axis_] + (across_ < 0 ? 0 : j * totals_->strides[across_]);
      char* value = static_cast<char*>(dense) + j * size_;
      std::memcpy(to_dense ? value : at, to_dense ? at : value, static_cast<size_t>(size_));
    }
  }

  int axis_;
  int64_t size_;
  const Bound& x_;
  const Bound* y_;
  const Bound* totals_;
  int across_;
  Dims outer_;
  int64_t tiles_ = 1, count_ = 1, length_ = 0, block_ = 1, blocks_ = 0;
};

// A kernel with its operation's loop.
struct Piece {
  ScanKernel kernel;
  ref::Loop loop;

  void scan(const Band& band, const void* carry, void* total) const { kernel.scan(band, carry, total, loop); }
  void add_carry(const Band& band, const void* carry) const { kernel.add_carry(band, carry, loop); }
  void join(void* into, const void* from, int64_t w) const { kernel.join(into, from, w, loop); }
};

// What came before a block, in index order.
struct Carry {
  bool any = false;
  Values values;

  void join(const Piece& piece, const Bands& bands, const Band& band, const void* total) {
    if (any) piece.join(values.data, total, band.w);
    else std::memcpy(values.data, total, static_cast<size_t>(bands.value_bytes(band)));
    any = true;
  }
  // Of the blocks in front of the task's box.
  void join_totals(const Piece& piece, const Bands& bands, const Band& band, const char* totals, int64_t count) {
    Values total;
    for (int64_t b = 0; b < count; ++b) {
      bands.read_total(total.data, totals, band, b);
      join(piece, bands, band, total.data);
    }
  }
  const void* get() const { return any ? values.data : nullptr; }
};

void scan_band(const Piece& piece, const Bands& bands, int64_t index, int64_t blocks_before) {
  const char* totals;
  const Band band = bands.band(index, &totals);
  Carry carry;
  Values total;
  carry.join_totals(piece, bands, band, totals, blocks_before);
  for (int64_t b = 0; b < bands.blocks(); ++b) {
    piece.scan(bands.block(band, b), carry.get(), total.data);
    carry.join(piece, bands, band, total.data);
  }
}

// One band on all cores: a core scans the next block on its own, and joins the carry in as soon as it is known, which is
// mostly at once. Until then the block waits while the core goes on, so that no core waits for one that is held up.
class Together {
 public:
  Together(const Bands& bands, int64_t index, const Piece& piece, int64_t blocks_before)
      : bands_(bands), band_(bands.band(index, &totals_at_)), bytes_(bands.value_bytes(band_)), done_(bands.blocks()),
        totals_(bands.blocks() * bytes_), carries_((bands.blocks() + 1) * bytes_) {
    Carry carry;
    carry.join_totals(piece, bands, band_, totals_at_, blocks_before);
    first_has_carry_ = carry.any;
    if (carry.any) std::memcpy(carry_of(0), carry.values.data, bytes());
  }

  // What one core does.
  void run(const Piece& piece) {
    std::vector<int64_t> waiting;
    for (int64_t b = next_++; b < bands_.blocks(); b = next_++) {
      const bool known = ready_.load(std::memory_order_acquire) >= b;
      piece.scan(bands_.block(band_, b), known && has_carry(b) ? carry_of(b) : nullptr, totals_.data() + b * bytes_);
      done_[static_cast<size_t>(b)].store(true);
      advance(piece);
      if (!known) waiting.push_back(b);
      while (!waiting.empty() && ready_.load(std::memory_order_acquire) >= waiting.back()) finish(piece, &waiting);
    }
    while (!waiting.empty()) {
      while (ready_.load(std::memory_order_acquire) < waiting.back()) std::this_thread::yield();
      finish(piece, &waiting);
    }
  }

 private:
  size_t bytes() const { return static_cast<size_t>(bytes_); }
  char* carry_of(int64_t b) { return carries_.data() + b * bytes_; }
  bool has_carry(int64_t b) const { return b > 0 || first_has_carry_; }
  void finish(const Piece& piece, std::vector<int64_t>* waiting) {
    const int64_t b = waiting->back();
    waiting->pop_back();
    if (has_carry(b)) piece.add_carry(bands_.block(band_, b), carry_of(b));
  }
  bool next_is_done() { return ready_.load() < bands_.blocks() && done_[static_cast<size_t>(ready_.load())].load(); }
  // Joins the totals that are there, in index order; one core at a time.
  void advance(const Piece& piece) {
    while (next_is_done() && !advancing_.exchange(true)) {
      while (next_is_done()) {
        const int64_t b = ready_.load();
        const char* total = totals_.data() + b * bytes_;
        std::memcpy(carry_of(b + 1), has_carry(b) ? carry_of(b) : total, bytes());
        if (has_carry(b)) piece.join(carry_of(b + 1), total, band_.w);
        ready_.store(b + 1);
      }
      advancing_.store(false);
    }
  }

  const Bands& bands_;
  const char* totals_at_ = nullptr;
  const Band band_;
  const int64_t bytes_;
  std::vector<std::atomic<bool>> done_;
  std::vector<char> totals_, carries_;  // by block; carries_[b] is known once ready_ >= b
  bool first_has_carry_ = false;
  std::atomic<int64_t> next_{0}, ready_{0};
  std::atomic<bool> advancing_{false};
};

// body(i) for all i, in pieces of several.
template <class F>
void deal(int64_t count, Parallel& parallel, const F& body) {
  const int64_t pieces = std::min<int64_t>(count, parallel.width() == 1 ? 1 : 8 * parallel.width());
  parallel.run(pieces, [&](int64_t p) {
    for (int64_t i = count * p / pieces; i < count * (p + 1) / pieces; ++i) body(i);
  });
}

}  // namespace

void scan_part(const ScanForm& form, DType dtype, const Bound& x, const Bound* totals, const Bound& out,
               Parallel& parallel) {
  const Piece piece{scan_kernel(form.op, dtype), ref::find_loop(form.op, dtype)};
  const Bands bands(form, dtype, x, &out, totals);
  const int64_t before = totals ? totals->shape[form.axis] : 0;
  if (parallel.width() > 1 && bands.count() < 2 * parallel.width() && bands.blocks() >= 4) {
    for (int64_t i = 0; i < bands.count(); ++i) {
      Together together(bands, i, piece, before);
      parallel.run(parallel.width(), [&](int64_t) { together.run(piece); });
    }
  } else {
    deal(bands.count(), parallel, [&](int64_t i) { scan_band(piece, bands, i, before); });
  }
}

void scan_totals(const ScanForm& form, DType dtype, const Bound& x, const Bound& totals, Parallel& parallel) {
  const Piece piece{scan_kernel(form.op, dtype), ref::find_loop(form.op, dtype)};
  const Bands bands(form, dtype, x, nullptr, &totals);
  const int64_t blocks = bands.blocks();
  deal(bands.count() * blocks, parallel, [&](int64_t i) {
    const char* at;
    const Band band = bands.band(i / blocks, &at);
    Values total;
    piece.scan(bands.block(band, i % blocks), nullptr, total.data);
    bands.write_total(total.data, at, band, i % blocks);
  });
}

}  // namespace tilewise::ops
