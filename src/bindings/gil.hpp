#pragma once

#include <nanobind/nanobind.h>

/// The interpreter's lock (the GIL), let go and taken again.
///
/// When the interpreter ends, Python ends each thread that still wants the lock, which unwinds the
/// thread's frames; C++ ends the process at the first function that must not throw. So such a
/// thread stays where it is instead, as Python 3.14 has it too, until the process is gone.
namespace headway::bindings {

/// Without the lock for as long as it lives, in a thread that has it.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

/// With the lock for as long as it lives, in a thread of Python's that has released it. For threads
/// of C++, which may be joined at the end, there is `nanobind::gil_scoped_acquire`.
class GilTaken {
 public:
  GilTaken();
  ~GilTaken() { PyGILState_Release(state_); }
  GilTaken(const GilTaken&) = delete;
  GilTaken& operator=(const GilTaken&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Has nanobind not report, at the interpreter's end, what threads hold that it stops in between.
void expect_stopped_threads();

}  // namespace headway::bindings
