#include "ops/simd/select_block.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/select_block.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {

int64_t count_mask(const uint8_t* mask, int64_t n) {
  const Full<uint8_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t count = 0, i = 0;
  for (; i + lanes <= n; i += lanes) count += static_cast<int64_t>(hn::CountTrue(d, load_mask(d, mask + i)));
  for (; i < n; ++i) count += mask[i] != 0;
  return count;
}

// A whole vector is stored while there is room for it: what lies behind the chosen is overwritten by the next ones.
// Later ones are stored apart and copied. Highway's masked stores do not serve: on some instruction sets they read and
// rewrite the whole vector, which is memory that may not exist, or that another thread is writing.
template <class T, class Get, class GetOne>
HWY_INLINE void pack(const uint8_t* mask, int64_t n, T* out, int64_t chosen, const Get& get, const GetOne& get_one) {
  const Full<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0, k = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto m = load_mask(d, mask + i);
    const int64_t count = static_cast<int64_t>(hn::CountTrue(d, m));
    if (k + lanes <= chosen) {
      hn::StoreU(hn::Compress(get(i), m), d, out + k);
    } else if (count) {
      HWY_ALIGN T apart[hn::MaxLanes(d)];
      hn::Store(hn::Compress(get(i), m), d, apart);
      std::memcpy(out + k, apart, count * sizeof(T));
    }
    k += count;
  }
  for (; i < n; ++i)
    if (mask[i]) out[k++] = get_one(i);
}

template <class T>
void pack_items(const uint8_t* mask, const char* values, int64_t n, char* out, int64_t chosen) {
  const T* from = reinterpret_cast<const T*>(values);
  const Full<T> d;
  pack(mask, n, reinterpret_cast<T*>(out), chosen, [=](int64_t i) HWY_ATTR { return hn::LoadU(d, from + i); },
       [=](int64_t i) { return from[i]; });
}

void pack_any(const uint8_t* mask, const char* values, int64_t itemsize, int64_t n, char* out, int64_t chosen) {
  switch (itemsize) {
    case 2: return pack_items<uint16_t>(mask, values, n, out, chosen);
    case 4: return pack_items<uint32_t>(mask, values, n, out, chosen);
    case 8: return pack_items<uint64_t>(mask, values, n, out, chosen);
    case 1: {
      int64_t i = 0;
      for (int64_t k = 0; k < chosen; ++i) {  // without a branch that nobody could foretell
        out[k] = values[i];
        k += mask[i] != 0;
      }
      return;
    }
    default:
      for (int64_t i = 0; i < n; ++i) {
        if (!mask[i]) continue;
        std::memcpy(out, values + i * itemsize, itemsize);
        out += itemsize;
      }
  }
}

void pack_index(const uint8_t* mask, int64_t first, int64_t n, int64_t* out, int64_t chosen) {
  const Full<int64_t> d;
  const auto iota = hn::Iota(d, 0);
  pack(mask, n, out, chosen, [=](int64_t i) HWY_ATTR { return hn::Add(iota, hn::Set(d, first + i)); },
       [=](int64_t i) { return first + i; });
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(count_mask);
HWY_EXPORT(pack_any);
HWY_EXPORT(pack_index);
int64_t count_true(const uint8_t* mask, int64_t n) { return HWY_DYNAMIC_DISPATCH(count_mask)(mask, n); }
void pack_chosen(const uint8_t* mask, const char* values, int64_t itemsize, int64_t n, char* out, int64_t chosen) {
  HWY_DYNAMIC_DISPATCH(pack_any)(mask, values, itemsize, n, out, chosen);
}
void pack_positions(const uint8_t* mask, int64_t first, int64_t n, int64_t* out, int64_t chosen) {
  HWY_DYNAMIC_DISPATCH(pack_index)(mask, first, n, out, chosen);
}
}  // namespace tilewise::ops::simd
#endif
