// A vector with room for a few elements inside: shapes, strides and coordinates, without allocation.
//
// Elements must be trivially copyable. Beyond N elements it allocates, so NumPy's 64 axes are no special case.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <type_traits>
#include <utility>

namespace tilewise {

template <class T, int N>
class SmallVec {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVec() = default;
  explicit SmallVec(int count, T value = T()) { resize(count, value); }
  SmallVec(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <class It, class = std::enable_if_t<!std::is_arithmetic_v<It>>>  // SmallVec(3, 0) is a count and a value
  SmallVec(It first, It last) { assign(first, last); }
  SmallVec(const SmallVec& other) { copy(other); }
  SmallVec(SmallVec&& other) noexcept { take(other); }
  SmallVec& operator=(const SmallVec& other) {
    if (this != &other) copy(other);
    return *this;
  }
  SmallVec& operator=(SmallVec&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVec() { release(); }

  template <class It>
  void assign(It first, It last) {
    clear();
    for (; first != last; ++first) push_back(*first);
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](int i) { return data_[i]; }
  const T& operator[](int i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void clear() { size_ = 0; }
  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void resize(int count, T value = T()) {
    if (count > capacity_) grow(count);
    for (int i = size_; i < count; ++i) data_[i] = value;
    size_ = count;
  }
  void insert(int at, T value) {
    push_back(value);
    std::rotate(data_ + at, data_ + size_ - 1, data_ + size_);
  }
  void erase(int at) {
    std::copy(data_ + at + 1, data_ + size_, data_ + at);
    --size_;
  }

  friend bool operator==(const SmallVec& a, const SmallVec& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend std::ostream& operator<<(std::ostream& out, const SmallVec& v) {
    out << "(";
    for (int i = 0; i < v.size_; ++i) out << (i ? "," : "") << v.data_[i];
    return out << ")";
  }

 private:
  void grow(int count) {
    int capacity = std::max(count, capacity_ * 2);
    T* bigger = new T[capacity];
    std::copy(data_, data_ + size_, bigger);
    release();
    data_ = bigger;
    capacity_ = capacity;
  }
  // In words, as elements were written: one wide copy would wait for writes still under way, and the compiler makes
  // `rep movs` of it, which costs more than all else here.
  void copy_inside(const SmallVec& other) {
    constexpr size_t kWords = sizeof(inside_) / 8;
    auto* to = reinterpret_cast<unsigned char*>(inside_);
    const auto* from = reinterpret_cast<const unsigned char*>(other.inside_);
#pragma GCC unroll 16
    for (size_t i = 0; i < kWords; ++i) std::memcpy(to + 8 * i, from + 8 * i, 8);
    if constexpr (sizeof(inside_) % 8 != 0) std::memcpy(to + 8 * kWords, from + 8 * kWords, sizeof(inside_) % 8);
  }
  // Few elements are copied as the whole inside: a fixed number of bytes, no loop.
  void copy(const SmallVec& other) {
    if (other.data_ == other.inside_ && data_ == inside_) {
      copy_inside(other);
      size_ = other.size_;
    } else {
      assign(other.begin(), other.end());
    }
  }
  void release() {
    if (data_ != inside_) delete[] data_;
  }
  void take(SmallVec& other) {
    size_ = other.size_;
    if (other.data_ == other.inside_) {
      data_ = inside_;
      capacity_ = N;
      copy_inside(other);
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.inside_;
      other.capacity_ = N;
    }
    other.size_ = 0;
  }

  T inside_[N] = {};  // so that copy_inside never reads what nobody wrote
  T* data_ = inside_;
  int size_ = 0;
  int capacity_ = N;
};

// Extents, strides or coordinates, one for each axis.
using Dims = SmallVec<int64_t, 6>;

// The product of all extents. The caller has checked it against overflow (see checked_count).
inline int64_t count_of(const Dims& shape) {
  int64_t n = 1;
  for (int64_t extent : shape) n *= extent;
  return n;
}

// Strides in bytes of a C-ordered block.
inline Dims c_strides(const Dims& shape, int64_t itemsize) {
  Dims strides(shape.size());
  int64_t step = itemsize;
  for (int k = shape.size() - 1; k >= 0; --k) {
    strides[k] = step;
    step *= std::max<int64_t>(shape[k], 1);
  }
  return strides;
}

}  // namespace tilewise
