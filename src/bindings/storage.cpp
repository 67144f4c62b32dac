#include "storage/storage.hpp"
#include "bindings/module.hpp"
#include "bindings/python_files.hpp"
#include "core/location.hpp"
#include "core/score.hpp"
#include "storage/random_reader.hpp"
#include "storage/remote/remote.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

std::optional<std::size_t> best_of(const std::string& metrics_json, const std::string& metric,
                                   const std::string& mode) {
  const auto metrics = unwrap(from_json_text<std::vector<JsonObject>>(metrics_json, "metrics"));
  return headway::best_of(metrics, metric, mode);
}

std::string list_checkpoints(const std::string& run_directory) {
  return json_text(to_json(without_gil([&] { return storage::list_checkpoints(run_directory); })));
}

nb::bytes read_file(const std::string& location) {
  const std::string text = without_gil([&] { return storage::read_file(location); });
  return nb::bytes(text.data(), text.size());
}

void replace_file(const std::string& location, const nb::bytes& content) {
  const std::string text(content.c_str(), content.size());
  without_gil([&] { return storage::replace_file(location, text); });
}

std::unique_ptr<storage::RandomReader> open_random(const std::string& location) {
  auto opened = without_gil([&] { return storage::RandomReader::open(location); });
  return std::make_unique<storage::RandomReader>(std::move(opened));
}

nb::bytes read_at(const storage::RandomReader& self, std::uint64_t offset, std::size_t size) {
  const std::uint64_t left = self.size() - std::min(offset, self.size());
  std::string text(std::min<std::uint64_t>(size, left), '\0');
  const auto got = without_gil([&] { return self.read_at(offset, std::as_writable_bytes(std::span(text))); });
  return nb::bytes(text.data(), got);
}

bool use_arrow_libraries(std::string library, std::string directory) {
  storage::ArrowLibraries libraries{std::move(library), std::move(directory)};
  if (!storage::are_installed(libraries)) return false;
  storage::set_arrow_libraries(std::move(libraries));
  return true;
}

}  // namespace

void bind_storage(nb::module_& module) {
  module.def("list_checkpoints", &list_checkpoints, nb::arg("run_directory"),
             "The manifests of a run's committed checkpoints as a JSON list, oldest first.");
  module.def("best_of", &best_of, nb::arg("metrics_json"), nb::arg("metric"), nb::arg("mode"),
             "The place of the best in a JSON list of metrics, the later of equals; None when none has the metric.");
  module.def(
      "is_remote", [](const std::string& location) { return is_remote(location); }, nb::arg("location"),
      "Whether a location is a URL or on a Python filesystem.");
  module.def(
      "join_location",
      [](const std::string& location, const std::string& name) { return join_location(location, name); },
      nb::arg("location"), nb::arg("name"), "The location of a name below a location.");
  module.def(
      "parent_location", [](const std::string& location) { return parent_location(location); }, nb::arg("location"),
      "The location of the directory that a location lies in.");
  module.def(
      "name_of", [](const std::string& location) { return name_of(location); }, nb::arg("location"),
      "A location's own name, the last part of its path.");
  module.def(
      "shown_location", [](const std::string& location) { return shown_location(location); }, nb::arg("location"),
      "A location as people may read it, without secrets.");
  module.def("read_file", &read_file, nb::arg("location"), "The whole of a small file.");
  nb::class_<storage::RandomReader>(module, "RandomReader", "Reads parts of one file; any number of threads at once.")
      .def(nb::new_(&open_random), nb::arg("location"))
      // Keeps the GIL: a field.
      .def_prop_ro("size", &storage::RandomReader::size, "Bytes, as of when it was opened.")
      .def("read_at", &read_at, nb::arg("offset"), nb::arg("size"),
           "The bytes from an offset on; fewer than asked only at the file's end.");
  module.def("replace_file", &replace_file, nb::arg("location"), nb::arg("content"), "Replaces a small file whole.");
  // Keeps the GIL: an entry in a table.
  module.def(
      "register_files",
      [](const std::string& scheme, const nb::object& files) {
        storage::register_files(scheme, std::make_shared<PythonFiles>(files));
      },
      nb::arg("scheme"), nb::arg("files"), "Makes a scheme stand for a filesystem of Python's.");
  // Keeps the GIL: a few names.
  module.def("use_arrow_libraries", &use_arrow_libraries, nb::arg("library"), nb::arg("directory"),
             "Where libheadway_arrow.so and the pyarrow package lie; False when they are not what Headway was built "
             "with, and nothing happens.");
  // Keeps the GIL: an entry.
  module.def(
      "set_url_opener", [](const nb::object& open) { storage::set_url_opener(url_opener(open)); }, nb::arg("open"),
      "Has URLs opened by a function from a URL to a filesystem of Python's.");
  module.def(
      "finish_remote", [] { storage::finish_remote(); }, nb::call_guard<GilReleased>(),
      "To be called once, at the process's end.");
}

}  // namespace headway::bindings
