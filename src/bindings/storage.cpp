#include "storage/storage.hpp"
#include "bindings/module.hpp"
#include "core/score.hpp"
#include "storage/remote.hpp"

#include <nanobind/stl/optional.h>
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

std::optional<std::size_t> best_of(const std::string& metrics_json, const std::string& metric,
                                   const std::string& mode) {
  const auto metrics = unwrap(from_json_text<std::vector<JsonObject>>(metrics_json, "metrics"));
  return headway::best_of(metrics, metric, mode);
}

std::string list_checkpoints(const std::string& run_directory) {
  const auto listed = [&] {
    const nb::gil_scoped_release released;
    return storage::list_checkpoints(run_directory);
  }();
  return json_text(boost::json::value_from(unwrap(listed)));
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
  module.def("list_checkpoints", &list_checkpoints, nb::arg("run_directory"),
             "The manifests of a run's committed checkpoints as a JSON list, oldest first.");
  module.def("best_of", &best_of, nb::arg("metrics_json"), nb::arg("metric"), nb::arg("mode"),
             "The place of the best in a JSON list of metrics, the later of equals; None when none has the metric.");
  module.def("download_url", &download_url, nb::arg("url"), nb::arg("target_directory"), nb::arg("arrow_library"),
             nb::arg("arrow_directory"), "Copies the files below a URL into a directory, which is made when missing.");
  module.def("finish_remote", &storage::finish_remote, "To be called once, at the process's end.");
}

}  // namespace headway::bindings
