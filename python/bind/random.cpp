// tilewise._core.RandomStream: a generator's state and what is drawn from it. Arguments come checked from _random.py.
#include "ops/random.h"

#include <pybind11/stl.h>

#include "python/bind/dtypes.h"
#include "python/bind/fp.h"
#include "python/bind/functions.h"
#include "python/bind/object.h"
#include "python/bind/views.h"

namespace py = pybind11;

namespace tilewise::bind {
namespace {

// (state, increment, has_half, half), the first two as pairs of 64 bits.
using StateTuple = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>;

void set(ops::RandomStream& stream, uint64_t state_high, uint64_t state_low, uint64_t increment_high,
         uint64_t increment_low, uint64_t has_half, uint64_t half) {
  stream.set({state_high, state_low, increment_high, increment_low, has_half, half});
}

StateTuple get(ops::RandomStream& stream) {
  const ops::RandomState s = stream.state();
  return {s.state_high, s.state_low, s.increment_high, s.increment_low, s.has_half, s.half};
}

py::object drawn(ops::RandomStream& stream, const ops::Draw& what, py::handle shape, py::handle out) {
  const Array* to = out.is_none() ? nullptr : &cast_array(out.ptr())->array;
  Array result = stream.draw(what, to ? to->view.shape : shape_from(shape.ptr()), to);
  after_operation();
  if (to) return py::reinterpret_borrow<py::object>(out);
  PyObject* object = new_array(std::move(result));
  if (!object) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

ops::Draw floats(int distribution, py::handle dtype) {
  ops::Draw what;
  what.distribution = static_cast<ops::Distribution>(distribution);
  what.dtype = numeric_dtype(dtype.ptr()).value();
  return what;
}

py::object draw(ops::RandomStream& stream, int distribution, py::handle shape, py::handle dtype, py::handle out) {
  return drawn(stream, floats(distribution, dtype), shape, out);
}

// scale * value, or shift + scale * value.
py::object draw_scaled(ops::RandomStream& stream, int distribution, py::handle shape, py::handle dtype, double scale,
                       std::optional<double> shift) {
  ops::Draw what = floats(distribution, dtype);
  what.scales = true;
  what.scale = scale;
  what.shifts = shift.has_value();
  what.shift = shift.value_or(0);
  return drawn(stream, what, shape, py::none());
}

py::object integers(ops::RandomStream& stream, py::handle shape, py::handle dtype, uint64_t low, uint64_t range) {
  ops::Draw what = floats(static_cast<int>(ops::Distribution::kIntegers), dtype);
  what.low = low;
  what.range = range;
  return drawn(stream, what, shape, py::none());
}

}  // namespace

void add_random(py::module_& m) {
  py::class_<ops::RandomStream> type(m, "RandomStream");
  type.def(py::init<>());
  type.def("set", set);
  type.def("get", get);
  type.def("draw", draw);
  type.def("draw_scaled", draw_scaled);
  type.def("integers", integers);
  using ops::Distribution;
  for (const auto& [name, value] : {std::pair("UNIFORM", Distribution::kUniform), {"NORMAL", Distribution::kNormal},
                                    {"EXPONENTIAL", Distribution::kExponential},
                                    {"INVERSE_EXPONENTIAL", Distribution::kInverseExponential}})
    type.attr(name) = static_cast<int>(value);
}

}  // namespace tilewise::bind
