#include "python/bind/index.h"

#include "ops/copy.h"
#include "ops/type_rules.h"
#include "python/bind/dtypes.h"
#include "python/bind/fp.h"
#include "python/bind/host.h"
#include "python/bind/inputs.h"

namespace tilewise::bind {
namespace {

enum class Item : uint8_t { kInteger, kArrayInteger, kSlice, kNewAxis, kEllipsis, kOther };

// 0-d integer arrays count as integers (NumPy then gives a copy, no view); bools never do.
Item kind_of(PyObject* item) {
  if (PyLong_CheckExact(item)) return Item::kInteger;
  if (PySlice_Check(item)) return Item::kSlice;
  if (item == Py_None) return Item::kNewAxis;
  if (item == Py_Ellipsis) return Item::kEllipsis;
  if (PyBool_Check(item)) return Item::kOther;
  if (is_stored(item)) {
    const Array& array = cast_array(item)->array;
    if (array.rank() || !is_integer(array.dtype())) return Item::kOther;
    return is_exact_scalar(item) ? Item::kInteger : Item::kArrayInteger;
  }
  if (is_numpy_array(item)) {
    auto array = Ref::checked(PyObject_GetAttrString(item, "ndim"));
    if (PyLong_AsLong(array.get())) return Item::kOther;
    Ref kind = Ref::checked(PyObject_GetAttrString(Ref::checked(PyObject_GetAttrString(item, "dtype")).get(), "kind"));
    const char* text = PyUnicode_AsUTF8(kind.get());
    return text && (*text == 'i' || *text == 'u') ? Item::kArrayInteger : Item::kOther;
  }
  return PyIndex_Check(item) ? Item::kInteger : Item::kOther;
}

struct Items {
  PyObject* const* data;
  Py_ssize_t count;
};

void check_count(int rank, int used, bool second_ellipsis) {
  if (second_ellipsis) throw Error(ErrorKind::kIndex, "an index can only have a single ellipsis ('...')");
  if (used > rank) {
    throw Error(ErrorKind::kIndex, str("too many indices for array: array is ", rank, "-dimensional, but ", used,
                                       " were indexed"));
  }
}

int64_t position(PyObject* item, int64_t extent, int axis) {
  const Py_ssize_t given = PyNumber_AsSsize_t(item, PyExc_IndexError);
  if (given == -1 && PyErr_Occurred()) throw PythonError();
  const int64_t at = given < 0 ? given + extent : given;
  if (at < 0 || at >= extent) {
    throw Error(ErrorKind::kIndex, str("index ", given, " is out of bounds for axis ", axis, " with size ", extent));
  }
  return at;
}

void take_slice(PyObject* item, const partition::View& view, int axis, partition::View& out) {
  Py_ssize_t start, stop, step;
  check(PySlice_Unpack(item, &start, &stop, &step));
  const Py_ssize_t count = PySlice_AdjustIndices(view.shape[axis], &start, &stop, step);
  if (count) out.offset += start * view.strides[axis];
  out.shape.push_back(count);
  out.strides.push_back(step * view.strides[axis]);
}

void keep_axis(const partition::View& view, int axis, partition::View& out) {
  out.shape.push_back(view.shape[axis]);
  out.strides.push_back(view.strides[axis]);
}

// Strips leading axes of extent 1 that dst lacks, as NumPy's assignment allows.
Array without_leading_ones(const Array& source, int rank) {
  Array result = source;
  while (result.rank() > rank && result.shape()[0] == 1) result.view = partition::squeeze(std::move(result.view), 0);
  return result;
}

bool same_place(const Array& a, const Array& b) { return a.store.get() == b.store.get() && a.view == b.view; }

void assign_records(const Array& dst, PyObject* descr, PyObject* value) {
  Operand held;
  if (is_stored(value) && cast_array(value)->array.dtype() == DType::kVoid &&
      cast_array(value)->array.view.itemsize == dst.view.itemsize) {
    held.held = cast_array(value)->array;
  } else {
    Ref host = is_array(value) || is_exact_scalar(value) ? to_numpy(cast_array(value)) : Ref::borrow(value);
    held.held = array_from_numpy(numpy_asarray(host.get(), descr).get());
  }
  held.held = without_leading_ones(*held.held, dst.rank());
  ops::assign(dst, ops::Input::of(*held.held));
}

bool is_sequence(PyObject* value) {
  if (is_stored(value)) return cast_array(value)->array.rank() > 0;
  if (!is_numpy_array(value)) return PyList_Check(value) || PyTuple_Check(value);
  Ref rank = Ref::checked(PyObject_GetAttrString(value, "ndim"));
  return PyLong_AsLong(rank.get()) > 0;
}

// Values with a type of their own that NumPy's assignment takes for Python's numbers: scalars, into an array of integers.
bool taken_for_number(const Array& dst, PyObject* value, const ops::Input& input) {
  if (!is_integer(dst.dtype())) return false;
  if (input.kind == ops::Input::Kind::kWeakFloat) return true;
  const bool lazy = is_exact_scalar(value);
  if (!lazy && input.kind != ops::Input::Kind::kScalar) return false;
  const DType from = lazy ? cast_array(value)->array.dtype() : input.value.dtype;
  return !is_complex(from) && !ops::can_cast(from, dst.dtype(), ops::Casting::kSafe);
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    ArrayObject* object = cast_array(self);
    if (object->host || PyUnicode_Check(key)) return slow("get_item", self, key).release();
    auto chosen = select(object->array.view, key);
    if (!chosen) return slow("get_item", self, key).release();
    if (!chosen->element && !chosen->copied) return new_view(object, chosen->view);
    Array part = ops::copy(Array{object->array.store, std::move(chosen->view)});
    return chosen->element ? new_scalar(std::move(part), object->descr)
                           : new_array(std::move(part), object->descr, subclass_of(self));
  });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  return guarded([&]() -> int {
    if (!value) {
      PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
      return -1;
    }
    ArrayObject* object = cast_array(self);
    auto chosen = object->host || PyUnicode_Check(key) ? std::nullopt : select(object->array.view, key);
    if (chosen) {
      check_writable(object->array.view, "assignment destination");
      const bool element = chosen->element && object->array.dtype() != DType::kVoid;
      const Array to{object->array.store, std::move(chosen->view)};
      if (element && is_sequence(value)) {
        Ref target = Ref::steal(new_array(Array(to)));
        slow("assign_element", target.get(), value);
      } else {
        assign_value(to, object->descr, value);
      }
    } else {
      slow("set_item", self, key, value);
    }
    after_operation();
    return 0;
  });
}

