#include "ops/scan/kernel.h"

#include <cstring>

#include "ops/opcode.h"
#include "ops/ref/fn_arith.h"
#include "runtime/base/convert.h"

namespace tilewise::ops {

namespace {

template <class T>
T load(const void* at) {
  if constexpr (std::is_same_v<T, bool>) {
    return *static_cast<const uint8_t*>(at) != 0;  // any byte may be there
  } else {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
  }
}
template <class T>
void store(void* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

struct Add {
  explicit Add(ref::Loop) {}
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsHalf<T>) return to_half(to_float(a) + to_float(b));
    else return ref::fn::add(a, b);
  }
};
struct Multiply {
  explicit Multiply(ref::Loop) {}
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsHalf<T>) return to_half(to_float(a) * to_float(b));
    else return ref::fn::multiply(a, b);
  }
};
struct Maximum {
  explicit Maximum(ref::Loop) {}
  template <class T>
  T operator()(T a, T b) const {
    return ref::fn::maximum(a, b);
  }
};
struct Minimum {
  explicit Minimum(ref::Loop) {}
  template <class T>
  T operator()(T a, T b) const {
    return ref::fn::minimum(a, b);
  }
};

template <int64_t bytes>
struct alignas(bytes) Raw {
  char data[bytes];
};
// Any other operation, an element at a time.
struct ByLoop {
  explicit ByLoop(ref::Loop loop) : loop(loop) {}
  template <class T>
  T operator()(T a, T b) const {
    T result;
    const void* in[] = {&a, &b, nullptr};
    loop(in, &result, 1, nullptr);
    return result;
  }
  ref::Loop loop;
};

// One neighbour: the running value stays in a register.
template <class T, class Op>
void scan_line(const Band& band, const void* carry, void* total, Op op) {
  T running = load<T>(band.x);
  const char* x = band.x + band.x_step;
  char* y = band.y;
  if (!y) {
    for (int64_t i = 1; i < band.n; ++i, x += band.x_step) running = op(running, load<T>(x));
  } else if (carry) {
    const T before = load<T>(carry);
    store(y, op(before, running));
    for (int64_t i = 1; i < band.n; ++i, x += band.x_step) {
      running = op(running, load<T>(x));
      store(y += band.y_step, op(before, running));
    }
  } else {
    store(y, running);
    for (int64_t i = 1; i < band.n; ++i, x += band.x_step) {
      running = op(running, load<T>(x));
      store(y += band.y_step, running);
    }
  }
  store(total, running);
}

template <class T, class Op, class Across>
void scan_rows(const Band& band, const T* carry, T* running, Op op, Across x_across, Across y_across) {
  const int64_t w = band.w;
  for (int64_t i = 0; i < band.n; ++i) {
    const char* x = band.x + i * band.x_step;
    if (i == 0) {
      for (int64_t j = 0; j < w; ++j) running[j] = load<T>(x + j * x_across);
    } else {
      for (int64_t j = 0; j < w; ++j) running[j] = op(running[j], load<T>(x + j * x_across));
    }
    if (!band.y) continue;
    char* y = band.y + i * band.y_step;
    if (carry) {
      for (int64_t j = 0; j < w; ++j) store(y + j * y_across, op(carry[j], running[j]));
    } else {
      for (int64_t j = 0; j < w; ++j) store(y + j * y_across, running[j]);
    }
  }
}

template <class T, class Op>
void scan(const Band& band, const void* carry, void* total, ref::Loop loop) {
  const Op op(loop);
  if (band.w == 1) return scan_line<T>(band, carry, total, op);
  constexpr std::integral_constant<int64_t, sizeof(T)> kDense;
  const auto* before = static_cast<const T*>(carry);
  auto* running = static_cast<T*>(total);
  if (band.x_across == kDense && band.y_across == kDense) scan_rows(band, before, running, op, kDense, kDense);
  else scan_rows(band, before, running, op, band.x_across, band.y_across);
}

template <class T, class Op>
void add_carry(const Band& band, const void* carry, ref::Loop loop) {
  const Op op(loop);
  for (int64_t j = 0; j < band.w; ++j) {
    const T before = load<T>(static_cast<const char*>(carry) + j * static_cast<int64_t>(sizeof(T)));
    char* y = band.y + j * band.y_across;
    if (band.y_step == static_cast<int64_t>(sizeof(T))) {
      for (int64_t i = 0; i < band.n; ++i) store(y + i * sizeof(T), op(before, load<T>(y + i * sizeof(T))));
    } else {
      for (int64_t i = 0; i < band.n; ++i, y += band.y_step) store(y, op(before, load<T>(y)));
    }
  }
}

template <class T, class Op>
void join(void* into, const void* from, int64_t w, ref::Loop loop) {
  const Op op(loop);
  for (int64_t j = 0; j < w; ++j) {
    const int64_t at = j * static_cast<int64_t>(sizeof(T));
    store(static_cast<char*>(into) + at,
          op(load<T>(static_cast<char*>(into) + at), load<T>(static_cast<const char*>(from) + at)));
  }
}

template <class T, class Op>
ScanKernel made() {
  return {scan<T, Op>, add_carry<T, Op>, join<T, Op>};
}

ScanKernel by_loop(DType dtype) {
  switch (itemsize(dtype)) {
    case 1: return made<Raw<1>, ByLoop>();
    case 2: return made<Raw<2>, ByLoop>();
    case 4: return made<Raw<4>, ByLoop>();
    case 8: return made<Raw<8>, ByLoop>();
    default: return made<Raw<16>, ByLoop>();
  }
}

}  // namespace

ScanKernel scan_kernel(Opcode op, DType dtype) {
  const bool own = op == op::add || op == op::multiply;
  const bool order = (op == op::maximum || op == op::minimum) && !is_complex(dtype) && dtype != DType::kFloat16;
  if (!own && !order) return by_loop(dtype);
  return visit(dtype, [&](auto t) -> ScanKernel {
    using T = typename decltype(t)::type;
    if (op == op::add) return made<T, Add>();
    if (op == op::multiply) return made<T, Multiply>();
    if constexpr (!kIsComplex<T> && !kIsHalf<T>) {
      if (op == op::maximum) return made<T, Maximum>();
      return made<T, Minimum>();
    } else {
      return {};
    }
  });
}

}  // namespace tilewise::ops
