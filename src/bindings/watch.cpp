#include "bindings/watch.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

constexpr double wait_max_s = 3600;

std::optional<std::string> next_snapshot(PyWatch& self, double timeout_s) {
  const GilReleased released;
  const auto limit = std::chrono::duration<double>(std::clamp(timeout_s, 0.0, wait_max_s));
  const auto snapshot = self.next(std::chrono::duration_cast<std::chrono::milliseconds>(limit));
  if (!snapshot) return std::nullopt;
  return json_text(driver::json_of(*snapshot));
}

}  // namespace

void bind_watch(nb::module_& module) {
  nb::class_<PyWatch>(module, "Watch", "Looks at a driver's runs, nodes and queue.")
      .def("next", &next_snapshot, nb::arg("timeout_s"),
           "Waits for a snapshot that this method has not returned yet, as JSON; None when time is out or Headway was "
           "shut down.");
}

}  // namespace headway::bindings
