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

/// The arguments of HyperBand, under the names and with the defaults of Ray Tune.
struct HyperBandSpec {
  std::string time_attr = "training_iteration";
  std::optional<std::string> metric = {};
  std::optional<std::string> mode = {};
  double max_t = 81;
  double reduction_factor = 3;
  bool stop_last_trials = true;
  /// The order and the rule of HyperBandForBOHB.
  bool bohb = false;
};
BOOST_DESCRIBE_STRUCT(HyperBandSpec, (), (time_attr, metric, mode, max_t, reduction_factor, stop_last_trials, bohb))

/// Errors: `invalid_argument`, naming the argument.
Result<void> validate(const HyperBandSpec& spec);

/// HyperBand: L. Li et al., "Hyperband: A Novel Bandit-Based Approach to Hyperparameter
/// Optimization", JMLR 18 (2018), arXiv:1603.06560. Decides as Ray Tune's HyperBandScheduler and
/// HyperBandForBOHB do (python/ray/tune/schedulers/hyperband.py and hb_bohb.py of Ray 2.60):
///
/// - A band has s_max + 1 = round(log(max_t) / log(reduction_factor)) + 1 brackets. Bracket `s`
///   takes ceil((s_max + 1) / (s + 1) * reduction_factor^s) trials to int(max_t *
///   reduction_factor^-s) first. New trials fill the brackets in order, the smallest `s` first
///   (with `bohb` the largest), and then those of the next band.
/// - A trial that has come to its bracket's time pauses there. When all have, the best 1 /
///   reduction_factor of them go on to reduction_factor times as far, and the others end. Of equal
///   scores the trial that came later goes on.
/// - At max_t a bracket's trials end.
/// - With `bohb` a bracket waits until it has been full, unless nothing else is left to run.
///
/// A bracket without trials is not halved.
class HyperBand {
 public:
  static constexpr const char* is = "hyperband";

  struct Member {
    std::int64_t trial = 0;
    double time = 0;  ///< Of its last report.
    double score = 0;
  };
  struct Bracket {
    std::vector<Member> members;  ///< Those that have not ended, in the order in which they came.
    int room = 0;                 ///< For so many trials.
    double until = 0;             ///< So far they go now.
    int halvings_left = 0;
    bool filled = false;  ///< It has had all of its trials; some may have ended since.
  };
  struct State {
    std::vector<Bracket> brackets;          ///< Of all bands.
    int in_band = 0;                        ///< Places in the last band that were used.
    std::map<std::string, int> bracket_of;  ///< By the number of a trial that has not ended.
  };

  /// `spec` has passed validate().
  explicit HyperBand(HyperBandSpec spec) : spec_(std::move(spec)) {}
  HyperBand(HyperBandSpec spec, State state) : spec_(std::move(spec)), state_(std::move(state)) {}

  const HyperBandSpec& spec() const { return spec_; }
  const State& state() const { return state_; }

  void added(std::int64_t trial);
  Decision reported(const Progress& progress, SideEffects& effects);
  /// The trial has ended by itself; this was its last report.
  void completed(const Progress& progress, SideEffects& effects) { removed(progress.trial, effects); }
  /// It has ended: its bracket may be complete without it.
  void removed(std::int64_t trial, SideEffects& effects);
  /// No trial runs, and none is to come.
  void idle(SideEffects& effects);

 private:
  bool is_full(const Bracket& bracket) const;
  bool goes_on(const Bracket& bracket, const Member& member) const;
  bool is_complete(const Bracket& bracket) const;
  void open_bracket();
  void process(Bracket& bracket, SideEffects& effects);
  void halve(Bracket& bracket, SideEffects& effects);
  void end_all(Bracket& bracket, SideEffects& effects);
  std::string words_of(const Member& member, std::size_t best, std::size_t count, double at) const;

  HyperBandSpec spec_;
  State state_;
};
BOOST_DESCRIBE_STRUCT(HyperBand::Member, (), (trial, time, score))
BOOST_DESCRIBE_STRUCT(HyperBand::Bracket, (), (members, room, until, halvings_left, filled))
BOOST_DESCRIBE_STRUCT(HyperBand::State, (), (brackets, in_band, bracket_of))

}  // namespace headway::control::tune
