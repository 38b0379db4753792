#include "python/bind/ufunc.h"

#include <structmember.h>

#include <string>

#include "ops/copy.h"
#include "ops/op_table.h"
#include "python/bind/dtypes.h"
#include "python/bind/fp.h"
#include "python/bind/host.h"
#include "python/bind/inputs.h"
#include "python/bind/number.h"

namespace tilewise::bind {
namespace {

constexpr int kMaxInputs = 3;
constexpr int kMaxOutputs = 2;

struct UfuncObject {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* numpy;  // NumPy's ufunc of the same name: its attributes are ours
  int inputs, outputs;
  Opcode ops[kMaxOutputs];
};

PyTypeObject* ufunc_type = nullptr;

UfuncObject* cast_ufunc(PyObject* object) { return reinterpret_cast<UfuncObject*>(object); }

PyObject* call_slow(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  Ref tuple = Ref::checked(PyTuple_New(count));
  for (Py_ssize_t k = 0; k < count; ++k) PyTuple_SET_ITEM(tuple.get(), k, Py_NewRef(args[k]));
  Ref keywords = Ref::checked(PyDict_New());
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k) {
    check(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, k), args[count + k]));
  }
  return slow("ufunc_call", self, tuple.get(), keywords.get()).release();
}

// What the keywords say. `plain` is false where NumPy or tilewise._slow has to look at them.
struct Arguments {
  ops::ElementwiseOptions options;
  Operand where;
  PyObject* out[kMaxOutputs] = {};
  bool any_out = false;
  bool plain = true;
};

void take_out(Arguments& arguments, int position, PyObject* out) {
  if (out == Py_None) return;
  const bool ours = is_array(out) && is_stored(out) && cast_array(out)->array.dtype() != DType::kVoid;
  arguments.plain = arguments.plain && ours && position < kMaxOutputs;
  if (!arguments.plain) return;
  arguments.out[position] = out;
  arguments.any_out = true;
}

std::optional<ops::Casting> casting_of(PyObject* text) {
  static constexpr std::pair<const char*, ops::Casting> kNames[] = {{"no", ops::Casting::kNo},
                                                                    {"equiv", ops::Casting::kEquiv},
                                                                    {"safe", ops::Casting::kSafe},
                                                                    {"same_kind", ops::Casting::kSameKind},
                                                                    {"unsafe", ops::Casting::kUnsafe}};
  for (const auto& [name, casting] : kNames) {
    if (PyUnicode_Check(text) && !PyUnicode_CompareWithASCIIString(text, name)) return casting;
  }
  return std::nullopt;
}

void take_keyword(Arguments& arguments, const UfuncObject* ufunc, PyObject* name, PyObject* value) {
  const auto is = [name](const char* text) { return !PyUnicode_CompareWithASCIIString(name, text); };
  if (is("out")) {
    if (!PyTuple_Check(value)) {
      arguments.plain = arguments.plain && (ufunc->outputs == 1 || value == Py_None);
      return take_out(arguments, 0, value);
    }
    arguments.plain = arguments.plain && PyTuple_GET_SIZE(value) == ufunc->outputs;
    for (Py_ssize_t k = 0; arguments.plain && k < PyTuple_GET_SIZE(value); ++k) {
      take_out(arguments, static_cast<int>(k), PyTuple_GET_ITEM(value, k));
    }
  } else if (is("where")) {
    arguments.options.where = where_argument(value, arguments.where);
  } else if (is("casting")) {
    const auto casting = casting_of(value);
    arguments.plain = arguments.plain && casting;
    if (casting) arguments.options.casting = *casting;
  } else if (is("dtype")) {
    if (value == Py_None) return;
    auto format = format_of(descr_from(value).get());
    arguments.plain = arguments.plain && format && format->dtype != DType::kVoid;
    if (arguments.plain) arguments.options.dtype = format->dtype;
  } else {
    arguments.plain = arguments.plain && (is("order") || is("subok"));
  }
}

// Converts one operand; false where the slow path decides.
bool take_input(PyObject* object, Operand& operand) {
  const Convert how = convert_operand(object, operand);
  if (how == Convert::kOk) return !operand.subclass || !overrides_ufunc(object);
  if (how != Convert::kForeign || !(PyList_Check(object) || PyTuple_Check(object))) return false;
  return convert_arraylike(object, operand) == Convert::kOk;
}

PyObject* finish(Array&& result, PyObject* out, PyObject* like) {
  after_operation();
  return out ? Py_NewRef(out) : new_result(std::move(result), like);
}

PyObject* several_outputs(UfuncObject* ufunc, std::span<const ops::Input> inputs, Arguments& arguments, PyObject* like) {
  Array results[kMaxOutputs];
  for (int k = 0; k < ufunc->outputs; ++k) results[k] = ops::elementwise(ufunc->ops[k], inputs, arguments.options);
  Ref tuple = Ref::checked(PyTuple_New(ufunc->outputs));
  for (int k = 0; k < ufunc->outputs; ++k) {
    if (PyObject* out = arguments.out[k]) {
      ops::assign(cast_array(out)->array, ops::Input::of(results[k]), arguments.options.casting);
    }
    PyTuple_SET_ITEM(tuple.get(), k, Ref::checked(finish(std::move(results[k]), arguments.out[k], like)).release());
  }
  return tuple.release();
}

