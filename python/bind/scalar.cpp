// What only scalars do: text, hash and the index (), each by the NumPy scalar of the value, waited for once.
#include "python/bind/host.h"
#include "python/bind/object.h"

namespace tilewise::bind {
namespace {

PyObject* text(PyObject* self) {
  return guarded([&] { return PyObject_Str(scalar_value(cast_array(self))); });
}

Py_hash_t hash(PyObject* self) {
  return guarded([&]() -> Py_hash_t { return PyObject_Hash(scalar_value(cast_array(self))); });
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (PyTuple_Check(key) && !PyTuple_GET_SIZE(key)) return Py_NewRef(self);
    return slow("scalar_item", self, key).release();
  });
}

}  // namespace

PyObject* scalar_repr(PyObject* self) {
  return guarded([&] { return PyObject_Repr(scalar_value(cast_array(self))); });
}

PyType_Slot scalar_slots[] = {
    {Py_tp_str, reinterpret_cast<void*>(text)},
    {Py_tp_hash, reinterpret_cast<void*>(hash)},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {0, nullptr},
};

}  // namespace tilewise::bind
