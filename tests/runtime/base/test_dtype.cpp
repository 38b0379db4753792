#include "runtime/base/dtype.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <string>

#include "runtime/base/convert.h"

namespace tilewise {
namespace {

DType at(int i) { return static_cast<DType>(i); }

// np.promote_types for each pair, as the hexadecimal number of the result.
constexpr const char* kPromote[kNumericDTypes] = {
    "0123456789abcd", "11234234b9abcd", "22234234baabcd", "33334334bbbbdd", "44444444bbbbdd",
    "5223456789abcd", "633346678aabcd", "744447778bbbdd", "8bbbb8888bbbdd", "99abb9abb9abcd",
    "aaabbaabbaabcd", "bbbbbbbbbbbbdd", "cccddccddccdcd", "dddddddddddddd",
};
// np.can_cast(row, column, "safe") and "same_kind".
constexpr const char* kSafe[kNumericDTypes] = {
    "xxxxxxxxxxxxxx", ".xxxx....xxxxx", "..xxx.....xxxx", "...xx......x.x", "....x......x.x",
    "..xxxxxxxxxxxx", "...xx.xxx.xxxx", "....x..xx..x.x", "........x..x.x", ".........xxxxx",
    "..........xxxx", "...........x.x", "............xx", ".............x",
};
constexpr const char* kSameKind[kNumericDTypes] = {
    "xxxxxxxxxxxxxx", ".xxxx....xxxxx", ".xxxx....xxxxx", ".xxxx....xxxxx", ".xxxx....xxxxx",
    ".xxxxxxxxxxxxx", ".xxxxxxxxxxxxx", ".xxxxxxxxxxxxx", ".xxxxxxxxxxxxx", ".........xxxxx",
    ".........xxxxx", ".........xxxxx", "............xx", "............xx",
};

TEST(DType, PromotionAndCastingAreNumPys) {
  for (int a = 0; a < kNumericDTypes; ++a) {
    for (int b = 0; b < kNumericDTypes; ++b) {
      const std::string pair = str(name(at(a)), " ", name(at(b)));
      const char digit = "0123456789abcd"[static_cast<int>(promote(at(a), at(b)))];
      EXPECT_EQ(digit, kPromote[a][b]) << pair;
      EXPECT_EQ(can_cast_safely(at(a), at(b)), kSafe[a][b] == 'x') << pair;
      EXPECT_EQ(can_cast_same_kind(at(a), at(b)), kSameKind[a][b] == 'x') << pair;
    }
  }
}

TEST(DType, VoidPromotesOnlyWithItself) {
  EXPECT_EQ(promote(DType::kVoid, DType::kVoid), DType::kVoid);
  EXPECT_THROW(promote(DType::kVoid, DType::kInt8), Error);
}

TEST(DType, PartsOfComplex) {
  EXPECT_EQ(real_of(DType::kComplex64), DType::kFloat32);
  EXPECT_EQ(real_of(DType::kComplex128), DType::kFloat64);
  EXPECT_EQ(real_of(DType::kInt8), DType::kInt8);
  EXPECT_EQ(itemsize(DType::kComplex128), 16);
  EXPECT_EQ(kind(DType::kUInt32), 'u');
}

TEST(Half, EveryValueSurvivesTheRoundTrip) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const Half h{static_cast<uint16_t>(bits)};
    if ((bits & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(to_float(h)));
      EXPECT_TRUE(std::isnan(to_float(to_half(to_float(h)))));
      continue;
    }
    EXPECT_EQ(to_half(to_float(h)).bits, bits);
    EXPECT_EQ(to_half(static_cast<double>(to_float(h))).bits, bits);
  }
}

