#include "bindings/module.hpp"

#include "core/literals.hpp"

namespace headway::bindings {

namespace nb = nanobind;

namespace {

/// A separate OSError, so that damage differs from storage that cannot be reached. It lives as long
/// as the process.
PyObject* corrupted_error = nullptr;

}  // namespace

void bind_errors(nb::module_& module) {
  corrupted_error = PyErr_NewExceptionWithDoc("headway._core.CorruptedError", "Stored bytes are not what was written.",
                                              PyExc_OSError, nullptr);
  if (corrupted_error == nullptr) throw nb::python_error();
  module.attr("CorruptedError") = nb::borrow(corrupted_error);
}

void raise(const Error& error) {
  PyObject* type = PyExc_RuntimeError;
  switch (error.kind) {
    case ErrorKind::invalid_argument: type = PyExc_ValueError; break;
    case ErrorKind::not_found: type = PyExc_FileNotFoundError; break;
    case ErrorKind::already_exists: type = PyExc_FileExistsError; break;
    case ErrorKind::unavailable:
    case ErrorKind::refused: type = PyExc_OSError; break;
    case ErrorKind::corrupted: type = corrupted_error; break;
    default: break;
  }
  PyErr_SetString(type, error.message.c_str());
  throw nb::python_error();
}

}  // namespace headway::bindings

NB_MODULE(_core, module) {
  headway::set_literals({"None", "True", "False"});
  module.attr("version") = HEADWAY_VERSION;
  module.attr("pyarrow_version") = HEADWAY_PYARROW_VERSION;
  headway::bindings::expect_stopped_threads();
  headway::bindings::bind_errors(module);
  headway::bindings::bind_config(module);
  headway::bindings::bind_front_events(module);
  headway::bindings::bind_terminal(module);
  headway::bindings::bind_watch(module);
  headway::bindings::bind_driver(module);
  headway::bindings::bind_agent(module);
  headway::bindings::bind_worker(module);
  headway::bindings::bind_storage(module);
  headway::bindings::bind_checkpoint(module);
  headway::bindings::bind_data(module);
  headway::bindings::bind_dashboard(module);
}
