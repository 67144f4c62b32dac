#pragma once

#include "control/tune/decision.hpp"
#include "core/json.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::control::tune {

/// The arguments of the median stopping rule, under the names and with the defaults of Ray Tune.
struct MedianStoppingSpec {
  std::string time_attr = "time_total_s";
  std::optional<std::string> metric = {};
  std::optional<std::string> mode = {};
  double grace_period = 60;
  int min_samples_required = 3;
  double min_time_slice = 0;
  bool hard_stop = true;
};
BOOST_DESCRIBE_STRUCT(MedianStoppingSpec, (),
                      (time_attr, metric, mode, grace_period, min_samples_required, min_time_slice, hard_stop))

/// Errors: `invalid_argument`, naming the argument.
Result<void> validate(const MedianStoppingSpec& spec);

/// The median stopping rule: D. Golovin et al., "Google Vizier: A Service for Black-Box
/// Optimization", KDD 2017, doi:10.1145/3097983.3098043. Decides as Ray Tune's MedianStoppingRule
/// does (python/ray/tune/schedulers/median_stopping_rule.py of Ray 2.60):
///
/// - Before grace_period every trial goes on.
/// - The others are the trials whose last report's time is at least this one's minus
///   min_time_slice; with fewer than min_samples_required a trial goes on.
/// - Each has a running mean: of its reports from grace_period up to this report's time. A trial
///   ends when its best score so far is below the median of these means. Without hard_stop it
///   pauses, and goes on for good when it is resumed.
class MedianStopping {
 public:
  static constexpr const char* is = "median";

  struct History {
    std::vector<double> times;
    std::vector<double> scores;
    /// Of the reports from grace_period on, up to each: the sum of their scores, and how many there
    /// are. They come from the scores.
    std::vector<double> sums = {};
    std::vector<int> counts = {};
    bool ascends = true;  ///< Whether the times do.
  };
  struct State {
    std::map<std::string, History> histories;  ///< By the trial's number; of those that ended too.
    std::map<std::string, bool> judged;        ///< Those that were found too bad.
  };

  /// `spec` has passed validate().
  explicit MedianStopping(MedianStoppingSpec spec) : spec_(std::move(spec)) {}
  MedianStopping(MedianStoppingSpec spec, State state);

  const MedianStoppingSpec& spec() const { return spec_; }
  const State& state() const { return state_; }

  void added(std::int64_t) {}
  Decision reported(const Progress& progress, SideEffects& effects);
  /// The trial has ended by itself; this was its last report.
  void completed(const Progress& progress, SideEffects& effects);
  void removed(std::int64_t) {}

 private:
  void count(History& history) const;
  void add(const Progress& progress);
  double mean_until(const History& history, double time) const;
  std::vector<double> means_of_others(const Progress& progress, const std::string& own) const;

  MedianStoppingSpec spec_;
  State state_;
};
BOOST_DESCRIBE_STRUCT(MedianStopping::History, (), (times, scores))
BOOST_DESCRIBE_STRUCT(MedianStopping::State, (), (histories, judged))

}  // namespace headway::control::tune
