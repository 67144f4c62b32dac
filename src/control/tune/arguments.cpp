#include "control/tune/arguments.hpp"

#include "core/config.hpp"
#include "core/literals.hpp"

namespace headway::control::tune {

Error refused_argument(const std::string& scheduler, const std::string& argument, double given,
                       const std::string& allowed) {
  return {ErrorKind::invalid_argument,
          scheduler + ": " + argument + " is " + number_text(given) + "; allowed: " + allowed};
}

Result<void> check_names(const std::string& scheduler, const std::string& time_attr,
                         const std::optional<std::string>& metric, const std::optional<std::string>& mode) {
  const auto refused = [&](const std::string& argument, const std::string& given, const std::string& allowed) {
    return Error{ErrorKind::invalid_argument, scheduler + ": " + argument + " is " + given + "; allowed: " + allowed};
  };
  if (time_attr.empty()) return refused("time_attr", "empty", "the name of a metric that grows");
  if (!metric || metric->empty()) {
    return refused("metric", metric ? "empty" : literals().none, "the name of a metric, here or in TuneConfig");
  }
  if (!mode) return refused("mode", literals().none, "\"min\" or \"max\", here or in TuneConfig");
  if (*mode != "min" && *mode != "max") return refused("mode", "\"" + *mode + "\"", "\"min\" or \"max\"");
  return {};
}

}  // namespace headway::control::tune
