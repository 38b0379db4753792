// The Python objects for arrays and scalars, and how results become objects.
//
// One layout serves both types. An ndarray of a dtype that tiles cannot hold (strings, objects, dates) keeps a NumPy
// array in `host` and has no store; a scalar keeps its value there once it was waited for. Freed objects of the two exact
// types go to a free list with their Array member constructed. All of it is guarded by the GIL.
#pragma once

#include "python/bind/guard.h"
#include "runtime/array.h"

namespace tilewise::bind {

struct ArrayObject {
  PyObject_HEAD
  Array array;
  PyObject* host;   // ndarray: the data, if NumPy holds it; scalar: the NumPy scalar once known
  PyObject* descr;  // NumPy's dtype where DType does not say all (kVoid), else null
  PyObject* base;   // the array whose data a view shows
  PyObject* weakrefs;
};

extern PyTypeObject* ndarray_type;
extern PyTypeObject* scalar_type;

void init_object_types(PyObject* module);

inline ArrayObject* cast_array(PyObject* object) { return reinterpret_cast<ArrayObject*>(object); }
inline bool is_exact_array(PyObject* o) { return Py_IS_TYPE(o, ndarray_type); }
inline bool is_exact_scalar(PyObject* o) { return Py_IS_TYPE(o, scalar_type); }
inline bool is_array(PyObject* o) { return PyObject_TypeCheck(o, ndarray_type); }
// Either of ours with a store.
inline bool is_stored(PyObject* o) {
  return is_exact_scalar(o) || (is_array(o) && !cast_array(o)->host);
}
inline bool is_host_held(PyObject* o) { return is_array(o) && cast_array(o)->host; }

// New objects. `descr` is borrowed and may be null; `like` gives the subclass, and __array_finalize__ its argument.
PyObject* new_array(Array&& array, PyObject* descr = nullptr, PyObject* like = nullptr);
PyObject* new_array_of(PyTypeObject* type, Array&& array, PyObject* descr, PyObject* like);
PyObject* new_scalar(Array&& array, PyObject* descr = nullptr);
PyObject* new_host_array(PyObject* numpy_array, PyTypeObject* type = nullptr);  // steals
// A view of `self`: same subclass, `base` set.
PyObject* new_view(ArrayObject* self, const partition::View& view, PyObject* descr = nullptr);
// A result under construction: the object is taken before the operation, which writes its array in place.
class NewResult {
 public:
  NewResult();
  ~NewResult();
  NewResult(const NewResult&) = delete;
  Array& array() { return object_->array; }
  // The object, a scalar where there are no axes; `like` as above.
  PyObject* finish(PyObject* like);

 private:
  ArrayObject* object_;
};
// What a ufunc or reduction gives: a scalar where there are no axes.
inline PyObject* new_result(Array&& array, PyObject* like = nullptr) {
  return array.rank() || like ? new_array(std::move(array), nullptr, like) : new_scalar(std::move(array));
}

// The operand whose subclass the result takes, or null where none has one.
inline PyObject* subclass_of(PyObject* a) { return is_exact_array(a) || !is_array(a) ? nullptr : a; }

// An object of `type` (ndarray or a subclass) with a default Array, or an error.
ArrayObject* allocate(PyTypeObject* type);

// Slots, each in the file of its subject.
extern PyType_Slot number_slots[], in_place_slots[], index_slots[], scalar_slots[];
extern PyGetSetDef array_attributes[], scalar_attributes[];
extern PyMethodDef array_methods[];
extern PyBufferProcs array_buffer;
PyObject* compare(PyObject* self, PyObject* other, int op);
PyObject* scalar_repr(PyObject* self);

}  // namespace tilewise::bind
