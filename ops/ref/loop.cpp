#include "ops/ref/loop.h"

#include <array>

#include "ops/ref/make_loops.h"

namespace tilewise::ops::ref {

namespace {

const LoopTable& table() {
  static const LoopTable filled = [] {
    LoopTable t;
#define TW_ADD(family) add_##family(t);
    TW_FAMILIES(TW_ADD)
#undef TW_ADD
    return t;
  }();
  return filled;
}

template <class To, class From>
void cast_loop(const void* const* in, void* out, int64_t n, uint8_t* flags) {
  const HardwareFlags hardware;
  for (int64_t i = 0; i < n; ++i) static_cast<To*>(out)[i] = convert<To>(read<From>(in[0], i));
  if (flags) *flags |= hardware.seen();
}

}  // namespace

Loop find_loop(Opcode op, DType dtype) {
  return dtype == DType::kVoid ? nullptr : table().loop[op][static_cast<int>(dtype)];
}

Loop find_cast(DType from, DType to) {
  return visit(from, [&](auto f) {
    return visit(to, [&](auto t) -> Loop { return &cast_loop<typename decltype(t)::type, typename decltype(f)::type>; });
  });
}

}  // namespace tilewise::ops::ref
