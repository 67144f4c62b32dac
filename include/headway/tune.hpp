#pragma once

#include <headway/checkpoint.hpp>
#include <headway/config.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>
#include <headway/result.hpp>
#include <headway/trainer.hpp>

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Tuning: many trials of one training loop with different configurations.
namespace headway::tune {

/// What a parameter may be. Made by the functions below; bounds that make no sense are an error of
/// `Tuner::fit`, which names the parameter.
class HEADWAY_API Domain {
 public:
  /// A constant.
  Domain(Json value) : Domain(Kind::constant, 0, 0, 0, {std::move(value)}) {}
  template <class T>
    requires std::constructible_from<Json, T> && (!std::same_as<std::remove_cvref_t<T>, Json>) &&
             (!std::same_as<std::remove_cvref_t<T>, Domain>)
  Domain(T value) : Domain(Json(std::move(value))) {}

  enum class Kind { constant, uniform, quniform, loguniform, randint, choice, grid };

  Kind kind() const { return kind_; }
  /// Of `choice` and of a grid: what there is to choose from. Of a constant: its value.
  const Json::Array& values() const { return values_; }
  /// Whether its bounds make sense. Errors: `invalid_argument`, with `name` and what is allowed.
  Result<void> check(const std::string& name) const;
  /// The value for a number from 0 to below 1; of a grid the first.
  Json at(double drawn) const;

 private:
  Domain(Kind kind, double low, double high, double step, Json::Array values)
      : kind_(kind), low_(low), high_(high), step_(step), values_(std::move(values)) {}
  friend HEADWAY_API Domain uniform(double, double);
  friend HEADWAY_API Domain quniform(double, double, double);
  friend HEADWAY_API Domain loguniform(double, double);
  friend HEADWAY_API Domain randint(std::int64_t, std::int64_t);
  friend HEADWAY_API Domain choice(Json::Array);
  friend HEADWAY_API Domain grid_search(Json::Array);

  Kind kind_;
  double low_;
  double high_;
  double step_;
  Json::Array values_;
};

/// A number from `low` to below `high`.
HEADWAY_API Domain uniform(double low, double high);
/// The same, rounded to a multiple of `step`; `high` may come.
HEADWAY_API Domain quniform(double low, double high, double step);
/// The same as `uniform` for the logarithm: as many from 0.001 to 0.01 as from 0.01 to 0.1.
HEADWAY_API Domain loguniform(double low, double high);
/// An integer from `low` to below `high`.
HEADWAY_API Domain randint(std::int64_t low, std::int64_t high);
/// One of these values.
HEADWAY_API Domain choice(Json::Array values);
/// Each of these values: a trial for each combination of the values of all grids.
HEADWAY_API Domain grid_search(Json::Array values);

/// Parameters by name, in their order. A '/' in a name makes an object: "model/depth" is `depth` of
/// the object `model` in a trial's configuration.
///
///     headway::tune::Space space = {{"lr", headway::tune::loguniform(1e-4, 1e-1)},
///                                   {"layers", headway::tune::choice({1, 2, 3})},
///                                   {"epochs", 20}};
using Space = std::vector<std::pair<std::string, Domain>>;

/// Ends trials whose metric is among the worst of those that have come as far: asynchronous
/// successive halving (arXiv:1810.05934). It decides as `headway.tune.ASHAScheduler` does, by the
/// same code.
struct ASHAScheduler {
  std::string time_attr = "training_iteration";  ///< The metric that says how far a trial is.
  double max_t = 100;                            ///< A trial ends there.
  double grace_period = 1;                       ///< None ends earlier.
  /// The best one of so many goes on, at `grace_period` times each power of it.
  double reduction_factor = 4;
  int brackets = 1;
  bool stop_last_trials = true;
  /// Trials pause rather than end, and resume from their newest checkpoints once they are among the
  /// best.
  bool promote = false;
};

/// How an experiment searches.
struct TuneConfig {
  /// What is optimised, '/' between nested keys. A report without it is its trial's error.
  std::string metric = "";
  std::string mode = "min";  ///< "min" or "max".
  /// How many configurations are drawn; each is combined with every point of the grids.
  int num_samples = 1;
  std::optional<ASHAScheduler> scheduler = std::nullopt;  ///< None: each trial runs to its end.
  /// None: as many as there are CPUs and GPUs for.
  std::optional<int> max_concurrent_trials = std::nullopt;
  std::optional<double> time_budget_s = std::nullopt;  ///< Then all trials end.
  /// The same seed and space give the same configurations.
  std::uint64_t seed = 0;
  /// A trial ends at the first report in which one of these metrics has come so far.
  std::map<std::string, double> stop = {};
  bool fail_fast = false;  ///< The first trial that fails ends the experiment.
};

/// What an experiment is made of, beside its loop.
struct TunerOptions {
  Space space = {};
  TuneConfig tune = {};
  ScalingConfig scaling = {};  ///< Of each trial, which is a run with a group of workers.
  /// `name` is the experiment's; the rest is each trial's.
  RunConfig run = {};
  /// Continues the experiment that is in the folder already: trials that have not ended continue
  /// from their newest checkpoints, and the search after those that were drawn.
  bool resume = false;
};

/// A trial, as it was when the experiment ended.
struct TrialResult {
  std::string trial_id;
  std::string path;  ///< Its folder: `TrainResult::from_path` has its checkpoints.
  Json config;
  Json metrics;        ///< Of its last report, with the automatic ones; null without any.
  std::string state;   ///< "terminated", "errored", or "unfinished": it can be resumed.
  std::string reason;  ///< Why it ended, in words.
};

/// The outcome of an experiment.
struct HEADWAY_API ResultGrid {
  std::string path;                 ///< The experiment's folder.
  std::vector<TrialResult> trials;  ///< In the order in which they were drawn.
  std::string metric;
  std::string mode;

  int num_errors() const;
  /// The trial whose last metric is the best one. Errors: `invalid_argument` for a bad mode,
  /// `not_found` when none has it as a number.
  Result<TrialResult> get_best_result() const { return get_best_result(metric, mode); }
  Result<TrialResult> get_best_result(const std::string& metric, const std::string& mode) const;
};

/// Runs trials of a training loop, as many at once as there is room for, and ends those that are
/// not worth it. Each trial is a run, whose folder is in the experiment's.
///
///     headway::tune::TunerOptions options{.space = {{"lr", headway::tune::loguniform(1e-4, 1e-1)}},
///                                         .tune = {.metric = "loss", .num_samples = 20}};
///     const auto grid = headway::tune::Tuner(train, options).fit().value();
///     std::cout << grid.get_best_result().value().config.dump() << '\n';
class HEADWAY_API Tuner {
 public:
  explicit Tuner(TrainLoop loop, TunerOptions options = {}) : loop_(loop), options_(std::move(options)) {}

  /// Runs the experiment to its end; blocks. A trial that fails is no error of the experiment: it
  /// is in the grid, with its reason. `headway tune show FOLDER` and `headway.tune.Tuner.restore`
  /// read what it leaves.
  ///
  /// Errors, before anything starts: those of `Trainer::fit`; `invalid_argument` for what makes no
  /// sense in the options; `already_exists` when the folder has an experiment and `resume` is
  /// false, or when another driver has it. `unavailable` when its journal cannot be written.
  Result<ResultGrid> fit();

 private:
  TrainLoop loop_;
  TunerOptions options_;
};

}  // namespace headway::tune
