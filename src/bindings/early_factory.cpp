#include "node/early_factory.hpp"
#include "bindings/module.hpp"
#include "bindings/runtime.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

std::unique_ptr<PyEarlyFactory> start(std::string guard_path, std::vector<std::string> command,
                                      std::map<std::string, std::string> env, std::string py_spy) {
  const node::FactoryConfig config{std::move(guard_path), std::move(command), std::move(env), std::move(py_spy)};
  std::shared_ptr<node::EarlyFactory> started = without_gil([&] { return node::EarlyFactory::start(config); });
  return std::make_unique<PyEarlyFactory>(PyEarlyFactory{OfThisProcess(std::move(started))});
}

}  // namespace

void bind_early_factory(nb::module_& module) {
  nb::class_<PyEarlyFactory>(module, "EarlyFactory",
                             "A worker factory that is started before there is a runtime, and told what to import.")
      .def(nb::new_(&start), nb::arg("guard_path"), nb::arg("command"), nb::arg("env"), nb::arg("py_spy"))
      // Keeps the GIL: lines of several threads must not mix, and it never blocks.
      .def(
          "tell", [](PyEarlyFactory& self, std::string_view line) { return self.factory->tell(line); }, nb::arg("line"),
          "Sends a line; False when nobody hears it.")
      .def(
          "offer",
          [](PyEarlyFactory& self, PyRuntime& runtime, std::vector<std::string> preload) {
            runtime.runtime->offer(self.factory->hand_over(std::move(preload)));
          },
          nb::arg("runtime"), nb::arg("preload"), nb::call_guard<GilReleased>(),
          "Has the runtime take it for workers that need these modules, of which it has heard.")
      .def(
          "end", [](PyEarlyFactory& self) { self.factory->end(); }, nb::call_guard<GilReleased>(),
          "Ends it, unless a runtime has taken it.");
}

}  // namespace headway::bindings
