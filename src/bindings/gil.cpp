#include "bindings/gil.hpp"

#include <cxxabi.h>
#include <unistd.h>

namespace headway::bindings {
namespace {

/// Calls a function that returns with the lock, or not at all.
template <class Take>
auto taken(const Take& take) {
  try {
    return take();
  } catch (const abi::__forced_unwind&) {
    for (;;) ::pause();
  }
}

/// Whether the interpreter has threads besides this one: at its end, those that nobody waits for.
bool has_other_threads() {
  PyThreadState* first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  return PyThreadState_Next(first) != nullptr;
}

}  // namespace

GilReleased::~GilReleased() {
  taken([this] { PyEval_RestoreThread(state_); });
}

GilTaken::GilTaken() : state_(taken(&PyGILState_Ensure)) {}

void expect_stopped_threads() {
  nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function([] {
    if (has_other_threads()) nanobind::set_leak_warnings(false);
  }));
}

}  // namespace headway::bindings