PyObject* sequence_item(PyObject* self, Py_ssize_t index) {
  Ref key = Ref::steal(PyLong_FromSsize_t(index));
  return key ? get_item(self, key.get()) : nullptr;
}

int contains(PyObject* self, PyObject* value) {
  return guarded([&]() -> int { return PyObject_IsTrue(slow("contains", self, value).get()); });
}

}  // namespace

std::optional<Selection> select(const partition::View& view, PyObject* key) {
  const bool tuple = PyTuple_Check(key);
  const Items items{tuple ? &PyTuple_GET_ITEM(key, 0) : &key, tuple ? PyTuple_GET_SIZE(key) : 1};
  SmallVec<Item, 8> kinds;
  Selection result;
  int used = 0, ellipses = 0, integers = 0;
  for (Py_ssize_t i = 0; i < items.count; ++i) {
    const Item kind = kind_of(items.data[i]);
    if (kind == Item::kOther) return std::nullopt;
    const bool integer = kind == Item::kInteger || kind == Item::kArrayInteger;
    used += integer || kind == Item::kSlice;
    integers += integer;
    result.copied |= kind == Item::kArrayInteger;
    ellipses += kind == Item::kEllipsis;
    kinds.push_back(kind);
  }
  const int rank = view.shape.size();
  check_count(rank, used, ellipses > 1);

  partition::View& out = result.view;
  out.offset = view.offset;
  out.dtype = view.dtype;
  out.itemsize = view.itemsize;
  int axis = 0;
  for (int i = 0; i < kinds.size(); ++i) {
    PyObject* item = items.data[i];
    switch (kinds[i]) {
      case Item::kInteger:
      case Item::kArrayInteger: out.offset += position(item, view.shape[axis], axis) * view.strides[axis], ++axis; break;
      case Item::kSlice: take_slice(item, view, axis++, out); break;
      case Item::kNewAxis: out.shape.push_back(1), out.strides.push_back(0); break;
      case Item::kEllipsis:
        for (int skip = rank - used; skip > 0; --skip) keep_axis(view, axis++, out);
        break;
      case Item::kOther: break;
    }
  }
  while (axis < rank) keep_axis(view, axis++, out);
  if (out.shape.size() > 64) {
    throw Error(ErrorKind::kIndex, str("number of dimensions must be within [0, 64], indexing result would have ", out.shape.size()));
  }
  result.element = integers == rank && !ellipses && out.shape.empty();
  return result;
}

void check_writable(const partition::View& view, const char* what) {
  for (int k = 0; k < view.shape.size(); ++k) {
    if (!view.strides[k] && view.shape[k] > 1) throw Error(ErrorKind::kValue, str(what, " is read-only"));
  }
}

void assign_value(const Array& dst, PyObject* descr, PyObject* value) {
  check_writable(dst.view, "assignment destination");
  if (dst.dtype() == DType::kVoid) return assign_records(dst, descr, value);
  Operand operand;
  const bool sequence = PyList_Check(value) || PyTuple_Check(value);  // each item is converted to the type of dst
  Ref converted = sequence ? numpy_asarray(value, descr_of(dst.dtype())) : Ref::borrow(value);
  const Convert how = convert_arraylike(converted.get(), operand);
  using Kind = ops::Input::Kind;
  const Kind kind = operand.input.kind;
  if (how == Convert::kOk && taken_for_number(dst, value, operand.input)) {
    // Raises for NaN and infinity, as NumPy does, and then for what does not fit: a lazy scalar is waited for.
    Ref integer = Ref::checked(PyNumber_Long(value));
    return assign_value(dst, descr, integer.get());
  }
  const bool odd = kind == Kind::kWeakComplex && !is_complex(dst.dtype());
  const bool loses = (kind == Kind::kArray || kind == Kind::kScalar) && how == Convert::kOk && !is_complex(dst.dtype()) &&
                     is_complex(kind == Kind::kArray ? operand.input.array->dtype() : operand.input.value.dtype);
  if (how != Convert::kOk || odd) {
    Ref target = Ref::steal(new_array(Array(dst)));
    slow("assign_odd", target.get(), value);
    return;
  }
  if (loses) slow("warn_complex");
  if (kind != Kind::kArray) return ops::assign(dst, operand.input);
  if (same_place(dst, *operand.input.array)) return;  // the end of `a[i:j] += b`
  const Array source = without_leading_ones(*operand.input.array, dst.rank());
  ops::assign(dst, ops::Input::of(source));
}

PyType_Slot index_slots[] = {
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
    {Py_sq_item, reinterpret_cast<void*>(sequence_item)},
    {Py_sq_contains, reinterpret_cast<void*>(contains)},
    {0, nullptr},
};

}  // namespace tilewise::bind
