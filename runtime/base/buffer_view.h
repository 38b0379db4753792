// The two handles that cross all seams: a piece of memory, and a queue of work on a device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewise {

enum class MemoryKind : uint8_t { kHost, kPinned, kDevice };

// Bytes somewhere, not owned. `device` is the index of a logical device of this process, -1 for plain host memory.
struct BufferView {
  void* data = nullptr;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::kHost;
  int device = -1;
};

// An in-order queue of work on one device. What it points to belongs to the back end that made it; null means
// "the caller's own thread, at once".
struct StreamHandle {
  void* native = nullptr;
};

}  // namespace tilewise
