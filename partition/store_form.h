// What views and boxes of a store are measured against: its base shape and the bytes of one base element.
#pragma once

#include <cstdint>

#include "runtime/base/dims.h"

namespace tilewise::partition {

struct StoreForm {
  Dims shape;
  int64_t itemsize = 1;

  int64_t bytes() const { return count_of(shape) * itemsize; }
  friend bool operator==(const StoreForm&, const StoreForm&) = default;
};

}  // namespace tilewise::partition
