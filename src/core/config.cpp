#include "core/config.hpp"

#include "core/environment.hpp"
#include "core/literals.hpp"
#include "core/location.hpp"
#include "core/manifest.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace headway {
namespace {

Error refused(std::string_view argument, const std::string& given, std::string_view allowed) {
  return {ErrorKind::invalid_argument, std::string(argument) + " is " + given + "; allowed: " + std::string(allowed)};
}

std::string quoted(std::string_view text) { return json_text(Json(boost::json::string(text))); }

constexpr int workers_max = 1'000'000;

}  // namespace

std::string number_text(double number) {
  if (std::isfinite(number) && number == std::floor(number) && std::abs(number) < 1e15) {
    return std::to_string(static_cast<long long>(number));
  }
  std::string text = std::to_string(number);
  while (text.find('.') != std::string::npos && text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

namespace {

constexpr double limit_s_max = 1e9;

bool is_limit(double seconds) { return seconds >= 0 && seconds <= limit_s_max; }

/// What is no number comes from the environment, which is named then.
Result<void> validate_limit(std::string_view argument, const char* variable, const std::optional<double>& seconds) {
  if (!seconds || is_limit(*seconds)) return {};
  if (std::isnan(*seconds)) {
    if (const auto read = seconds_of_environment(variable, std::nullopt); !read) return read.error();
  }
  return refused(argument, number_text(*seconds), literals().none + " or 0 (never), or seconds up to 1000000000");
}

}  // namespace

std::string resources_text(const Resources& resources) {
  std::string text = "{";
  for (const auto& [name, amount] : resources) {
    if (text.size() > 1) text += ", ";
    text += name + ": " + number_text(amount);
  }
  return text + "}";
}

namespace {

Result<void> validate_amounts(const std::string& argument, const Resources& amounts) {
  for (const auto& [name, amount] : amounts) {
    if (name.empty()) return refused(argument, "given an empty name", "names such as \"CPU\"");
    if (!std::isfinite(amount) || amount < 0) {
      return refused(argument + "[" + quoted(name) + "]", number_text(amount), "a finite number that is not negative");
    }
  }
  return {};
}

/// GPUs are asked for by `use_gpu`, and by as many as can be given to one worker.
Result<void> validate_gpus(const ScalingConfig& config) {
  const auto gpu = config.resources_per_worker->find("GPU");
  if (gpu == config.resources_per_worker->end()) return {};
  if (gpu->second > 0 && !config.use_gpu) {
    return refused("ScalingConfig.use_gpu",
                   literals().no + " while resources_per_worker asks for " + number_text(gpu->second) + " GPU",
                   literals().yes + ", or no \"GPU\" in resources_per_worker");
  }
  if (gpu->second == 0 && config.use_gpu) {
    return refused("ScalingConfig.resources_per_worker[\"GPU\"]", "0 while use_gpu is " + literals().yes,
                   "a number above 0, or use_gpu as " + literals().no);
  }
  if (gpu->second > 1 && gpu->second != std::floor(gpu->second)) {
    return refused("ScalingConfig.resources_per_worker[\"GPU\"]", number_text(gpu->second),
                   "a fraction below 1 or a whole number");
  }
  return {};
}

/// "eu", "!eu", "in(eu, us)" or "!in(eu, us)": nothing of it is empty, and a list is closed.
bool is_selector_value(std::string_view text) {
  if (text.starts_with('!')) text.remove_prefix(1);
  if (!text.starts_with("in(")) return !text.empty();
  if (!text.ends_with(')')) return false;
  text = text.substr(3, text.size() - 4);
  while (true) {
    const std::size_t comma = text.find(',');
    if (text.substr(0, comma).find_first_not_of(' ') == std::string_view::npos) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

Result<void> validate_selector(const std::string& argument, const Labels& selector) {
  for (const auto& [name, wanted] : selector) {
    if (name.empty()) return refused(argument, "given an empty name", "names of labels, such as \"region\"");
    if (is_selector_value(wanted)) continue;
    return refused(argument + "[" + quoted(name) + "]", quoted(wanted),
                   "a label's text, such as \"eu\", \"!eu\", \"in(eu, us)\" or \"!in(eu, us)\"");
  }
  return {};
}

Result<void> validate_place(const ScalingConfig& config) {
  const std::string strategy = config.placement_strategy.value_or("PACK");
  if (strategy != "PACK" && strategy != "SPREAD" && strategy != "STRICT_PACK" && strategy != "STRICT_SPREAD") {
    return refused("ScalingConfig.placement_strategy", quoted(strategy),
                   "\"PACK\", \"SPREAD\", \"STRICT_PACK\" or \"STRICT_SPREAD\"");
  }
  if (config.accelerator_type && config.accelerator_type->empty()) {
    return refused("ScalingConfig.accelerator_type", "\"\"", literals().none + " or a type of GPUs, such as \"A100\"");
  }
  if (!config.label_selector) return {};
  const std::size_t selectors = config.label_selector->size();
  for (std::size_t i = 0; i < selectors; ++i) {
    const std::string argument = "ScalingConfig.label_selector" + (selectors > 1 ? "[" + std::to_string(i) + "]" : "");
    if (auto ok = validate_selector(argument, config.label_selector->at(i)); !ok) return ok;
  }
  if (selectors != 1 && config.min_workers) {
    return refused("ScalingConfig.label_selector", "a list of " + std::to_string(selectors),
                   "one selector for all workers of an elastic group");
  }
  if (selectors != 1 && selectors != static_cast<std::size_t>(config.num_workers)) {
    return refused("ScalingConfig.label_selector", "a list of " + std::to_string(selectors),
                   "one selector for all workers, or a list with one for each of them (" +
                       std::to_string(config.num_workers) + ")");
  }
  return {};
}

Result<void> validate_elastic(const ScalingConfig& config) {
  const double interval = config.elastic_resize_monitor_interval_s;
  if (!is_limit(interval)) {
    return refused("ScalingConfig.elastic_resize_monitor_interval_s", number_text(interval),
                   "seconds from 0 to 1000000000");
  }
  if (!config.min_workers || (*config.min_workers >= 1 && *config.min_workers <= config.num_workers)) return {};
  return refused("ScalingConfig.num_workers",
                 "from " + std::to_string(*config.min_workers) + " to " + std::to_string(config.num_workers),
                 "an integer, or a range of two from 1 to 1000000, the smaller one first");
}

}  // namespace

Result<void> validate(const ScalingConfig& config) {
  if (config.num_workers < 0 || config.num_workers > workers_max) {
    return refused("ScalingConfig.num_workers", std::to_string(config.num_workers),
                   "an integer from 0 (local mode) to 1000000");
  }
  if (auto ok = validate_elastic(config); !ok) return ok;
  if (config.trainer_resources) {
    if (auto ok = validate_amounts("ScalingConfig.trainer_resources", *config.trainer_resources); !ok) return ok;
  }
  if (auto ok = validate_place(config); !ok) return ok;
  if (!config.resources_per_worker) return {};
  if (auto ok = validate_amounts("ScalingConfig.resources_per_worker", *config.resources_per_worker); !ok) return ok;
  return validate_gpus(config);
}

Result<void> validate(const FailureConfig& config) {
  if (config.max_failures < -1) {
    return refused("FailureConfig.max_failures", std::to_string(config.max_failures),
                   "-1 (no limit), 0 (no restart) or a positive integer");
  }
  for (const auto& [argument, limit] :
       {std::pair("FailureConfig.controller_failure_limit", config.controller_failure_limit),
        std::pair("FailureConfig.max_preemption_failures", config.max_preemption_failures)}) {
    if (limit < -1)
      return refused(argument, std::to_string(limit), "-1 (no limit), 0 (no restart) or a positive integer");
  }
  if (!is_limit(config.preemption_grace_s)) {
    return refused("FailureConfig.preemption_grace_s", number_text(config.preemption_grace_s),
                   "seconds from 0 to 1000000000");
  }
  if (auto ok = validate_limit("FailureConfig.hang_warn_s", hang_warn_variable, config.hang_warn_s); !ok) return ok;
  return validate_limit("FailureConfig.hang_fail_s", hang_fail_variable, config.hang_fail_s);
}

Result<void> validate(const CheckpointConfig& config) {
  if (config.num_to_keep && *config.num_to_keep < 1) {
    return refused("CheckpointConfig.num_to_keep", std::to_string(*config.num_to_keep),
                   literals().none + " (keep all) or an integer of at least 1");
  }
  if (config.checkpoint_score_attribute && config.checkpoint_score_attribute->empty()) {
    return refused("CheckpointConfig.checkpoint_score_attribute", "\"\"",
                   literals().none + " or the key of a reported metric");
  }
  if (config.checkpoint_score_order != "max" && config.checkpoint_score_order != "min") {
    return refused("CheckpointConfig.checkpoint_score_order", quoted(config.checkpoint_score_order),
                   "\"max\" or \"min\"");
  }
  if (config.on_upload_failure != "raise" && config.on_upload_failure != "warn") {
    return refused("CheckpointConfig.on_upload_failure", quoted(config.on_upload_failure), "\"raise\" or \"warn\"");
  }
  return {};
}

Result<void> validate(const RunPlace& config) {
  if (config.name.empty() || config.name == "." || config.name == ".." || config.name.size() > 200 ||
      config.name.find('/') != std::string::npos || config.name.find('\0') != std::string::npos) {
    return refused("RunConfig.name", quoted(config.name), "a folder name of 1 to 200 bytes without '/'");
  }
  if (is_remote(config.storage_path)) return check_remote_name(config.name, "RunConfig.name");
  if (config.storage_path.empty() || config.storage_path.front() != '/') {
    return refused("RunConfig.storage_path", quoted(config.storage_path), "an absolute path or a URL");
  }
  return {};
}

Result<void> validate(const SyncConfig& config) {
  constexpr double years_10 = 10 * 365.0 * 86400;
  const auto fits = [](double seconds) { return seconds > 0 && seconds <= years_10; };
  if (!fits(config.sync_period)) {
    return refused("SyncConfig.sync_period", number_text(config.sync_period), "seconds, above 0");
  }
  if (!fits(config.sync_timeout)) {
    return refused("SyncConfig.sync_timeout", number_text(config.sync_timeout), "seconds, above 0");
  }
  return {};
}

namespace {

Result<void> validate_time_limit(const std::optional<double>& seconds) {
  if (!seconds || (*seconds > 0 && *seconds <= limit_s_max)) return {};
  return refused("ValidationTaskConfig.timeout_s", number_text(*seconds),
                 literals().none + " (no limit), or seconds above 0 up to 1000000000");
}

Result<void> validate_log_names(const std::vector<std::string>& names) {
  constexpr auto allowed = "True, False, a file's name without '/', or two different ones";
  for (const std::string& name : names) {
    if (!name.empty() && name.size() <= 200 && name.find('/') == std::string::npos &&
        name.find('\0') == std::string::npos)
      continue;
    return refused("RunConfig.log_to_file", quoted(name), allowed);
  }
  if (names.size() == 1 || (names.size() == 2 && names[0] != names[1])) return {};
  return refused("RunConfig.log_to_file", std::to_string(names.size()) + " names", allowed);
}

}  // namespace

Result<void> validate(const ValidationTask& task) { return validate_time_limit(task.timeout_s); }

Result<void> validate(const ValidationSpec& config) {
  if (auto ok = validate_time_limit(config.timeout_s); !ok) return ok;
  constexpr int concurrent_max = 1000;
  constexpr int retries_max = 100;
  if (config.max_concurrent < 1 || config.max_concurrent > concurrent_max) {
    return refused("ValidationConfig.max_concurrent", std::to_string(config.max_concurrent),
                   "an integer from 1 to 1000");
  }
  if (config.order != "oldest" && config.order != "newest") {
    return refused("ValidationConfig.order", quoted(config.order), "\"oldest\" or \"newest\"");
  }
  if (config.max_retries < 0 || config.max_retries > retries_max) {
    return refused("max_retries of ValidationConfig", std::to_string(config.max_retries), "an integer from 0 to 100");
  }
  for (const auto& [name, amount] : config.resources) {
    const bool part_of_several = name == "GPU" && amount > 1 && amount != std::floor(amount);
    if (std::isfinite(amount) && amount >= 0 && !name.empty() && !part_of_several) continue;
    return refused("what ValidationConfig claims of " + (name.empty() ? "an empty name" : name), number_text(amount),
                   "names with finite amounts that are not negative; GPUs as a fraction below 1 or a whole number");
  }
  return {};
}

Result<void> validate(const RunSpec& spec) {
  if (spec.log_names) {
    if (auto ok = validate_log_names(*spec.log_names); !ok) return ok;
  }
  if (auto ok = validate(spec.run); !ok) return ok;
  if (auto ok = validate(spec.scaling); !ok) return ok;
  if (auto ok = validate(spec.failure); !ok) return ok;
  if (auto ok = validate(spec.sync); !ok) return ok;
  if (auto ok = validate(spec.validation); !ok) return ok;
  return validate(spec.checkpoint);
}

std::string accelerator_resource(const std::string& type) { return "accelerator_type:" + type; }

int group_size(const RunSpec& spec) {
  return spec.scaling.num_workers > 0 ? spec.scaling.num_workers : spec.local_ranks;
}

int group_size_min(const RunSpec& spec) { return spec.scaling.min_workers.value_or(group_size(spec)); }

WorkerClaim worker_claim(const ScalingConfig& config) {
  WorkerClaim claim;
  if (config.num_workers == 0) return claim;  // These processes are there already.
  if (config.resources_per_worker) claim.hard = *config.resources_per_worker;
  if (config.use_gpu && !claim.hard.contains("GPU")) claim.hard["GPU"] = 1;
  constexpr double a_little = 0.001;
  if (config.accelerator_type) claim.hard[accelerator_resource(*config.accelerator_type)] = a_little;
  if (config.label_selector) claim.selectors = *config.label_selector;
  if (!claim.hard.contains("CPU")) claim.advised_cpus = 1;
  return claim;
}

bool claims_cpus_alone(const ScalingConfig& config) {
  const auto is_cpu = [](const auto& resource) { return resource.first == "CPU" || resource.second <= 0; };
  return std::ranges::all_of(worker_claim(config).hard, is_cpu) &&
         std::ranges::all_of(config.trainer_resources.value_or(Resources{}), is_cpu);
}

WorkerClaim worker_claim(const ValidationSpec& config) {
  return {config.resources, config.resources.contains("CPU") ? 0.0 : 1.0};
}

}  // namespace headway
