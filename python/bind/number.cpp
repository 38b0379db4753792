#include "python/bind/number.h"

#include "ops/matmul.h"
#include "ops/op_table.h"
#include "python/bind/dtypes.h"
#include "python/bind/fp.h"
#include "python/bind/host.h"
#include "python/bind/index.h"
#include "python/bind/inputs.h"

namespace tilewise::bind {
namespace {

Operator add{"add"}, subtract{"subtract"}, multiply{"multiply"}, divide{"divide"}, floor_divide{"floor_divide"};
Operator divmod_quotient{"divmod_quotient"}, divmod_remainder{"divmod_remainder"}, divmod_{"divmod"};
Operator remainder_{"remainder"}, power{"power"}, square{"square"}, sqrt_{"sqrt"}, reciprocal{"reciprocal"};
Operator left_shift{"left_shift"}, right_shift{"right_shift"}, and_{"bitwise_and"}, or_{"bitwise_or"}, xor_{"bitwise_xor"};
Operator negative{"negative"}, positive{"positive"}, absolute{"absolute"}, invert{"invert"};
Operator comparisons[] = {{"less"}, {"less_equal"}, {"equal"}, {"not_equal"}, {"greater"}, {"greater_equal"}};

template <const Operator* op>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return binary(*op, a, b);
}
template <const Operator* op>
PyObject* in_place_slot(PyObject* a, PyObject* b) {
  return binary(*op, a, b, true);
}
template <const Operator* op>
PyObject* unary_slot(PyObject* a) {
  return unary(*op, a);
}

PyObject* slow_binary(const Operator& op, PyObject* a, PyObject* b, bool in_place) {
  Ref name = Ref::checked(PyUnicode_FromString(op.ufunc));
  return slow("binary", name.get(), a, b, in_place ? Py_True : Py_False).release();
}

// NumPy's shortcuts for x ** 2 and the like on inexact arrays: the row to use, or null.
const Operator* power_shortcut(const Operand& base, const Operand& exponent) {
  using Kind = ops::Input::Kind;
  if (base.input.kind != Kind::kArray) return nullptr;
  double value;
  if (exponent.input.kind == Kind::kWeakFloat) {
    value = exponent.input.value.as<double>();
  } else if (exponent.input.kind == Kind::kWeakInt && exponent.input.value.dtype == DType::kInt64) {
    value = static_cast<double>(exponent.input.value.as<int64_t>());
  } else {
    return nullptr;
  }
  const DType dtype = base.input.array->dtype();
  if (is_bool(dtype) || is_integer(dtype)) return value == 2 && exponent.input.kind == Kind::kWeakInt ? &square : nullptr;
  if (!is_float(dtype) && !is_complex(dtype)) return nullptr;
  if (value == 2) return &square;
  if (value == 0.5) return &sqrt_;
  if (value == 1) return &positive;
  if (value == -1) return &reciprocal;
  return nullptr;
}

PyObject* power_of(PyObject* a, PyObject* b, PyObject* modulus, bool in_place) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject* {
    Operand base, exponent;
    if (is_exact_array(a) && convert_operand(a, base) == Convert::kOk && convert_operand(b, exponent) == Convert::kOk) {
      const Operator* quick = power_shortcut(base, exponent);
      if (quick && quick->op) {
        const ops::Input inputs[] = {base.input};
        ops::ElementwiseOptions options;
        if (in_place) options.out = &cast_array(a)->array;
        Array result = ops::elementwise(quick->op, inputs, options);
        after_operation();
        return in_place ? Py_NewRef(a) : new_result(std::move(result));
      }
    }
    return binary(power, a, b, in_place);
  });
}
PyObject* power_slot(PyObject* a, PyObject* b, PyObject* modulus) { return power_of(a, b, modulus, false); }
PyObject* in_place_power_slot(PyObject* a, PyObject* b, PyObject* modulus) { return power_of(a, b, modulus, true); }

PyObject* divmod_slot(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Operand x, y;
    if (convert_operand(a, x) != Convert::kOk || convert_operand(b, y) != Convert::kOk || x.subclass || y.subclass) {
      return slow_binary(divmod_, a, b, false);
    }
    Ref quotient = Ref::checked(binary(divmod_quotient, a, b));
    Ref rest = Ref::checked(binary(divmod_remainder, a, b));
    return PyTuple_Pack(2, quotient.get(), rest.get());
  });
}

