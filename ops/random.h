// Random numbers: NumPy's PCG64 stream, drawn in parallel. A draw gives the values that NumPy's Generator gives from the
// same state, and leaves the same state, whatever the number of devices and ranks.
//
// A RandomStream is the state between draws; it belongs to one generator object, whose lock keeps draws apart. Where a
// draw's share of the stream depends on its values (rejection), the state behind it is an array that the next draw reads
// where it runs; only state() waits for it.
#pragma once

#include <optional>

#include "runtime/array.h"

namespace tilewise::ops {

// NumPy's `bit_generator.state` of a PCG64.
struct RandomState {
  uint64_t state_high = 0, state_low = 0, increment_high = 0, increment_low = 0;
  uint64_t has_half = 0;  // 1: the upper half of a word waits to be used
  uint64_t half = 0;
};

enum class Distribution : uint8_t {
  kUniform,             // [0, 1)
  kIntegers,            // low + [0, range]
  kNormal,              // standard, by the ziggurat
  kExponential,         // standard, by the ziggurat
  kInverseExponential,  // standard, -log(1 - u)
};

// What to draw. Floating values are scaled and shifted where asked for (adding 0 is not nothing: it turns -0 into 0).
struct Draw {
  Distribution distribution = Distribution::kUniform;
  DType dtype = DType::kFloat64;
  bool scales = false, shifts = false;
  double scale = 1, shift = 0;
  uint64_t low = 0, range = 0;  // integers: modulo 2^64
};

class RandomStream {
 public:
  void set(const RandomState& state);
  RandomState state();  // waits where the last draw's end is not known yet
  // A new array, or `out`: of the draw's dtype, its elements in C order.
  Array draw(const Draw& what, const Dims& shape, const Array* out = nullptr);

 private:
  RandomState state_;
  std::optional<Array> pending_;  // the state in its place
};

}  // namespace tilewise::ops
