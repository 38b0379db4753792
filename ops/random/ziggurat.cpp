#include "ops/random/ziggurat.h"

namespace tilewise::ops {

namespace {

using Real = long double;

// The strips' outer ends, from the base (0: as wide as a rectangle of the base's area would be) to the tail's edge (255).
struct Strips {
  Real end[kStrips], density[kStrips];
};

double rounded_exp(double x) { return static_cast<double>(std::exp(static_cast<Real>(x))); }
double rounded_log(double x) { return static_cast<double>(std::log(static_cast<Real>(x))); }

// In doubles, each operation rounded once. Only so does every strip come out as in NumPy's tables, whose exponential
// rounded upwards in one place.
Strips normal_strips() {
  constexpr double kArea = 0.004928673233974652;
  constexpr int kRoundedUp = 38;
  Strips strips;
  double end = kNormalEdge, density = rounded_exp(-0.5 * end * end);
  strips.end[0] = kArea / density;
  strips.density[0] = 1;
  for (int i = kStrips - 1; i >= 1; --i) {
    if (i < kStrips - 1) {
      end = std::sqrt(-2 * rounded_log(kArea / end + density));
      density = rounded_exp(-0.5 * end * end);
      if (i == kRoundedUp) density = std::nextafter(density, 1.0);
    }
    strips.end[i] = end;
    strips.density[i] = density;
  }
  return strips;
}

// Exact but for the last rounding, which takes a sum with its rounding errors kept.
Strips exponential_strips() {
  const Real edge = 7.69711747013104971404462804801521549911L;
  Strips strips;
  Real end = edge, density = std::exp(-edge), rest = 0;
  const Real area = (edge + 1) * density;
  strips.end[0] = area / density;
  strips.density[0] = 1;
  for (int i = kStrips - 1; i >= 1; --i) {
    if (i < kStrips - 1) {
      const Real step = area / end, sum = density + step;
      rest += step - (sum - density);
      density = sum;
      end = -std::log(density) - rest / density;
    }
    strips.end[i] = end;
    strips.density[i] = density;
  }
  return strips;
}

// How much of strip i lies under the density whatever the height, by its width.
Real share(const Strips& strips, int i) {
  return i == 1 ? 0 : strips.end[i == 0 ? kStrips - 1 : i - 1] / strips.end[i];
}

template <class Table>
Table table(const Strips& strips, int width_bits) {
  using T = std::decay_t<decltype(Table().width[0])>;
  Table table;
  for (int i = 0; i < kStrips; ++i) {
    table.width[i] = static_cast<T>(std::ldexp(strips.end[i], -width_bits));
    table.density[i] = static_cast<T>(strips.density[i]);
  }
  return table;
}

DoubleZiggurat make_normal_doubles() {
  const Strips strips = normal_strips();
  auto made = table<DoubleZiggurat>(strips, 52);
  for (int i = 0; i < kStrips; ++i)  // the quotient rounded to a double first
    made.inside[i] = static_cast<uint64_t>(std::nearbyint(std::ldexp(static_cast<double>(share(strips, i)), 52)));
  return made;
}

FloatZiggurat make_normal_floats() {
  const Strips strips = normal_strips();
  auto made = table<FloatZiggurat>(strips, 23);
  for (int i = 0; i < kStrips; ++i)
    made.inside[i] = static_cast<uint32_t>(std::nearbyint(std::ldexp(share(strips, i), 23)));
  return made;
}

DoubleZiggurat make_exponential_doubles() {
  const Strips strips = exponential_strips();
  auto made = table<DoubleZiggurat>(strips, 53);
  for (int i = 0; i < kStrips; ++i) made.inside[i] = 2 * static_cast<uint64_t>(std::ldexp(share(strips, i), 52));
  return made;
}

FloatZiggurat make_exponential_floats() {
  const Strips strips = exponential_strips();
  auto made = table<FloatZiggurat>(strips, 23);
  for (int i = 0; i < kStrips; ++i)
    made.inside[i] = static_cast<uint32_t>(std::nearbyint(std::ldexp(share(strips, i), 23)));
  // Entries close to half way between two floats, which NumPy's tables round the other way.
  made.width[226] = std::nextafter(made.width[226], 1.0f);
  made.density[128] = std::nextafter(made.density[128], 0.0f);
  made.density[154] = std::nextafter(made.density[154], 1.0f);
  made.density[171] = std::nextafter(made.density[171], 0.0f);
  return made;
}

}  // namespace

const DoubleZiggurat& normal_doubles() {
  static const DoubleZiggurat made = make_normal_doubles();
  return made;
}
const FloatZiggurat& normal_floats() {
  static const FloatZiggurat made = make_normal_floats();
  return made;
}
const DoubleZiggurat& exponential_doubles() {
  static const DoubleZiggurat made = make_exponential_doubles();
  return made;
}
const FloatZiggurat& exponential_floats() {
  static const FloatZiggurat made = make_exponential_floats();
  return made;
}

}  // namespace tilewise::ops
