#include "bindings/module.hpp"
#include "storage/local.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace headway::bindings {

namespace nb = nanobind;

void bind_storage(nb::module_& module) {
  const auto download = [](const std::string& from, const std::string& to) {
    unwrap([&] {
      const nb::gil_scoped_release released;
      return storage::download(from, to);
    }());
  };
  module.def("download", download, nb::arg("directory"), nb::arg("target_directory"),
             "Copies a directory's files into another, which is made when missing.");
}

}  // namespace headway::bindings
