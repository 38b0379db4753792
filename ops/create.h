// New arrays. Shapes are checked (negative extents, byte counts beyond 63 bits) before anything is recorded.
#pragma once

#include "runtime/array.h"

namespace tilewise::ops {

// Contents undefined (zero in practice for what is read before it is written).
Array empty(const Dims& shape, DType dtype, int32_t itemsize = 0);  // itemsize for kVoid only
Array full(const Dims& shape, const Scalar& value);                 // value.dtype is the array's
Array zeros(const Dims& shape, DType dtype, int32_t itemsize = 0);  // kVoid too
// start + i * step for i < count, computed as NumPy's arange does for the dtype (first value start, second start+step).
Array arange(const Scalar& start, const Scalar& next, int64_t count, DType dtype);
// NumPy's linspace: arange(count) * step + start, the last element exactly stop if endpoint.
Array linspace(double start, double stop, int64_t count, bool endpoint, DType dtype);
// Ones on diagonal k of an n by m array.
Array eye(int64_t n, int64_t m, int64_t k, DType dtype);
// A snapshot, taken before the call returns, of host data with any strides.
Array from_host(const void* data, const Dims& shape, const Dims& strides, DType dtype, int32_t itemsize = 0);

}  // namespace tilewise::ops
