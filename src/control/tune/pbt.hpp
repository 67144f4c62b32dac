#pragma once

#include "control/tune/decision.hpp"
#include "control/tune/draws.hpp"
#include "core/json.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::control::tune {

/// The arguments of PBT that decide, under the names and with the defaults of Ray Tune. How a
/// configuration is changed is the front end's.
struct PbtSpec {
  std::string time_attr = "time_total_s";
  std::optional<std::string> metric = {};
  std::optional<std::string> mode = {};
  double perturbation_interval = 60;
  double burn_in_period = 0;
  double quantile_fraction = 0.25;
  bool log_config = true;
  bool require_attrs = true;
  bool synch = false;
  std::string label = "PBT";   ///< In words: "PB2" is decided the same way.
  bool keeps_history = false;  ///< For a front end that learns from it.
};
BOOST_DESCRIBE_STRUCT(PbtSpec, (),
                      (time_attr, metric, mode, perturbation_interval, burn_in_period, quantile_fraction, log_config,
                       require_attrs, synch, label, keeps_history))

/// Errors: `invalid_argument`, naming the argument.
Result<void> validate(const PbtSpec& spec);

/// Population based training: M. Jaderberg et al., "Population Based Training of Neural Networks",
/// 2017, arXiv:1711.09846. Decides as Ray Tune's PopulationBasedTraining does
/// (python/ray/tune/schedulers/pbt.py of Ray 2.52), but for the seed of the donors:
///
/// - A trial is judged at its first report that is perturbation_interval behind the last judged
///   one, and not before burn_in_period. The population are the trials that have been judged once
///   and have not ended, by their last judged score.
/// - The best ceil(n * quantile_fraction) of them (at most half) may be copied, from the checkpoint
///   that they had when they were judged; who was not among them then has none. One of as many
///   worst ones goes on as a copy of one of the best, drawn at random, and counts from its time.
/// - Where other trials wait for a place, a trial that was judged gives its place up. The one that
///   has trained least goes next.
/// - With `synch` each trial waits at the next time of perturbation, until all are there. Then all
///   are judged, the best ones first.
///
/// Beyond Ray, whose trials would wait for ever: with `synch` trials that end are not waited for,
/// and the next time of perturbation is after what all have trained.
class Pbt {
 public:
  static constexpr const char* is = "pbt";

  /// A trial that has not ended.
  struct Member {
    std::int64_t trial = 0;
    double perturbed_at = 0;
    double trained = 0;                          ///< When it was judged last.
    std::optional<double> score = {};            ///< Then.
    std::optional<std::string> checkpoint = {};  ///< From which it may be copied.
    double iteration = 0;                        ///< Of that checkpoint.
  };
  /// A trial was judged, or goes on as a copy.
  struct Point {
    std::int64_t trial = 0;
    double time = 0;
    double score = 0;
    std::string config;  ///< JSON.
  };
  struct State {
    std::vector<Member> members;  ///< By their trials' numbers.
    std::vector<Point> history;   ///< The newest points.
    double next_sync = 0;
    double trained_most = 0;  ///< Of those that have ended.
    Draws draws;
  };

  /// `spec` has passed validate().
  explicit Pbt(PbtSpec spec, std::uint64_t seed = 0);
  Pbt(PbtSpec spec, State state) : spec_(std::move(spec)), state_(std::move(state)) {}

  const PbtSpec& spec() const { return spec_; }
  const State& state() const { return state_; }

  void added(std::int64_t trial);
  Decision reported(const Progress& progress, SideEffects& effects);
  /// The trial has ended by itself; this was its last report.
  void completed(const Progress& progress, SideEffects& effects) { removed(progress.trial, effects); }
  /// It has ended.
  void removed(std::int64_t trial, SideEffects& effects);

  /// A trial continues with this configuration, and the donor's score.
  void configured(std::int64_t trial, double score, const std::string& config);

  /// Whether a copy need not wait for the others.
  bool may_run(std::int64_t trial) const;

  /// Of those that could start the one that has trained least.
  std::int64_t choose(const std::set<std::int64_t>& candidates) const;
  /// Checkpoints that may be copied, by trial.
  std::map<std::int64_t, std::vector<std::string>> pinned() const;

 private:
  struct Quantiles {
    std::vector<std::int64_t> lower;  ///< Trials, the worst first.
    std::vector<std::int64_t> upper;
    std::size_t population = 0;
  };

  Member* find(std::int64_t trial);
  Quantiles quantiles() const;
  bool judge(Member& member, const Quantiles& among, SideEffects& effects);
  Decision reported_in_step(const Progress& progress, SideEffects& effects);
  void remember(Point point);
  void perturb_all(double time, SideEffects& effects);
  std::string words_of(const Member& member, const Quantiles& among) const;

  PbtSpec spec_;
  State state_;
};
BOOST_DESCRIBE_STRUCT(Pbt::Member, (), (trial, perturbed_at, trained, score, checkpoint, iteration))
BOOST_DESCRIBE_STRUCT(Pbt::Point, (), (trial, time, score, config))
BOOST_DESCRIBE_STRUCT(Pbt::State, (), (members, history, next_sync, trained_most, draws))

/// The arguments of the replay of a trial's schedule.
struct PbtReplaySpec {
  std::vector<double> changes;  ///< The iterations at which the configuration changes.
};
BOOST_DESCRIBE_STRUCT(PbtReplaySpec, (), (changes))

/// Repeats what PBT has done with one trial: at the given iterations it continues from its newest
/// checkpoint with the next configuration.
class PbtReplay {
 public:
  static constexpr const char* is = "pbt_replay";
  struct State {
    std::int64_t done = 0;  ///< Changes.
  };

  explicit PbtReplay(PbtReplaySpec spec) : spec_(std::move(spec)) {}
  PbtReplay(PbtReplaySpec spec, State state) : spec_(std::move(spec)), state_(state) {}

  const PbtReplaySpec& spec() const { return spec_; }
  const State& state() const { return state_; }

  void added(std::int64_t) {}
  Decision reported(const Progress& progress, SideEffects& effects);
  void completed(const Progress&, SideEffects&) {}
  void removed(std::int64_t) {}

 private:
  PbtReplaySpec spec_;
  State state_;
};
BOOST_DESCRIBE_STRUCT(PbtReplay::State, (), (done))

}  // namespace headway::control::tune
