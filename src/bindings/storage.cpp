#include "bindings/module.hpp"
#include "storage/local.hpp"
#include "storage/remote.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

void download(const std::string& directory, const std::string& target_directory) {
  unwrap([&] {
    const nb::gil_scoped_release released;
    return storage::download(directory, target_directory);
  }());
}

void download_url(const std::string& url, const std::string& target_directory, const std::string& arrow_library,
                  const std::string& arrow_directory) {
  unwrap([&] {
    const nb::gil_scoped_release released;
    return storage::download_url(url, target_directory, {arrow_library, arrow_directory});
  }());
}

}  // namespace

void bind_storage(nb::module_& module) {
  module.def("download", &download, nb::arg("directory"), nb::arg("target_directory"),
             "Copies a directory's files into another, which is made when missing.");
  module.def("download_url", &download_url, nb::arg("url"), nb::arg("target_directory"), nb::arg("arrow_library"),
             nb::arg("arrow_directory"), "Copies the files below a URL into a directory, which is made when missing.");
  module.def("finish_remote", &storage::finish_remote, "To be called once, at the process's end.");
}

}  // namespace headway::bindings
