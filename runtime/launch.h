// One run of a scalar program over a box of its frame: the contract between the planner and the interpreters.
//
// The planner has permuted and merged the frame's axes so that they go from outermost to innermost in memory;
// extents of 1 are dropped. Operand strides are bytes per frame axis, 0 where broadcast, negative allowed, none
// aligned to the item size for certain. An output never overlaps an operand, except that it may be the very same
// elements (same base, same strides).
//
// Reductions. Each reduction's first stage runs over its innermost reduced axis: lanes if that is the last axis of
// the frame, runs otherwise (the fixed tree, partition/tree.h). The state of each node of the tree that this box
// owns is written to `nodes`, dense: [node][the box's other axes in order]. Later stages are launches of their own,
// over those nodes combined. A reduction whose value is used inside the program has its whole axis in the box.
//
// Guards. An instruction with a guard runs in that guard's box only; elsewhere it has no value, and its operand or output
// may not exist there. So the base of such an access is where the box's corner would be, perhaps outside the array.
#pragma once

#include <cstdint>
#include <functional>

#include "partition/box.h"
#include "runtime/base/dims.h"
#include "runtime/program.h"

namespace tilewise {

struct Operand {
  char* base = nullptr;  // the element at the box's corner
  Dims strides;          // bytes for each frame axis
};

struct ReduceTarget {
  void* nodes = nullptr;        // null: the value is used inside the program only
  int64_t begin = 0, end = 0;   // positions of the box on the first stage's axis; begin is a multiple of the unit
  int64_t extent = 0;           // of that axis in the whole frame: fixes the tree
};

// Bits of what a task met, in `FpFlags::seen` of each instruction; the order of NumPy's error kinds.
// kFpValueError is no warning: the row's value is an error (an integer raised to a negative integer).
enum FpKind : uint8_t { kFpDivide = 1, kFpOverflow = 2, kFpUnderflow = 4, kFpInvalid = 8, kFpValueError = 16 };

// A kMoments meets conditions in its sums (told as the reduction's), its differences, their squares, and the mean's division.
inline constexpr int kMomentParts = 4;

struct Launch {
  const Program* program = nullptr;
  Dims extents;                      // of the box
  Dims origin;                       // the box's corner in frame coordinates, for kIndex
  const Operand* operands = nullptr;      // one an access
  const partition::Box* guards = nullptr;  // one a guard of the program, relative to the box; any may be empty
  const Scalar* params = nullptr;         // one a parameter, already of the parameter's type
  ReduceTarget* reductions = nullptr;     // one a reduction
  uint8_t* fp_flags = nullptr;            // one byte an instruction (FpKind bits, OR-ed in); null: nobody asks
  int fp_parts = 1;                       // kMomentParts: behind those, as many bytes for each further part of moments
  uint8_t fp_watch = 0xff;                // the kinds that somebody asks for; others need not be looked for
};

// How a kernel shares its work among the device's cores: calls body(i) for i in [0, count), on any thread, and
// returns when all are done. The grain is the kernel's: count is the number of pieces, not of elements.
class Parallel {
 public:
  virtual ~Parallel() = default;
  virtual int width() const = 0;  // cores of the device; 1 only where no other core could help
  virtual void run(int64_t count, const std::function<void(int64_t)>& body) = 0;
};

// Bytes of one state of a reduction over values of type `dtype`. The arg-states keep their index behind the value, at
// arg_index_offset(dtype).
int64_t arg_index_offset(DType dtype);
int64_t state_bytes(const Reduction& reduction, DType dtype);

// The interpreters. `run_reference` is plain and obviously right; `run_simd` is the one used.
// Both are supplied by ops and installed once.
struct Interpreter {
  void (*run)(const Launch& launch, Parallel& parallel) = nullptr;
  // Combines states: into[i] = combine(into[i], from[i]) for n states; counts are the positions under each node,
  // for kMoments. FpKind bits of what joins meet are OR-ed into `flags` (kMomentParts bytes for kMoments, else one); null:
  // nobody asks.
  void (*combine)(const Reduction& reduction, DType dtype, void* into, const void* from, int64_t n,
                  int64_t into_positions, int64_t from_positions, uint8_t* flags) = nullptr;
};
void install_interpreter(const Interpreter& interpreter);
const Interpreter& interpreter();

}  // namespace tilewise
