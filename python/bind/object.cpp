#include "python/bind/object.h"

#include <structmember.h>

#include <new>

#include "python/bind/dtypes.h"
#include "python/bind/host.h"
#include "python/bind/views.h"

namespace tilewise::bind {

PyTypeObject* ndarray_type = nullptr;
PyTypeObject* scalar_type = nullptr;

namespace {

constexpr int kFreeMax = 256;
ArrayObject* free_objects[kFreeMax];
int free_count = 0;

void dealloc(PyObject* self) {
  ArrayObject* object = cast_array(self);
  PyTypeObject* type = Py_TYPE(self);
  if (object->weakrefs) PyObject_ClearWeakRefs(self);
  object->array.store = StoreRef();
  Py_CLEAR(object->host);
  Py_CLEAR(object->descr);
  Py_CLEAR(object->base);
  if ((type == ndarray_type || type == scalar_type) && free_count < kFreeMax) {
    free_objects[free_count++] = object;
  } else {
    object->array.~Array();
    type->tp_free(self);
  }
  Py_DECREF(type);
}

void finalize(PyObject* object, PyObject* like) {
  Ref hook = Ref::steal(PyObject_GetAttrString(object, "__array_finalize__"));
  if (!hook) {
    PyErr_Clear();
  } else if (hook.get() != Py_None) {
    Ref::checked(PyObject_CallOneArg(hook.get(), like));
  }
}

// ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None) and new_view of subclasses.
PyObject* array_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    Ref made = Ref::checked(PyObject_Call(slow_function("new_array"), args, keywords));
    if (type == ndarray_type) return made.release();
    ArrayObject* from = cast_array(made.get());
    ArrayObject* object = allocate(type);
    object->array = from->array;
    object->host = Py_XNewRef(from->host);
    object->descr = Py_XNewRef(from->descr);
    Ref result = Ref::steal(reinterpret_cast<PyObject*>(object));
    finalize(result.get(), Py_None);
    return result.release();
  });
}

// type(s)(2.5): one type stands for scalars of every dtype, so that the value decides which of NumPy's it is.
PyObject* scalar_new(PyTypeObject*, PyObject* args, PyObject* keywords) {
  return guarded([&] { return Ref::checked(PyObject_Call(slow_function("new_scalar"), args, keywords)).release(); });
}

Py_ssize_t array_length(PyObject* self) {
  return guarded([&]() -> Py_ssize_t {
    ArrayObject* object = cast_array(self);
    if (object->host) return PyObject_Size(object->host);
    if (!object->array.rank()) {
      PyErr_SetString(PyExc_TypeError, "len() of unsized object");
      return -1;
    }
    return object->array.shape()[0];
  });
}

PyObject* array_iter(PyObject* self) {
  if (array_length(self) >= 0) return PySeqIter_New(self);
  if (PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
  return nullptr;
}

PyObject* array_repr(PyObject* self) {
  return guarded([&] { return slow("array_repr", self).release(); });
}
PyObject* array_str(PyObject* self) {
  return guarded([&] { return slow("array_str", self).release(); });
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot array_own_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_new, reinterpret_cast<void*>(array_new)},
    {Py_tp_members, members},
    {Py_tp_getset, array_attributes},
    {Py_tp_methods, array_methods},
    {Py_tp_repr, reinterpret_cast<void*>(array_repr)},
    {Py_tp_str, reinterpret_cast<void*>(array_str)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
    {Py_tp_iter, reinterpret_cast<void*>(array_iter)},
    {Py_mp_length, reinterpret_cast<void*>(array_length)},
    {Py_sq_length, reinterpret_cast<void*>(array_length)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(array_buffer.bf_getbuffer)},
    {Py_tp_doc, const_cast<char*>("An array whose data lies in tiles on the devices of the job. As numpy.ndarray.")},
    {0, nullptr},
};

PyType_Slot scalar_own_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_new, reinterpret_cast<void*>(scalar_new)},
    {Py_tp_members, members},
    {Py_tp_getset, scalar_attributes},
    {Py_tp_methods, array_methods},
    {Py_tp_repr, reinterpret_cast<void*>(scalar_repr)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_doc, const_cast<char*>("A value without axes that is computed when wanted. As NumPy's scalars; immutable.")},
    {0, nullptr},
};