TEST(Half, RoundsToNearestEvenBetweenNeighbours) {
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const float low = to_float({static_cast<uint16_t>(bits)});
    const float high = to_float({static_cast<uint16_t>(bits + 1)});
    const float middle = low + (high - low) / 2;
    EXPECT_EQ(to_half(middle).bits, bits + (bits & 1)) << bits;
    EXPECT_EQ(to_half(std::nextafter(middle, high)).bits, bits + 1) << bits;
    EXPECT_EQ(to_half(std::nextafter(middle, low)).bits, bits) << bits;
    EXPECT_EQ(to_half(-std::nextafter(static_cast<double>(middle), 1e9)).bits, 0x8000 | (bits + 1)) << bits;
    EXPECT_EQ(to_half(std::nextafter(static_cast<double>(middle), -1e9)).bits, bits) << bits;
  }
  // From double in one step: through float this would round up twice.
  EXPECT_EQ(to_half(1 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(to_half(65519.99).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.0).bits, 0x7c00);
}

TEST(Half, RaisesOverflowAndUnderflow) {
  const auto raised = [](double v) {
    std::feclearexcept(FE_ALL_EXCEPT);
    to_half(v);
    return std::fetestexcept(FE_OVERFLOW | FE_UNDERFLOW);
  };
  EXPECT_EQ(raised(1e6), FE_OVERFLOW);
  EXPECT_EQ(raised(65520.0), FE_OVERFLOW);
  EXPECT_EQ(raised(1e-9), FE_UNDERFLOW);
  EXPECT_EQ(raised(0.0), 0);
  EXPECT_EQ(raised(0x1p-24), 0);
  EXPECT_EQ(raised(std::numeric_limits<double>::infinity()), 0);
}

template <class To>
To cast_to(double v, DType to) {
  return cast(Scalar::of(DType::kFloat64, v), to).as<To>();
}

TEST(Cast, FloatsOutOfRangeBecomeIntegersAsOnX86) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(cast_to<int8_t>(300, DType::kInt8), 44);
  EXPECT_EQ(cast_to<int8_t>(0x1p31, DType::kInt8), 0);
  EXPECT_EQ(cast_to<uint8_t>(-1, DType::kUInt8), 255);
  EXPECT_EQ(cast_to<uint16_t>(-300, DType::kUInt16), 65236);
  EXPECT_EQ(cast_to<int32_t>(0x1p31, DType::kInt32), INT32_MIN);
  EXPECT_EQ(cast_to<int32_t>(-2147483648.9, DType::kInt32), INT32_MIN);
  EXPECT_EQ(cast_to<int32_t>(nan, DType::kInt32), INT32_MIN);
  EXPECT_EQ(cast_to<uint32_t>(-5, DType::kUInt32), 4294967291u);
  EXPECT_EQ(cast_to<uint32_t>(0x1p32 + 7, DType::kUInt32), 7u);
  EXPECT_EQ(cast_to<int64_t>(inf, DType::kInt64), INT64_MIN);
  EXPECT_EQ(cast_to<uint64_t>(0x1p63, DType::kUInt64), 0x8000000000000000u);
  EXPECT_EQ(cast_to<uint64_t>(-1, DType::kUInt64), 0xffffffffffffffffu);
  EXPECT_EQ(cast_to<uint64_t>(nan, DType::kUInt64), 0x8000000000000000u);
  EXPECT_EQ(cast_to<uint64_t>(inf, DType::kUInt64), 0u);
  EXPECT_EQ(cast_to<bool>(nan, DType::kBool), true);
}

TEST(Cast, ComplexKeepsItsRealPart) {
  const Scalar z = Scalar::of(DType::kComplex128, std::complex<double>(0, 2));
  EXPECT_EQ(cast(z, DType::kFloat32).as<float>(), 0);
  EXPECT_EQ(cast(z, DType::kBool).as<bool>(), true);
  EXPECT_EQ(cast(Scalar::of(DType::kInt16, int16_t{-3}), DType::kComplex64).as<std::complex<float>>(),
            std::complex<float>(-3, 0));
}

TEST(Cast, ScalarsAreEqualByBits) {
  EXPECT_EQ(Scalar::of(DType::kFloat64, std::nan("")), Scalar::of(DType::kFloat64, std::nan("")));
  EXPECT_FALSE(Scalar::of(DType::kFloat64, 0.0) == Scalar::of(DType::kFloat64, -0.0));
  EXPECT_FALSE(Scalar::of(DType::kInt64, int64_t{0}) == Scalar::of(DType::kUInt64, uint64_t{0}));
}

}  // namespace
}  // namespace tilewise
