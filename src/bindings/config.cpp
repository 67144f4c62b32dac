#include "core/config.hpp"
#include "bindings/module.hpp"
#include "core/environment.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

template <class Config>
void check(const std::string& json) {
  const Config config = unwrap(from_json_text<Config>(json, "a configuration"));
  unwrap(headway::validate(config));
}

}  // namespace

void bind_config(nb::module_& module) {
  module.def("check_scaling_config", &check<ScalingConfig>, nb::arg("json"),
             "Raises ValueError for a bad ScalingConfig.");
  module.def("check_failure_config", &check<FailureConfig>, nb::arg("json"),
             "Raises ValueError for a bad FailureConfig.");
  module.def("check_checkpoint_config", &check<CheckpointConfig>, nb::arg("json"),
             "Raises ValueError for a bad CheckpointConfig.");
  module.def("check_sync_config", &check<SyncConfig>, nb::arg("json"), "Raises ValueError for a bad SyncConfig.");
  module.def("check_validation_config", &check<ValidationSpec>, nb::arg("json"),
             "Raises ValueError for a bad ValidationConfig.");
  module.def("check_validation_task", &check<ValidationTask>, nb::arg("json"),
             "Raises ValueError for a bad ValidationTaskConfig.");
  module.def(
      "seconds_of_environment",
      [](const std::string& variable, std::optional<double> otherwise) {
        return unwrap(seconds_of_environment(variable.c_str(), otherwise));
      },
      nb::arg("variable"), nb::arg("otherwise").none(), "Seconds that a variable says. Raises ValueError, naming it.");
  module.def(
      "works_in_trial_dir", [] { return unwrap(works_in_trial_dir()); },
      "Whether the environment has ranks work in the run's directory. Raises ValueError, naming the variable.");
  module.def(
      "tells_of_a_task", [](const std::string& variable) { return tells_of_a_task(variable); }, nb::arg("variable"),
      "Whether a variable of the environment tells a process which task of Slurm's it is: not for ranks.");
  module.def("check_run_config", &check<RunPlace>, nb::arg("json"), "Raises ValueError for a bad RunConfig.");
}

}  // namespace headway::bindings
