#include "python/bind/fp.h"

#include "runtime/launch.h"
#include "runtime/session.h"

namespace tilewise::bind {

bool fp_raises = false;

namespace {

PyObject* errstate_variable = nullptr;  // NumPy's context variable
PyObject* last_state = nullptr;         // the value that `bits` belongs to
uint8_t bits = 0;

// numpy.geterr() as bits; asked only when the context variable has another value than last time.
void read_errstate() {
  Ref module = Ref::checked(PyImport_ImportModule("numpy"));
  Ref modes = Ref::checked(PyObject_CallMethod(module.get(), "geterr", nullptr));
  static constexpr std::pair<const char*, uint8_t> kKinds[] = {
      {"divide", kFpDivide}, {"over", kFpOverflow}, {"under", kFpUnderflow}, {"invalid", kFpInvalid}};
  bits = 0;
  fp_raises = false;
  for (const auto& [name, bit] : kKinds) {
    PyObject* mode = PyDict_GetItemString(modes.get(), name);
    if (!mode || !PyUnicode_Check(mode)) continue;
    if (PyUnicode_CompareWithASCIIString(mode, "ignore")) bits |= bit;
    if (!PyUnicode_CompareWithASCIIString(mode, "raise") || !PyUnicode_CompareWithASCIIString(mode, "call")) fp_raises = true;
  }
}

}  // namespace

void init_fp() {
  Ref module = Ref::checked(PyImport_ImportModule("numpy._core.umath"));
  errstate_variable = PyObject_GetAttrString(module.get(), "_extobj_contextvar");
  if (!errstate_variable) PyErr_Clear();
}

uint8_t watched() {
  PyObject* state = nullptr;
  if (!errstate_variable || PyContextVar_Get(errstate_variable, nullptr, &state) < 0) throw PythonError();
  if (state == last_state) {
    Py_XDECREF(state);
    return bits;
  }
  Py_XSETREF(last_state, state);
  read_errstate();
  return bits;
}

void deliver_fp() {
  const auto found = session::take_fp_warnings();
  if (found.empty()) return;
  Ref list = Ref::checked(PyList_New(0));
  for (const auto& warning : found) {
    auto* code = reinterpret_cast<PyCodeObject*>(const_cast<void*>(warning.line.code));
    PyObject* file = code ? code->co_filename : Py_None;
    const int line = code ? PyCode_Addr2Line(code, warning.line.line) : 0;
    Ref item = Ref::checked(Py_BuildValue("(siOi)", warning.operation.c_str(), warning.kinds, file, line));
    check(PyList_Append(list.get(), item.get()));
  }
  slow("fp_warnings", list.get());
}

void settle_fp() {
  session::synchronize();
  deliver_fp();
}

}  // namespace tilewise::bind