PyObject* matmul_slot(PyObject* a, PyObject* b) {
  const auto number = [](PyObject* x) { return is_exact_scalar(x) || is_numpy_scalar(x) || PyNumber_Check(x); };
  if (!is_array(a) && !is_array(b) && !is_numpy_array(a) && !is_numpy_array(b) && number(a) && number(b)) {
    Py_RETURN_NOTIMPLEMENTED;  // numbers alone have no product of this kind
  }
  return guarded([&]() -> PyObject* {
    Operand x, y;
    if (convert_operand(a, x) != Convert::kOk || convert_operand(b, y) != Convert::kOk || !x.input.array || !y.input.array ||
        x.subclass || y.subclass) {
      Ref name = Ref::checked(PyUnicode_FromString("matmul"));
      return slow("binary", name.get(), a, b, Py_False).release();
    }
    Array result = ops::matmul(*x.input.array, *y.input.array);
    after_operation();
    return new_result(std::move(result));
  });
}
PyObject* in_place_matmul_slot(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Ref name = Ref::checked(PyUnicode_FromString("matmul"));
    return slow("binary", name.get(), a, b, Py_True).release();
  });
}

// The value of a one-element array without axes, as a NumPy scalar; TypeError as NumPy's for others.
Ref only_value(PyObject* self) {
  ArrayObject* object = cast_array(self);
  if (is_exact_scalar(self)) return Ref::borrow(scalar_value(object));
  if (object->host) return Ref::checked(PyObject_CallMethod(object->host, "__getitem__", "(())"));
  if (object->array.rank()) {
    PyErr_SetString(PyExc_TypeError, "only 0-dimensional arrays can be converted to Python scalars");
    throw PythonError();
  }
  if (object->array.dtype() == DType::kVoid) {
    return Ref::checked(PyObject_CallMethod(to_numpy(object).get(), "__getitem__", "(())"));
  }
  return Ref::steal(new_scalar(Array(object->array), object->descr));
}
// The same with the lazy scalar resolved.
Ref resolved_value(PyObject* self) {
  Ref value = only_value(self);
  return is_exact_scalar(value.get()) ? Ref::borrow(scalar_value(cast_array(value.get()))) : value;
}

PyObject* to_float(PyObject* self) {
  return guarded([&] { return PyNumber_Float(resolved_value(self).get()); });
}
PyObject* to_int(PyObject* self) {
  return guarded([&] { return PyNumber_Long(resolved_value(self).get()); });
}
PyObject* to_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    ArrayObject* object = cast_array(self);
    if (is_host_held(self)) return PyNumber_Index(object->host);
    if (object->array.rank() || !is_integer(object->array.dtype())) {
      if (is_exact_scalar(self)) {
        PyErr_Format(PyExc_TypeError, "'%s' object cannot be interpreted as an integer", "numpy.generic");
      } else {
        PyErr_SetString(PyExc_TypeError, "only integer scalar arrays can be converted to a scalar index");
      }
      return nullptr;
    }
    return PyNumber_Index(resolved_value(self).get());
  });
}

int to_bool(PyObject* self) {
  return guarded([&]() -> int {
    ArrayObject* object = cast_array(self);
    if (is_host_held(self)) return PyObject_IsTrue(object->host);
    const int64_t count = is_exact_scalar(self) ? 1 : object->array.view.count();
    if (count == 1) {
      if (is_exact_scalar(self)) return PyObject_IsTrue(scalar_value(object));
      return PyObject_IsTrue(to_numpy(object).get());
    }
    PyErr_SetString(PyExc_ValueError,
                    count ? "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
                          : "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is "
                            "not empty.");
    return -1;
  });
}

template <class F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void init_operators() {
  for (Operator* op : {&add, &subtract, &multiply, &divide, &floor_divide, &divmod_quotient, &divmod_remainder, &remainder_, &power, &square, &sqrt_, &reciprocal,
                       &left_shift, &right_shift, &and_, &or_, &xor_, &negative, &positive, &absolute, &invert}) {
    op->op = ops::find_op(op->ufunc);
  }
  for (Operator& op : comparisons) op.op = ops::find_op(op.ufunc);
}

bool overrides_ufunc(PyObject* object) {
  Ref own = Ref::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__array_ufunc__"));
  Ref base = Ref::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(ndarray_type), "__array_ufunc__"));
  if (!own || !base) PyErr_Clear();
  return own.get() != base.get();
}

