// The vocabulary of ops/elementwise.def: which dtypes a row has loops for, what it returns, its flags, and how it
// raises floating-point warnings. Constants only.
#pragma once

#include <cstdint>

#include "runtime/base/dtype.h"

namespace tilewise::ops {

// Sets of dtypes: bit d stands for DType d.
using LoopSet = uint16_t;
constexpr LoopSet loop_bit(DType d) { return static_cast<LoopSet>(1u << static_cast<int>(d)); }
namespace loops {
inline constexpr LoopSet Bool = loop_bit(DType::kBool);
inline constexpr LoopSet Ints = 0x1fe;     // int8 to uint64
inline constexpr LoopSet Floats = 0xe00;   // float16 to float64
inline constexpr LoopSet Complex = 0x3000;
inline constexpr LoopSet BoolInts = Bool | Ints;
inline constexpr LoopSet Inexact = Floats | Complex;
inline constexpr LoopSet Reals = Ints | Floats;
inline constexpr LoopSet BoolReals = Bool | Reals;
inline constexpr LoopSet Numbers = Reals | Complex;
inline constexpr LoopSet All = Bool | Numbers;
inline constexpr LoopSet Widest = loop_bit(DType::kFloat64) | loop_bit(DType::kComplex128);
inline constexpr LoopSet Parts = loop_bit(DType::kFloat32) | loop_bit(DType::kFloat64);
inline constexpr LoopSet Int64s = loop_bit(DType::kInt64) | loop_bit(DType::kUInt64);
}  // namespace loops

// The result's type as a function of the loop's.
enum class Result : uint8_t { Same, Bool, Real, Complex, Int32, UInt8 };

// Flags of a row.
enum RowFlag : uint16_t {
  Plain = 0,
  Commutes = 1,
  Reduces = 2,       // associative enough for a tree; np.ufunc.reduce runs natively
  Portable = 4,      // the same bits on every kind of processor
  Helper = 8,        // no NumPy ufunc of this name: used by fusion and by the Python face
  Select = 16,       // the first operand is bool, the others have the loop's type
  SecondInt64 = 32,  // the second operand is int64 whatever the loop
  SecondOther = 64,  // int64 with uint64 and uint64 with int64
  HalfBits = 128,    // fn takes float16 itself; for other rows it is computed in float and rounded
  // Where type resolution (ops/type_rules.h) departs from "the first loop that every operand casts to safely":
  NoBools = 256,     // bools alone are refused, not computed as int8
  Strict = 512,      // only the loop of the common type, and NumPy's other message where there is none
  IntsToDouble = 1024,  // integers and bools alone are computed in float64
  Truths = 2048,     // operands of different types are all cast to bool
};

// How the row raises warnings. Exact arithmetic takes what the hardware (or feraiseexcept) says; functions are
// tested by their operands and result, so that a spurious flag of some library is never seen.
enum FpRule : uint16_t {
  Never = 0,
  Hardware = 1,
  Invalid = 2,          // a NaN from operands that are none
  Overflow = 4,         // an infinity from finite operands
  Pole = 8,             // the same, but called division by zero
  PoleAt0 = 16,         // ... division by zero where the first operand is zero, overflow elsewhere
  Tiny = 32,            // underflow: a result below the normal range, though not zero for a zero operand
  NegativePower = 64,   // integers only: kFpValueError where the second operand is negative
  NanOperand = 128,     // invalid where an operand is a NaN
  Unordered = 256,      // complex only: invalid where a part that decides the order is a NaN
};
constexpr FpRule operator|(FpRule a, FpRule b) { return static_cast<FpRule>(static_cast<int>(a) | b); }
constexpr RowFlag operator|(RowFlag a, RowFlag b) { return static_cast<RowFlag>(static_cast<int>(a) | b); }

constexpr DType result_for(Result rule, DType loop) {
  switch (rule) {
    case Result::Same: break;
    case Result::Bool: return DType::kBool;
    case Result::Int32: return DType::kInt32;
    case Result::UInt8: return DType::kUInt8;
    case Result::Real:
      if (loop == DType::kComplex64) return DType::kFloat32;
      if (loop == DType::kComplex128) return DType::kFloat64;
      break;
    case Result::Complex: return loop == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
  }
  return loop;
}

// Complex functions are the platform's libm on every back end that has them, and raise what it raises.
constexpr FpRule fp_for(FpRule rule, double ulp, DType loop) {
  if (is_complex(loop)) return ulp > 0 ? Hardware : rule;
  return static_cast<FpRule>(rule & ~Unordered);
}

constexpr DType second_for(RowFlag flags, DType loop) {
  if (flags & SecondInt64) return DType::kInt64;
  if (flags & SecondOther) return loop == DType::kInt64 ? DType::kUInt64 : DType::kInt64;
  return loop;
}

}  // namespace tilewise::ops
