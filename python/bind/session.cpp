// The session's functions, and the hooks by which the runtime asks Python: for the line that a record is charged to, and
// to give up the GIL around its waits.
//
// A line is known to the runtime as (code object, instruction offset): the number of the line is looked up only for text.
#include "runtime/session.h"

#include <cxxabi.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <unordered_map>

#include "python/bind/fp.h"
#include "python/bind/functions.h"
#include "python/bind/guard.h"

namespace py = pybind11;

namespace tilewise::bind {
namespace {

std::string package_folder;  // where the package's own files are: their lines are not the user's

// Codes seen, kept alive, and whether they are the package's own.
bool is_own_code(PyCodeObject* code) {
  static auto* known = new std::unordered_map<PyCodeObject*, bool>;
  static PyCodeObject* last = nullptr;
  if (code == last) return false;
  auto found = known->find(code);
  if (found == known->end()) {
    Py_INCREF(code);
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    if (!file) PyErr_Clear();
    const bool own = file && !package_folder.empty() && !package_folder.compare(0, std::string::npos, file, package_folder.size());
    found = known->emplace(code, own).first;
  }
  if (!found->second) last = code;
  return found->second;
}

session::SourceLine current_line() {
  if (!PyGILState_Check()) return {};
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    Py_DECREF(code);  // the frame keeps it
    if (!is_own_code(code)) {
      const int at = PyFrame_GetLasti(frame);
      Py_DECREF(frame);
      return {code, at};
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return {};
}

std::string line_text(session::SourceLine line) {
  if (!line.code) return "";
  auto* code = reinterpret_cast<PyCodeObject*>(const_cast<void*>(line.code));
  py::gil_scoped_acquire gil;
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) {
    PyErr_Clear();
    file = "?";
  }
  return str(file, ":", PyCode_Addr2Line(code, line.line));
}

void* enter_wait() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
// Python ends a daemon thread that asks for its lock after the program's end, by unwinding it; through frames that handle all
// exceptions that is fatal. So such a thread stays here, as long as there is a process.
void take_python(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (const abi::__forced_unwind&) {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Waits come in slices, so that Ctrl-C is seen: an exception leaves by way of the runtime's wait.
void leave_wait(void* state) {
  if (!state) return;
  take_python(static_cast<PyThreadState*>(state));
  if (PyErr_CheckSignals() < 0) throw PythonError();
}

py::dict start(const std::string& folder) {
  package_folder = folder;
  const session::Role role = session::start();
  // Joining leaves a mark in the environment, for child processes; Python's copy of it, which programs hand on to theirs,
  // was made before.
  constexpr const char* kMark = "TILEWISE_FIRST_PROCESS";
  if (const char* mark = std::getenv(kMark)) py::module_::import("os").attr("environ")[kMark] = mark;
  session::set_line_hooks(current_line, line_text);
  session::set_blocking_hooks({enter_wait, leave_wait});
  session::set_watch_hook(watched);
  session::set_reclaim_hook([] {
    if (PyGILState_Check()) py::module_::import("gc").attr("collect")();
  });
  py::dict result;
  result["rank"] = role.rank;
  result["size"] = role.size;
  result["leader"] = role.leader;
  return result;
}

// The hooks take the GIL themselves where they need it; a worker's life needs none.
int run_worker() {
  py::gil_scoped_release release;
  return session::run_worker();
}

void shutdown(int status) {
  py::gil_scoped_release release;
  session::shutdown(status);
}

}  // namespace

void add_session(py::module_& m) {
  m.def("start", start);
  m.def("run_worker", run_worker);
  m.def("shutdown", shutdown);
  m.def("settle", settle_fp);
  m.def("forked", session::forked);
  m.def("flush", session::flush);
  m.def("replay", [](const std::string& path) {
    py::list reads;
    for (const auto& read : session::replay(path)) reads.append(py::make_tuple(read.dtype, read.shape, read.hash));
    return reads;
  });
  m.def("counters", session::counters);
  m.def("count", [](const std::string& name, double amount) { session::count(name, amount); });
  m.def("describe_devices", session::describe);
}

}  // namespace tilewise::bind
