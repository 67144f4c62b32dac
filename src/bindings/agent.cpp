#include "bindings/module.hpp"
#include "cluster/agent_process.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

int run_agent(const std::string& driver, std::string token, std::string guard_path,
              std::vector<std::string> factory_command, std::map<std::string, std::string> factory_env,
              std::string py_spy, std::optional<double> num_cpus, std::optional<double> num_gpus,
              const Resources& resources, Labels labels, double grace_s, std::vector<std::string> recipe_command,
              std::string packages_folder) {
  unwrap(cluster::check_available());
  cluster::AgentProcessConfig config;
  config.driver = unwrap(cluster::parse_endpoint("--join", driver));
  config.token = std::move(token);
  config.factory = {std::move(guard_path), std::move(factory_command), std::move(factory_env), std::move(py_spy)};
  config.grace_s = grace_s;
  config.recipes = {std::move(recipe_command), std::move(packages_folder)};
  const GilReleased released;
  config.node = node::detect_resources(num_cpus, num_gpus, resources, std::move(labels));
  switch (cluster::AgentProcess::run(std::move(config))) {
    case cluster::AgentProcess::End::dismissed:
    case cluster::AgentProcess::End::left: return 0;
    case cluster::AgentProcess::End::refused: return 2;
    case cluster::AgentProcess::End::lost: return 3;
  }
  return 1;
}

}  // namespace

void bind_agent(nb::module_& module) {
  module.attr("nodes_can_join") = cluster::check_available().has_value();
  module.def("run_agent", &run_agent, nb::arg("driver"), nb::arg("token"), nb::arg("guard_path"),
             nb::arg("factory_command"), nb::arg("factory_env"), nb::arg("py_spy"), nb::arg("num_cpus").none(),
             nb::arg("num_gpus").none(), nb::arg("resources"), nb::arg("labels"), nb::arg("grace_s"),
             nb::arg("recipe_command"), nb::arg("packages_folder"),
             "Offers this machine to a driver; returns the exit code when that has ended, and no worker is left.");
}

}  // namespace headway::bindings
