#include "ops/sort/local.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "ops/sort/keys.h"

namespace tilewise::ops {

namespace {

constexpr int64_t kWorthCores = 1 << 15;  // elements from which a line is shared among cores
constexpr int kSamples = 64;              // for each core

void sort_keys(auto* keys, int64_t n) {
  hwy::Sorter()(keys, static_cast<size_t>(n), hwy::SortAscending());
}
void sort_keys(hwy::uint128_t* keys, int64_t n) { hwy::Sorter()(keys, static_cast<size_t>(n), hwy::SortAscending()); }

bool less(const hwy::uint128_t& a, const hwy::uint128_t& b) { return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo; }
bool less(auto a, auto b) { return a < b; }

// Sorts the keys make(0) to make(n - 1), and calls put(i, key) for each place i of the order. Keys are divided among the cores by
// values of a sample, while they are made; each core sorts a share.
template <class K, class Make, class Put>
void sort_by(int64_t n, Parallel& parallel, const Make& make, const Put& put) {
  const std::unique_ptr<K[]> keys(new K[n]);
  const int shares = static_cast<int>(std::clamp<int64_t>(std::min<int64_t>(parallel.width(), n / kWorthCores), 1, 256));
  if (shares == 1) {
    for (int64_t i = 0; i < n; ++i) keys[i] = make(i);
    sort_keys(keys.get(), n);
    for (int64_t i = 0; i < n; ++i) put(i, keys[i]);
    return;
  }
  std::vector<K> sample(static_cast<size_t>(shares) * kSamples);
  for (size_t i = 0; i < sample.size(); ++i)  // scattered, so that regular data does not mislead
    sample[i] = make(static_cast<int64_t>(static_cast<unsigned __int128>(i * 2654435761u % 4294967296u) * n >> 32));
  std::sort(sample.begin(), sample.end(), [](const K& a, const K& b) { return less(a, b); });
  std::vector<K> splitters;
  for (int q = 1; q < shares; ++q) splitters.push_back(sample[static_cast<size_t>(q) * kSamples]);
  const int64_t pieces = 2 * shares;
  const auto piece = [&](int64_t p) { return n * p / pieces; };
  std::vector<std::vector<int64_t>> next(pieces);
  parallel.run(pieces, [&](int64_t p) {
    std::vector<int64_t> from(shares + 1);  // keys not below each splitter
    from[0] = piece(p + 1) - piece(p);
    for (int q = 1; q < shares; ++q) {
      const K splitter = splitters[q - 1];
      int64_t count = 0;
      for (int64_t i = piece(p); i < piece(p + 1); ++i) count += !less(make(i), splitter);
      from[q] = count;
    }
    for (int q = 0; q < shares; ++q) from[q] -= from[q + 1];
    next[p] = std::move(from);
  });
  std::vector<int64_t> begin(shares + 1);
  for (int q = 0; q < shares; ++q) {
    begin[q + 1] = begin[q];
    for (auto& counts : next) begin[q + 1] += std::exchange(counts[q], begin[q + 1]);
  }
  parallel.run(pieces, [&](int64_t p) {
    if (shares == 2) {  // by arithmetic: nobody could foretell a branch
      const K splitter = splitters[0];
      int64_t low = next[p][0], high = next[p][1];
      for (int64_t i = piece(p); i < piece(p + 1); ++i) {
        const K key = make(i);
        const int64_t up = !less(key, splitter);
        keys[low ^ ((low ^ high) & -up)] = key;
        low += 1 - up;
        high += up;
      }
      return;
    }
    for (int64_t i = piece(p); i < piece(p + 1); ++i) {
      const K key = make(i);
      const auto share = std::partition_point(splitters.begin(), splitters.end(), [&](const K& s) { return !less(key, s); });
      keys[next[p][share - splitters.begin()]++] = key;
    }
  });
  parallel.run(shares, [&](int64_t q) {
    sort_keys(keys.get() + begin[q], begin[q + 1] - begin[q]);
    for (int64_t i = begin[q]; i < begin[q + 1]; ++i) put(i, keys[i]);
  });
}

// Floats as integers of the same order, all NaNs as the largest. (Debian's vqsort, of Highway 1.0.3, loses NaNs, and makes the
// largest finite number of an infinity.)
template <class T>
struct FloatKey {
  using I = std::make_signed_t<UInt<sizeof(T)>>;
  static constexpr I kMost = std::numeric_limits<I>::max();
  static I flip(I bits) { return bits ^ ((bits >> (8 * sizeof(I) - 1)) & kMost); }
  static I key(T value) { return value == value ? flip(std::bit_cast<I>(value)) : kMost; }
  static T value(I key) { return std::bit_cast<T>(flip(key)); }
};

// The zeros in their order, if there are any of both signs; sorting may mix them.
template <class T>
std::vector<T> zeros_of(const T* values, int64_t n, Parallel& parallel) {
  using U = UInt<sizeof(T)>;
  constexpr U kNegativeZero = U{1} << (8 * sizeof(U) - 1);
  const int64_t pieces = n < kWorthCores ? 1 : parallel.width();
  std::vector<char> found(pieces);
  parallel.run(pieces, [&](int64_t p) {
    char any = 0;
    for (int64_t i = n * p / pieces; i < n * (p + 1) / pieces; ++i) any |= std::bit_cast<U>(values[i]) == kNegativeZero;
    found[p] = any;
  });
  std::vector<T> zeros;
  if (std::find(found.begin(), found.end(), 1) == found.end()) return zeros;
  for (int64_t i = 0; i < n; ++i)
    if (values[i] == 0) zeros.push_back(values[i]);
  return zeros;
}

template <class T>
void sort_floats(const T* from, T* to, int64_t n, Parallel& parallel) {
  using Key = FloatKey<T>;
  const std::vector<T> zeros = zeros_of(from, n, parallel);
  sort_by<typename Key::I>(n, parallel, [=](int64_t i) { return Key::key(from[i]); },
                           [=](int64_t i, typename Key::I key) { to[i] = Key::value(key); });
  if (zeros.empty()) return;
  std::copy(zeros.begin(), zeros.end(), std::partition_point(to, to + n, [](T value) { return value < 0; }));
}

// One byte: counted.
template <class T>
void sort_bytes(const T* from, T* values, int64_t n) {
  int64_t count[256] = {};
  for (int64_t i = 0; i < n; ++i) ++count[key_of(from[i])];
  for (int key = 0; key < 256; ++key) {
    T value;
    const uint8_t bits = std::is_signed_v<T> ? static_cast<uint8_t>(key ^ 0x80) : static_cast<uint8_t>(key);
    std::memcpy(&value, &bits, 1);
    values = std::fill_n(values, count[key], value);
  }
}

template <class T>
void argsort_reals(const T* values, int64_t n, int64_t* order, Parallel& parallel) {
  if (sizeof(T) <= 4 && n <= int64_t{1} << 32) {
    sort_by<uint64_t>(
        n, parallel, [=](int64_t i) { return static_cast<uint64_t>(key_of(values[i])) << 32 | static_cast<uint64_t>(i); },
        [=](int64_t i, uint64_t key) { order[i] = static_cast<int64_t>(key & 0xffffffffu); });
    return;
  }
  sort_by<hwy::uint128_t>(
      n, parallel,
      [=](int64_t i) {
        hwy::uint128_t key;
        key.hi = key_of(values[i]);
        key.lo = static_cast<uint64_t>(i);
        return key;
      },
      [=](int64_t i, const hwy::uint128_t& key) { order[i] = static_cast<int64_t>(key.lo); });
}

}  // namespace

void sort_line(DType dtype, const void* from, void* to, int64_t n, Parallel& parallel) {
  visit(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* const values = static_cast<const T*>(from);
    T* const sorted = static_cast<T*>(to);
    if constexpr (kIsComplex<T> || kIsHalf<T>) {
      std::copy_n(values, n, sorted);
      std::stable_sort(sorted, sorted + n, [](T a, T b) {
        if constexpr (kIsComplex<T>) return complex_less(a, b);
        else return key_of(a) < key_of(b);
      });
    } else if constexpr (sizeof(T) == 1) {
      sort_bytes(values, sorted, n);
    } else if constexpr (kIsReal<T>) {
      sort_floats(values, sorted, n, parallel);
    } else {
      sort_by<T>(n, parallel, [=](int64_t i) { return values[i]; }, [=](int64_t i, T value) { sorted[i] = value; });
    }
  });
}

void argsort_line(DType dtype, const void* values, int64_t n, int64_t* order, Parallel& parallel) {
  visit(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* const v = static_cast<const T*>(values);
    if constexpr (kIsComplex<T>) {
      std::iota(order, order + n, int64_t{0});
      std::stable_sort(order, order + n, [v](int64_t a, int64_t b) { return complex_less(v[a], v[b]); });
    } else {
      argsort_reals(v, n, order, parallel);
    }
  });
}

}  // namespace tilewise::ops
