#include "control/tune/experiment_spec.hpp"

#include "core/config.hpp"

#include <cmath>

namespace headway::control::tune {
namespace {

Error refused_setting(const std::string& argument, const std::string& given, const std::string& allowed) {
  return {ErrorKind::invalid_argument, argument + " is " + given + "; allowed: " + allowed};
}

}  // namespace

Result<Scheduler> scheduler_of(const ExperimentSpec& spec) {
  return Scheduler::make(spec.scheduler, spec.metric, spec.mode, spec.seed);
}

bool chooses_among_trials(const ExperimentSpec& spec) {
  const Json* kind = spec.scheduler.if_contains("kind");
  return spec.chooses || (kind != nullptr && *kind == Pbt::is);
}

Result<void> validate(const ExperimentSpec& spec) {
  if (!spec.path.starts_with('/')) return refused_setting("path", "\"" + spec.path + "\"", "an absolute path");
  if (spec.mode && *spec.mode != "min" && *spec.mode != "max") {
    return refused_setting("mode", "\"" + *spec.mode + "\"", "\"min\" or \"max\"");
  }
  if (spec.metric && spec.metric->empty()) return refused_setting("metric", "empty", "the name of a metric");
  if (spec.max_concurrent && *spec.max_concurrent < 1) {
    return refused_setting("max_concurrent", std::to_string(*spec.max_concurrent), "a whole number from 1 on");
  }
  if (spec.time_budget_s && !(*spec.time_budget_s > 0)) {
    return refused_setting("time_budget_s", number_text(*spec.time_budget_s), "seconds above 0");
  }
  if (spec.stop) {
    for (const auto& [name, limit] : *spec.stop) {
      if (std::isnan(limit)) return refused_setting("stop[\"" + name + "\"]", "NaN", "a number");
    }
  }
  if (Result<Scheduler> scheduler = scheduler_of(spec); !scheduler) return scheduler.error();
  return {};
}

Result<ExperimentSpec> experiment_of(const std::string& json) {
  Result<Json> parsed = parse_json(json, "an experiment's description");
  if (!parsed) return Error{ErrorKind::invalid_argument, parsed.error().message};
  if (JsonObject* object = parsed->if_object()) fill_missing(*object, to_json(ExperimentSpec{}).as_object());
  Result<ExperimentSpec> spec = from_json<ExperimentSpec>(*parsed, "an experiment's description");
  if (!spec) return Error{ErrorKind::invalid_argument, spec.error().message};
  return spec;
}

}  // namespace headway::control::tune