PyObject* binary(const Operator& op, PyObject* a, PyObject* b, bool in_place) {
  return guarded([&]() -> PyObject* {
    ops::Input inputs[2];
    Operand x(inputs[0]), y(inputs[1]);
    if (!op.op || convert_operand(a, x) != Convert::kOk || convert_operand(b, y) != Convert::kOk ||
        (x.subclass && overrides_ufunc(a)) || (y.subclass && overrides_ufunc(b))) {
      return slow_binary(op, a, b, in_place);
    }
    if (in_place) {
      check_writable(cast_array(a)->array.view, "output array");
      ops::ElementwiseOptions options;
      options.out = &cast_array(a)->array;
      ops::elementwise(op.op, inputs, options);
      after_operation();
      return Py_NewRef(a);
    }
    NewResult result;
    ops::elementwise_into(result.array(), op.op, inputs);
    after_operation();
    return result.finish(x.subclass ? a : y.subclass ? b : nullptr);
  });
}

PyObject* unary(const Operator& op, PyObject* a) {
  return guarded([&]() -> PyObject* {
    Operand x;
    if (!op.op || convert_operand(a, x) != Convert::kOk || (x.subclass && overrides_ufunc(a))) {
      Ref name = Ref::checked(PyUnicode_FromString(op.ufunc));
      return slow("unary", name.get(), a).release();
    }
    const ops::Input inputs[] = {x.input};
    NewResult result;
    ops::elementwise_into(result.array(), op.op, inputs);
    after_operation();
    return result.finish(x.subclass ? a : nullptr);
  });
}

PyObject* compare(PyObject* self, PyObject* other, int op) {
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  return binary(comparisons[op], self, other);
}

PyType_Slot number_slots[] = {
    {Py_nb_add, slot(binary_slot<&add>)},
    {Py_nb_subtract, slot(binary_slot<&subtract>)},
    {Py_nb_multiply, slot(binary_slot<&multiply>)},
    {Py_nb_true_divide, slot(binary_slot<&divide>)},
    {Py_nb_floor_divide, slot(binary_slot<&floor_divide>)},
    {Py_nb_remainder, slot(binary_slot<&remainder_>)},
    {Py_nb_divmod, slot(divmod_slot)},
    {Py_nb_power, slot(power_slot)},
    {Py_nb_lshift, slot(binary_slot<&left_shift>)},
    {Py_nb_rshift, slot(binary_slot<&right_shift>)},
    {Py_nb_and, slot(binary_slot<&and_>)},
    {Py_nb_or, slot(binary_slot<&or_>)},
    {Py_nb_xor, slot(binary_slot<&xor_>)},
    {Py_nb_matrix_multiply, slot(matmul_slot)},
    {Py_nb_negative, slot(unary_slot<&negative>)},
    {Py_nb_positive, slot(unary_slot<&positive>)},
    {Py_nb_absolute, slot(unary_slot<&absolute>)},
    {Py_nb_invert, slot(unary_slot<&invert>)},
    {Py_nb_float, slot(to_float)},
    {Py_nb_int, slot(to_int)},
    {Py_nb_index, slot(to_index)},
    {Py_nb_bool, slot(to_bool)},
    {0, nullptr},
};

PyType_Slot in_place_slots[] = {
    {Py_nb_inplace_add, slot(in_place_slot<&add>)},
    {Py_nb_inplace_subtract, slot(in_place_slot<&subtract>)},
    {Py_nb_inplace_multiply, slot(in_place_slot<&multiply>)},
    {Py_nb_inplace_true_divide, slot(in_place_slot<&divide>)},
    {Py_nb_inplace_floor_divide, slot(in_place_slot<&floor_divide>)},
    {Py_nb_inplace_remainder, slot(in_place_slot<&remainder_>)},
    {Py_nb_inplace_power, slot(in_place_power_slot)},
    {Py_nb_inplace_lshift, slot(in_place_slot<&left_shift>)},
    {Py_nb_inplace_rshift, slot(in_place_slot<&right_shift>)},
    {Py_nb_inplace_and, slot(in_place_slot<&and_>)},
    {Py_nb_inplace_or, slot(in_place_slot<&or_>)},
    {Py_nb_inplace_xor, slot(in_place_slot<&xor_>)},
    {Py_nb_inplace_matrix_multiply, slot(in_place_matmul_slot)},
    {0, nullptr},
};

}  // namespace tilewise::bind
