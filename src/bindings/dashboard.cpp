#include "dashboard/dashboard.hpp"
#include "dashboard/inline_page.hpp"
#include "dashboard/masking.hpp"

#include "bindings/module.hpp"
#include "bindings/runtime.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

/// The page, as Python holds it.
struct PyDashboard {
  std::optional<OfThisProcess<dashboard::Dashboard>> held;
  std::string url;
};

PyDashboard show_driver(PyRuntime& runtime, std::string host, std::uint16_t port, std::vector<std::string> names) {
  dashboard::ServerConfig config{std::move(host), port, std::move(names)};
  // Others than this machine see it through TLS alone.
  config.tls = !dashboard::is_loopback(config.host);
  std::shared_ptr<dashboard::Dashboard> made =
      without_gil([&] { return dashboard::Dashboard::of_driver(*runtime.runtime.shared(), std::move(config)); });
  std::string url = made->url();
  return {OfThisProcess(std::move(made)), std::move(url)};
}

PyDashboard show_folder(const std::string& argument, const std::string& location, std::string host, std::uint16_t port,
                        std::vector<std::string> names) {
  dashboard::ServerConfig config{std::move(host), port, std::move(names)};
  config.tls = !dashboard::is_loopback(config.host);
  std::shared_ptr<dashboard::Dashboard> made =
      without_gil([&] { return dashboard::Dashboard::of_folder(argument, location, std::move(config)); });
  std::string url = made->url();
  return {OfThisProcess(std::move(made)), std::move(url)};
}

std::string run_summary(const std::string& location) {
  return without_gil([&] { return dashboard::run_summary_in(location); });
}

}  // namespace

void bind_dashboard(nb::module_& module) {
  // Keeps the GIL: it reads a few letters.
  module.def(
      "dashboard_port",
      [](const std::string& argument, const std::string& text) {
        return unwrap(dashboard::parse_port(argument, text));
      },
      nb::arg("argument"), nb::arg("text"),
      "The port that a text asks for: None for none, 0 for any that is free. ValueError, naming `argument`, for "
      "another "
      "text.");
  module.def("run_summary", &run_summary, nb::arg("location"),
             "A run of a folder with what it does, in words, as JSON. FileNotFoundError when the folder holds no run; "
             "OSError for one that cannot be read.");
  module.def(
      "inline_charts",
      [](const std::string& location, std::size_t charts_max, std::size_t points) {
        return without_gil([&] { return dashboard::inline_charts(location, charts_max, points); });
      },
      nb::arg("location"), nb::arg("charts_max"), nb::arg("points"),
      "The charts of a folder's run or experiment, as JSON. FileNotFoundError when it holds neither; OSError for one "
      "that cannot be read.");
  // Keeps the GIL: it reads one name.
  module.def("is_secret_name", &dashboard::is_secret_name, nb::arg("name"),
             "Whether a name is one of a secret, whose value is not shown.");
  // Keeps the GIL: it joins texts.
  module.def(
      "inline_page", [](const std::string& charts) { return dashboard::inline_page(charts); }, nb::arg("charts"),
      "A page of HTML that draws such charts and asks nobody for anything.");
  nb::class_<PyDashboard>(module, "Dashboard", "A page that shows runs in a browser, and its server.")
      .def(nb::new_(&show_driver), nb::arg("runtime"), nb::arg("host") = "127.0.0.1", nb::arg("port") = 0,
           nb::arg("names") = std::vector<std::string>{})
      .def_static("of_folder", &show_folder, nb::arg("argument"), nb::arg("location"), nb::arg("host") = "127.0.0.1",
                  nb::arg("port") = 0, nb::arg("names") = std::vector<std::string>{},
                  "Shows the run, the experiment, or all of them in a folder; `argument` is what errors call it.")
      .def_ro("url", &PyDashboard::url, "Its address, with the token.")
      // Keeps the GIL: OfThisProcess gives it up while threads are joined.
      .def("close", [](PyDashboard& self) { self.held.reset(); }, "Ends the server.");
}

}  // namespace headway::bindings
