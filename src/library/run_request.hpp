#pragma once

#include <headway/config.hpp>
#include <headway/result.hpp>

#include "library/run_listener.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A run as the public side asks for it, and its end as it gets it back. JSON as text; see
/// worker_bridge.hpp.
namespace headway::library {

/// What they throw fails the run.
struct RunCallbacks {
  /// Null without callbacks.
  std::function<void(const std::vector<std::string>& metrics_json, const std::optional<std::string>& checkpoint)>
      after_report = nullptr;
  std::function<void(const std::map<int, std::string>& failures)> after_exception = nullptr;
};

struct RunRequest {
  std::string loop;         ///< Its registered name.
  std::string config_json;  ///< An object.
  std::string metadata_json = "{}";
  ScalingConfig scaling;
  RunConfig run;
  std::optional<std::string> resume_from_checkpoint;
  RunCallbacks callbacks = {};
  struct Validation {
    std::string function;        ///< Its registered name.
    std::string arguments_json;  ///< An object.
    std::optional<double> timeout_s;
    Resources resources;
    int max_retries = 0;
    int max_concurrent = 0;
    std::string order;
  };
  std::optional<Validation> validation = std::nullopt;
  /// An object by name, for give_shards; empty without data sets.
  std::string datasets_json = {};
};

struct RunEnd {
  std::string path;
  std::string last_report_json = "null";  ///< "null" without a report.
  std::string return_value_json = "null";
  std::vector<std::string> checkpoints;  ///< Directories, oldest first.
  std::vector<std::string> checkpoint_metrics_json;
  int attempts = 0;
  std::int64_t dropped_checkpoints = 0;
  bool finished = true;
  /// As it was given to the loop; "null" when that is not known.
  std::string config_json = "null";
  std::optional<Error> error = {};  ///< Of a run that was read from its folder and had failed.
  /// What is wrong with checkpoints that are left out, in words.
  std::vector<std::string> damage = {};
};

/// A run that was started. `stop` and `abort` may be called from any thread.
class StartedRun {
 public:
  virtual ~StartedRun() = default;
  /// Its folder.
  virtual const std::string& path() const = 0;
  /// Serves it on the calling thread until it has ended; called once. `listener` may be null.
  /// Errors: as Trainer::fit.
  virtual Result<RunEnd> serve(RunListener* listener) = 0;
  /// Ends it as finished.
  virtual void stop(const std::string& reason) = 0;
  /// Ends it as aborted.
  virtual void abort(const std::string& reason) = 0;
};

/// Errors: those of Trainer::fit that come before anything is started.
Result<std::unique_ptr<StartedRun>> start(const RunRequest& request);

/// The end, so far, of the run in a folder (a location). Errors: as TrainResult::from_path.
Result<RunEnd> found_end(const std::string& location);

/// The kind of this name; `internal` when there is none.
ErrorKind error_kind_of(std::string_view name);

/// The place of the best of these metrics (JSON objects); the later of equals, nothing when none
/// has the metric as a number.
std::optional<std::size_t> best_place(const std::vector<std::string>& metrics_json, const std::string& metric,
                                      const std::string& mode);

}  // namespace headway::library