PyObject* ufunc_call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  return guarded([&]() -> PyObject* {
    UfuncObject* ufunc = cast_ufunc(self);
    const Py_ssize_t count = PyVectorcall_NARGS(flagged);
    if (count < ufunc->inputs || count > ufunc->inputs + ufunc->outputs) return call_slow(self, args, count, names);
    Operand operands[kMaxInputs];
    ops::Input inputs[kMaxInputs];
    PyObject* like = nullptr;
    for (int k = 0; k < ufunc->inputs; ++k) {
      if (!take_input(args[k], operands[k])) return call_slow(self, args, count, names);
      if (operands[k].subclass && !like) like = args[k];
      inputs[k] = operands[k].input;
    }
    Arguments arguments;
    for (Py_ssize_t k = ufunc->inputs; k < count; ++k) take_out(arguments, static_cast<int>(k - ufunc->inputs), args[k]);
    for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k) {
      take_keyword(arguments, ufunc, PyTuple_GET_ITEM(names, k), args[count + k]);
    }
    const std::span<const ops::Input> given(inputs, ufunc->inputs);
    if (!arguments.plain || (arguments.options.where && ufunc->outputs > 1)) return call_slow(self, args, count, names);
    if (ufunc->outputs > 1) return several_outputs(ufunc, given, arguments, like);
    if (arguments.any_out) arguments.options.out = &cast_array(arguments.out[0])->array;
    return finish(ops::elementwise(ufunc->ops[0], given, arguments.options), arguments.out[0], like);
  });
}

// Without operands that need anything unusual, most calls have no keywords: nothing but the inputs is looked at.
PyObject* ufunc_vectorcall(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  UfuncObject* ufunc = cast_ufunc(self);
  if (names || PyVectorcall_NARGS(flagged) != ufunc->inputs || ufunc->outputs != 1 || ufunc->inputs > 2) {
    return ufunc_call(self, args, flagged, names);
  }
  return guarded([&]() -> PyObject* {
    Operand x, y;
    if (!take_input(args[0], x) || (ufunc->inputs == 2 && !take_input(args[1], y))) {
      return call_slow(self, args, ufunc->inputs, nullptr);
    }
    const ops::Input inputs[] = {x.input, y.input};
    return finish(ops::elementwise(ufunc->ops[0], std::span(inputs, ufunc->inputs)), nullptr,
                  x.subclass ? args[0] : y.subclass ? args[1] : nullptr);
  });
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return PyObject_GetAttr(cast_ufunc(self)->numpy, name);
}

PyObject* doc(PyObject* self, void*) { return PyObject_GetAttrString(cast_ufunc(self)->numpy, "__doc__"); }

PyObject* repr(PyObject* self) { return PyObject_Repr(cast_ufunc(self)->numpy); }

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(cast_ufunc(self)->numpy);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(UfuncObject, call), READONLY, nullptr},
    {"_numpy", T_OBJECT, offsetof(UfuncObject, numpy), READONLY, nullptr},
    {"_op", T_UBYTE, offsetof(UfuncObject, ops), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"__doc__", doc, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void init_ufunc_type(PyObject* module) {
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
      {Py_tp_members, members},
      {Py_tp_getset, attributes},
      {Py_tp_repr, reinterpret_cast<void*>(repr)},
      {0, nullptr},
  };
  static PyType_Spec spec = {"tilewise.ufunc", sizeof(UfuncObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* type = Ref::checked(PyType_FromSpec(&spec)).release();
  ufunc_type = reinterpret_cast<PyTypeObject*>(type);
  check(PyModule_AddObjectRef(module, "ufunc", type));
}

PyObject* make_ufunc(PyObject* numpy_ufunc, PyObject* row_names) {
  const Py_ssize_t outputs = PyTuple_GET_SIZE(row_names);
  if (outputs > kMaxOutputs) return Py_NewRef(Py_None);
  Opcode ops[kMaxOutputs] = {};
  for (Py_ssize_t k = 0; k < outputs; ++k) {
    const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(row_names, k));
    if (!name) throw PythonError();
    ops[k] = ops::find_op(name);
    if (!ops[k]) return Py_NewRef(Py_None);
  }
  UfuncObject* ufunc = PyObject_New(UfuncObject, ufunc_type);
  if (!ufunc) throw PythonError();
  ufunc->call = ufunc_vectorcall;
  ufunc->numpy = Py_NewRef(numpy_ufunc);
  Ref inputs = Ref::checked(PyObject_GetAttrString(numpy_ufunc, "nin"));
  ufunc->inputs = static_cast<int>(PyLong_AsLong(inputs.get()));
  ufunc->outputs = static_cast<int>(outputs);
  std::copy(ops, ops + kMaxOutputs, ufunc->ops);
  return reinterpret_cast<PyObject*>(ufunc);
}

}  // namespace tilewise::bind
