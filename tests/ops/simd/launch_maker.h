// Launches for tests of the interpreters: a program with arrays of its own, laid out as the test wants, run by either
// interpreter, results compared as bytes. Plus a Parallel without threads.
#pragma once

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "partition/tree.h"
#include "runtime/launch.h"

namespace tilewise::ops {

// Runs the pieces one after the other in an odd order; claims `width` cores.
class OddOrder : public Parallel {
 public:
  explicit OddOrder(int width) : width_(width) {}
  int width() const override { return width_; }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    for (int64_t i = count - 1; i >= 0; i -= 2) body(i);
    for (int64_t i = count % 2; i < count; i += 2) body(i);
    pieces += count;
  }
  int64_t pieces = 0;

 private:
  int width_;
};

// How an array lies in memory.
enum class Layout { kDense, kOffset, kPadded, kReversed, kTransposed, kMisaligned };

struct TestArray {
  std::vector<char> bytes;
  char* base = nullptr;
  Dims strides;
};

// An array for an access over the frame; `broadcast`: bit k: axis k has stride 0.
TestArray make_array(const Dims& extents, int itemsize, Layout layout, uint64_t broadcast = 0);
// Values that exercise corners: NaN, infinities, signed zeros, subnormals, small and large numbers.
void fill_values(char* base, const Dims& extents, const Dims& strides, DType dtype, std::mt19937& random, bool corners);

// A program over arrays, ready to be launched.
struct TestLaunch {
  Program program;
  Dims extents, origin;
  std::vector<Layout> layouts;       // by access
  std::vector<uint64_t> broadcasts;  // by access
  std::vector<partition::Box> guards;
  std::vector<int> within;           // by access: the guard in whose box alone its array lies; -1 or missing: in the whole
  std::vector<Scalar> params;
  std::vector<int64_t> begins, reduced_extents;  // by reduction: of the box on its first axis; 0: the whole axis
  bool corners = true;
  bool flags = false;
};

struct Outcome {
  std::vector<std::vector<char>> outputs;  // by access that is written: dense
  std::vector<std::vector<char>> nodes;    // by reduction
  std::vector<uint8_t> flags;
};

// Fills the inputs from the seed, runs, and returns what was written.
Outcome run(const TestLaunch& launch, unsigned seed, void (*interpreter)(const Launch&, Parallel&), Parallel& parallel);

// Whether two blocks of elements are equal: as bits, NaNs all alike, or within `ulp` units in the last place.
bool same_values(DType dtype, const std::vector<char>& a, const std::vector<char>& b, double ulp, int64_t* where);

// Where outputs and flags of two runs differ; empty: nowhere.
std::string difference(const TestLaunch& test, const Outcome& got, const Outcome& want);

}  // namespace tilewise::ops
