#include "bindings/module.hpp"

namespace headway::bindings {

namespace nb = nanobind;

void raise(const Error& error) {
  PyObject* type = PyExc_RuntimeError;
  switch (error.kind) {
    case ErrorKind::invalid_argument: type = PyExc_ValueError; break;
    case ErrorKind::not_found: type = PyExc_FileNotFoundError; break;
    case ErrorKind::already_exists: type = PyExc_FileExistsError; break;
    case ErrorKind::unavailable:
    case ErrorKind::refused:
    case ErrorKind::corrupted: type = PyExc_OSError; break;
    default: break;
  }
  PyErr_SetString(type, error.message.c_str());
  throw nb::python_error();
}

}  // namespace headway::bindings

NB_MODULE(_core, module) {
  module.attr("version") = HEADWAY_VERSION;
  module.attr("pyarrow_version") = HEADWAY_PYARROW_VERSION;
  headway::bindings::bind_config(module);
  headway::bindings::bind_driver(module);
  headway::bindings::bind_worker(module);
  headway::bindings::bind_storage(module);
}
