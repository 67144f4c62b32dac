#pragma once

#include <headway/checkpoint.hpp>
#include <headway/config.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>

#include <optional>
#include <string>

/// Validation of checkpoints beside the training: `report` asks for it, a function that the trainer
/// names does it, in a separate process, and its metrics are added to the checkpoint's.
namespace headway {

/// A validation function: what it finds in a committed checkpoint, as an object of metrics. It may
/// take arguments (an object), and may contain a `Trainer`, whose workers are on the driver's
/// machine. What it throws fails the validation, not the training.
struct ValidationFunction {
  ValidationFunction(Json (*function)(const Checkpoint&, const Json&)) : with_arguments(function) {}
  ValidationFunction(Json (*function)(const Checkpoint&)) : plain(function) {}
  bool operator==(const ValidationFunction&) const = default;

  Json (*with_arguments)(const Checkpoint&, const Json&) = nullptr;
  Json (*plain)(const Checkpoint&) = nullptr;
};

/// What HEADWAY_VALIDATION makes: the function under its name, in which its process finds it again.
class HEADWAY_API RegisteredValidation {
 public:
  RegisteredValidation(const char* name, ValidationFunction function);
};

/// Registers a validation function under its name, at namespace scope. Names are unique in a
/// program.
///
///     headway::Json validate(const headway::Checkpoint& checkpoint, const headway::Json& arguments) { ... }
///     HEADWAY_VALIDATION(validate);
#define HEADWAY_VALIDATION(function) HEADWAY_VALIDATION_AT(function, __COUNTER__)
#define HEADWAY_VALIDATION_AT(function, place) HEADWAY_VALIDATION_NAMED(function, place)
#define HEADWAY_VALIDATION_NAMED(function, place)                                                                \
  [[maybe_unused]] static const ::headway::RegisteredValidation headway_registered_validation_##place(#function, \
                                                                                                      function)

/// One validation: what its function gets, and how long it may take.
struct ValidationTaskConfig {
  /// An object, beside the checkpoint; keys that `report` gives go over those of the trainer.
  Json arguments = Json::object();
  /// Seconds that the function may take, above 0 and at most 1e9; none: as long as it likes. A
  /// validation whose `report` names a `ValidationTaskConfig` has the limit of that one alone.
  std::optional<double> timeout_s = std::nullopt;
};

/// How a trainer's checkpoints are validated where `ReportOptions::validation` asks for it. Checked
/// by `Trainer::fit` before anything starts.
///
///     headway::ValidationConfig validation{.function = validate, .task = {.timeout_s = 600}, .resources = {{"GPU", 1}}};
struct ValidationConfig {
  ValidationFunction function;  ///< Registered by HEADWAY_VALIDATION.
  /// What every validation has, unless its `report` says otherwise.
  ValidationTaskConfig task = {};
  /// What each claims. Hard limits: it waits until they are free, and `fit` refuses what no machine
  /// has. Without "CPU" it computes with one thread.
  Resources resources = {};
  int max_retries = 3;           ///< How often one is begun again whose process has died: 0 to 100.
  int max_concurrent = 1;        ///< Validations that run at once: 1 to 1000. Further ones wait.
  std::string order = "oldest";  ///< Which of those that wait is next: "oldest" or "newest".
};

}  // namespace headway
