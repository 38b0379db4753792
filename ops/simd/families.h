// The families of kernels, one file each: what a family has for a row and a loop type, for the instruction set in use.
// A family that has no kernel for it answers with a null function, and the next is asked (registry.cpp).
#pragma once

#include "ops/opcode.h"
#include "ops/simd/kernel.h"

namespace tilewise::ops::simd {

KernelInfo find_arith_float_kernel(Opcode row, DType dtype);
KernelInfo find_arith_int_kernel(Opcode row, DType dtype);
KernelInfo find_complex_kernel(Opcode row, DType dtype);
KernelInfo find_math_float_kernel(Opcode row, DType dtype);
KernelInfo find_math_sleef_kernel(Opcode row, DType dtype);
KernelInfo find_compare_kernel(Opcode row, DType dtype);
KernelInfo find_select_kernel(Opcode row, DType dtype);
KernelInfo find_float_to_int_kernel(DType from, DType to);
KernelInfo find_cast_kernel(DType from, DType to);
LaneKernel find_lane_float_kernel(Opcode row, DType dtype);

}  // namespace tilewise::ops::simd
