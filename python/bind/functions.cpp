// Module functions of tilewise._core: what the Python package composes NumPy's functions from. Their arguments come from
// that package, checked, so they are plain positional ones.
#include "python/bind/functions.h"

#include <pybind11/stl.h>

#include "ops/copy.h"
#include "ops/create.h"
#include "ops/gather.h"
#include "ops/matmul.h"
#include "ops/op_table.h"
#include "ops/reduce.h"
#include "ops/scan.h"
#include "ops/search.h"
#include "ops/select.h"
#include "ops/sort.h"
#include "python/bind/dtypes.h"
#include "python/bind/fp.h"
#include "python/bind/host.h"
#include "python/bind/index.h"
#include "python/bind/inputs.h"
#include "python/bind/ufunc.h"
#include "python/bind/views.h"
#include "runtime/record.h"

namespace py = pybind11;

namespace tilewise::bind {
namespace {

py::object own(PyObject* result) {
  if (!result) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

Format known_format(py::handle dtype) {
  auto format = format_of(descr_from(dtype.ptr()).get());
  if (!format) throw Error(ErrorKind::kNotImplemented, "tiles cannot hold this dtype");
  return *format;
}

DType number_format(py::handle dtype) { return known_format(dtype).dtype; }

Scalar scalar_argument(py::handle value) {
  auto scalar = scalar_from_numpy(value.ptr());
  if (!scalar) throw Error(ErrorKind::kType, "expected a NumPy number");
  return *scalar;
}

// ---- Creation
py::object empty(py::handle shape, py::handle dtype) {
  const Format format = known_format(dtype);
  return own(new_array(ops::empty(shape_from(shape.ptr()), format.dtype, format.itemsize), format.descr.get()));
}
py::object full(py::handle shape, py::handle value) {
  return own(new_array(ops::full(shape_from(shape.ptr()), scalar_argument(value))));
}
py::object arange(py::handle start, py::handle next, int64_t count, py::handle dtype) {
  return own(new_array(ops::arange(scalar_argument(start), scalar_argument(next), count, number_format(dtype))));
}
py::object linspace(double start, double stop, int64_t count, bool endpoint, py::handle dtype) {
  return own(new_array(ops::linspace(start, stop, count, endpoint, number_format(dtype))));
}
py::object eye(int64_t n, int64_t m, int64_t k, py::handle dtype) {
  return own(new_array(ops::eye(n, m, k, number_format(dtype))));
}
py::object from_numpy_object(py::handle array) { return own(from_numpy(array.ptr())); }
py::object hold_numpy(py::handle array) { return own(new_host_array(array.inc_ref().ptr())); }
bool tiles_hold(py::handle dtype) { return format_of(dtype.ptr()).has_value(); }

// ---- Reductions
struct Reduction {
  ops::ReduceOptions options;
  Operand where;
  PyObject* out = nullptr;
  PyObject* like = nullptr;
};

void fill(Reduction& reduction, py::handle source, py::handle axis, bool keepdims, py::handle dtype, py::handle out,
          py::handle where) {
  const int rank = cast_array(source.ptr())->array.rank();
  ops::ReduceOptions& options = reduction.options;
  if (!axis.is_none()) {
    Dims axes;
    uint64_t seen = 0;
    const Dims all = dims_from(axis.ptr());
    for (int64_t given : all) {
      if (rank == 0 && all.size() == 1 && (given == 0 || given == -1)) break;  // as in NumPy
      const int k = normalized_axis(given, rank);
      if (seen >> k & 1) throw Error(ErrorKind::kValue, "duplicate value in 'axis'");
      seen |= uint64_t{1} << k;
      axes.push_back(k);
    }
    options.axes = axes;
  }
  options.keepdims = keepdims;
  options.dtype = numeric_dtype(dtype.ptr());
  if (!out.is_none()) {
    if (!is_stored(out.ptr())) throw Error(ErrorKind::kType, "return arrays must be of ArrayType");
    reduction.out = out.ptr();
    options.out = &cast_array(out.ptr())->array;
  }
  options.where = where_argument(where.ptr(), reduction.where);
  reduction.like = subclass_of(source.ptr());
}

const Array& source_array(py::handle source) {
  if (!is_stored(source.ptr())) throw Error(ErrorKind::kNotImplemented, "tiles cannot hold this dtype");
  return cast_array(source.ptr())->array;
}

py::object finish(Reduction& reduction, Array&& result) {
  after_operation();
  if (reduction.out) return py::reinterpret_borrow<py::object>(reduction.out);
  return own(new_result(std::move(result), reduction.like));
}

py::object reduce(int op, py::handle source, py::handle axis, bool keepdims, py::handle dtype, py::handle out,
                  py::handle where, py::handle initial) {
  Reduction reduction;
  const Array& array = source_array(source);
  fill(reduction, source, axis, keepdims, dtype, out, where);
  if (!initial.is_none()) reduction.options.initial = scalar_argument(initial);
  return finish(reduction, ops::reduce(static_cast<Opcode>(op), array, reduction.options));
}

py::object moment(const std::string& which, py::handle source, py::handle axis, bool keepdims, py::handle dtype,
                  py::handle out, py::handle where, double ddof) {
  Reduction reduction;
  const Array& array = source_array(source);
  fill(reduction, source, axis, keepdims, dtype, out, where);
  const ops::ReduceOptions& options = reduction.options;
  if (which != "count_nonzero" && array.rank() == 0 && !axis.is_none())
    for (int64_t given : dims_from(axis.ptr())) normalized_axis(given, 0);
  if (which == "mean") return finish(reduction, ops::mean(array, options));
  if (which == "count_nonzero") return finish(reduction, ops::count_nonzero(array, options));
  return finish(reduction, ops::variance(array, options, ddof, which == "std"));
}

py::object arg_extreme(bool maximum, py::handle source, py::handle axis, bool keepdims, py::handle out) {
  const Array& array = source_array(source);
  std::optional<int> along;
  if (!axis.is_none()) {
    const int along_axis = normalized_axis(dims_from(axis.ptr())[0], std::max(array.rank(), 1));
    if (array.rank() > 0) along = along_axis;  // NumPy takes a 0-d array for one of one element
  }
  Reduction reduction;
  const Array* to = nullptr;
  if (!out.is_none()) {
    reduction.out = out.ptr();
    to = &source_array(out);
  }
  return finish(reduction, ops::arg_extreme(maximum, array, along, keepdims, to));
}

// None where NumPy has to do it. The axis as NumPy takes it.
py::object accumulate(int op, py::handle source, int64_t axis, py::handle dtype, py::handle out) {
  const Array& array = source_array(source);
  const Array* to = out.is_none() ? nullptr : &source_array(out);
  const std::optional<DType> type = numeric_dtype(dtype.ptr());
  if (!ops::scannable(static_cast<Opcode>(op), array, type, to)) return py::none();
  Array result = ops::accumulate(static_cast<Opcode>(op), array, normalized_axis(axis, array.rank()), type, to);
  after_operation();
  if (to) return py::reinterpret_borrow<py::object>(out);
  return own(new_result(std::move(result), subclass_of(source.ptr())));
}

// ---- Search
py::object search_sorted(py::handle sorted, py::handle keys, bool right) {
  Array result = ops::search_sorted(source_array(sorted), source_array(keys), right);
  after_operation();
  return own(new_result(std::move(result)));
}

// binning: "index", "uniform" or "edges".
py::object count_bins(py::handle values, const std::string& binning, int64_t bins, py::handle edges, double width,
                      py::handle weights) {
  const ops::Binning how = binning == "index"     ? ops::Binning::kIndex
                           : binning == "uniform" ? ops::Binning::kUniform
                                                  : ops::Binning::kEdges;
  const auto optional = [](py::handle array) { return array.is_none() ? nullptr : &source_array(array); };
  Array result = ops::count_bins(source_array(values), how, bins, optional(edges), width, optional(weights));
  after_operation();
  return own(new_result(std::move(result)));
}

// ---- Others
// `told_as` (FpName): under which of NumPy's names its floating-point conditions are told.
py::object matmul(py::handle a, py::handle b, py::handle out, int told_as) {
  const Array* to = out.is_none() ? nullptr : &source_array(out);
  const session::ToldAs told(static_cast<uint8_t>(told_as));
  Array result = ops::matmul(as_array(a.ptr()), as_array(b.ptr()), to);
  after_operation();
  if (to) return py::reinterpret_borrow<py::object>(out);
  return own(new_result(std::move(result)));
}

py::object where(py::handle condition, py::handle a, py::handle b) {
  static const Opcode op = ops::find_op("where");
  Operand operands[3];
  ops::Input inputs[3];
  PyObject* objects[] = {condition.ptr(), a.ptr(), b.ptr()};
  for (int k = 0; k < 3; ++k) {
    if (!op || convert_arraylike(objects[k], operands[k]) != Convert::kOk) return py::none();
    inputs[k] = operands[k].input;
  }
  Array result = ops::elementwise(op, inputs);
  after_operation();
  return own(new_array(std::move(result)));
}

// dst[mask] = value, the value broadcast and of dst's dtype. False where an operand is not for tiles.
bool where_into(py::handle dst, py::handle mask, py::handle value) {
  static const Opcode op = ops::find_op("where");
  const Array& to = source_array(dst);
  Operand condition, source;
  if (!op || !is_stored(value.ptr())) return false;
  static const ops::Input kTrue{ops::Input::Kind::kWeakBool, nullptr, Scalar::of<bool>(DType::kBool, true)};
  const ops::Input* chosen = where_argument(mask.ptr(), condition);
  ops::check_mask(chosen ? *chosen : kTrue);
  const ops::Input inputs[] = {chosen ? *chosen : kTrue, ops::Input::of(cast_array(value.ptr())->array), ops::Input::of(to)};
  ops::ElementwiseOptions options;
  options.out = &to;
  ops::elementwise(op, inputs, options);
  after_operation();
  return true;
}

// ---- Selection
py::object extract(py::handle values, py::handle mask) {
  Array result = ops::extract(source_array(values), source_array(mask));
  return own(new_array(std::move(result), cast_array(values.ptr())->descr, subclass_of(values.ptr())));
}
py::object flat_nonzero(py::handle mask) { return own(new_array(ops::flat_nonzero(source_array(mask)))); }
void assign_chosen(py::handle dst, py::handle mask, py::handle values) {
  ops::assign_chosen(source_array(dst), source_array(mask), source_array(values));
  after_operation();
}
py::object gather_rows(py::handle source, py::handle positions) {
  Array result = ops::gather_rows(source_array(source), source_array(positions));
  return own(new_array(std::move(result), cast_array(source.ptr())->descr, subclass_of(source.ptr())));
}
void scatter_rows(py::handle dst, py::handle positions, py::handle values) {
  ops::scatter_rows(source_array(dst), source_array(positions), source_array(values));
  after_operation();
}
void combine_rows(int op, py::handle dst, py::handle positions, py::handle values) {
  ops::combine_rows(static_cast<Opcode>(op), source_array(dst), source_array(positions),
                    values.is_none() ? nullptr : &source_array(values));
  after_operation();
}

py::object sort(py::handle source, int axis, bool positions) {
  const Array& array = source_array(source);
  Array result = positions ? ops::argsort(array, axis) : ops::sort(array, axis);
  return own(new_array(std::move(result), positions ? nullptr : cast_array(source.ptr())->descr, subclass_of(source.ptr())));
}

bool reducible(int op) { return op_info(static_cast<Opcode>(op)).reducible; }

void assign(py::handle dst, py::handle value) {
  ArrayObject* to = cast_array(dst.ptr());
  assign_value(to->array, to->descr, value.ptr());
  after_operation();
}

py::object as_scalar(py::handle array) {
  ArrayObject* from = cast_array(array.ptr());
  return own(new_scalar(Array(from->array), from->descr));
}

// A lazy scalar as a 0-d array of its own; other arrays as they are.
py::object as_ndarray(py::handle object) {
  if (!is_exact_scalar(object.ptr())) return py::reinterpret_borrow<py::object>(object);
  return own(new_array(source_of(object.ptr()), cast_array(object.ptr())->descr));
}

py::object ufunc_new(py::handle numpy_ufunc, py::handle rows) { return own(make_ufunc(numpy_ufunc.ptr(), rows.ptr())); }

}  // namespace

void add_functions(py::module_& m) {
  m.def("empty", empty);
  m.def("full", full);
  m.def("arange", arange);
  m.def("linspace", linspace);
  m.def("eye", eye);
  m.def("from_numpy", from_numpy_object);
  m.def("hold_numpy", hold_numpy);
  m.def("tiles_hold", tiles_hold);
  m.def("reduce", reduce);
  m.def("moment", moment);
  m.def("arg_extreme", arg_extreme);
  m.def("accumulate", accumulate);
  m.def("search_sorted", search_sorted);
  m.def("count_bins", count_bins);
  m.def("matmul", matmul);
  py::dict names;
  static constexpr std::pair<const char*, int> kProducts[] = {{"matmul", kFpMatmul}, {"dot", kFpDot},
                                                              {"vecdot", kFpVecdot}, {"matvec", kFpMatvec},
                                                              {"vecmat", kFpVecmat}, {"vdot", kFpSilent}};
  for (const auto& [name, number] : kProducts) names[name] = number;
  m.attr("products") = names;
  m.def("where", where);
  m.def("where_into", where_into);
  m.def("same_store", [](py::handle a, py::handle b) { return source_array(a).store.get() == source_array(b).store.get(); });
  m.def("extract", extract);
  m.def("flat_nonzero", flat_nonzero);
  m.def("assign_chosen", assign_chosen);
  m.def("gather_rows", gather_rows);
  m.def("scatter_rows", scatter_rows);
  m.def("combine_rows", combine_rows);
  m.def("sort", sort);
  m.def("reducible", reducible);
  m.def("assign", assign);
  m.def("as_scalar", as_scalar);
  m.def("as_ndarray", as_ndarray);
  m.def("ufunc_new", ufunc_new);
}

}  // namespace tilewise::bind