PyTypeObject* make_type(PyObject* module, const char* name, unsigned flags, std::initializer_list<PyType_Slot*> groups) {
  PyType_Slot slots[128];
  int count = 0;
  for (PyType_Slot* group : groups) {
    for (; group->slot; ++group) slots[count++] = *group;
  }
  slots[count] = {0, nullptr};
  PyType_Spec spec = {name, sizeof(ArrayObject), 0, static_cast<unsigned>(Py_TPFLAGS_DEFAULT | flags), slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw PythonError();
  for (PyMethodDef* method = view_methods; method->ml_name; ++method) {
    Ref function = Ref::checked(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type), method));
    check(PyObject_SetAttrString(type, method->ml_name, function.get()));
  }
  check(PyModule_AddObjectRef(module, strrchr(name, '.') + 1, type));
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

ArrayObject* allocate(PyTypeObject* type) {
  const bool exact = type == ndarray_type || type == scalar_type;
  if (exact && free_count) {
    ArrayObject* object = free_objects[--free_count];
    PyObject_Init(reinterpret_cast<PyObject*>(object), type);
    return object;
  }
  PyObject* memory = type->tp_alloc(type, 0);
  if (!memory) throw PythonError();
  ArrayObject* object = cast_array(memory);
  new (&object->array) Array();
  object->host = object->descr = object->base = object->weakrefs = nullptr;
  return object;
}

NewResult::NewResult() : object_(allocate(ndarray_type)) {}
NewResult::~NewResult() { Py_XDECREF(object_); }

PyObject* NewResult::finish(PyObject* like) {
  if (like || !array().rank()) [[unlikely]]
    return new_result(std::move(array()), like);
  return reinterpret_cast<PyObject*>(std::exchange(object_, nullptr));
}

PyObject* new_array(Array&& array, PyObject* descr, PyObject* like) {
  return new_array_of(like ? Py_TYPE(like) : ndarray_type, std::move(array), descr, like);
}

PyObject* new_array_of(PyTypeObject* type, Array&& array, PyObject* descr, PyObject* like) {
  ArrayObject* object = allocate(type);
  object->array = std::move(array);
  object->descr = Py_XNewRef(descr);
  if (type == ndarray_type) return reinterpret_cast<PyObject*>(object);
  Ref result = Ref::steal(reinterpret_cast<PyObject*>(object));
  finalize(result.get(), like);
  return result.release();
}

PyObject* new_scalar(Array&& array, PyObject* descr) {
  ArrayObject* object = allocate(scalar_type);
  object->array = std::move(array);
  object->descr = Py_XNewRef(descr);
  return reinterpret_cast<PyObject*>(object);
}

PyObject* new_host_array(PyObject* numpy_array, PyTypeObject* type) {
  Ref held = Ref::steal(numpy_array);
  ArrayObject* object = allocate(type ? type : ndarray_type);
  object->host = held.release();
  return reinterpret_cast<PyObject*>(object);
}

PyObject* new_view(ArrayObject* self, const partition::View& view, PyObject* descr) {
  PyObject* own = reinterpret_cast<PyObject*>(self);
  PyObject* like = subclass_of(own);
  Ref result = Ref::steal(new_array(Array{self->array.store, view}, descr ? descr : self->descr, like));
  cast_array(result.get())->base = Py_NewRef(self->base && !like ? self->base : own);
  return result.release();
}

void init_object_types(PyObject* module) {
  ndarray_type = make_type(module, "tilewise.ndarray", Py_TPFLAGS_BASETYPE, {array_own_slots, number_slots, in_place_slots, index_slots});
  scalar_type = make_type(module, "tilewise.scalar", 0, {scalar_own_slots, number_slots, scalar_slots});
}

}  // namespace tilewise::bind
