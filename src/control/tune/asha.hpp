#pragma once

#include "control/tune/decision.hpp"
#include "control/tune/draws.hpp"
#include "core/json.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::control::tune {

/// The arguments of ASHA, under the names and with the defaults of Ray Tune.
struct AshaSpec {
  std::string time_attr = "training_iteration";
  std::optional<std::string> metric = {};
  std::optional<std::string> mode = {};
  double max_t = 100;
  double grace_period = 1;
  double reduction_factor = 4;
  int brackets = 1;
  bool stop_last_trials = true;
  /// Trials that are not among the best wait for their promotion, rather than ending.
  bool promote = false;
};
BOOST_DESCRIBE_STRUCT(AshaSpec, (),
                      (time_attr, metric, mode, max_t, grace_period, reduction_factor, brackets, stop_last_trials,
                       promote))

/// Errors: `invalid_argument`, naming the argument.
Result<void> validate(const AshaSpec& spec);

/// Asynchronous successive halving: L. Li et al., "A System for Massively Parallel Hyperparameter
/// Tuning", MLSys 2020 (arXiv:1810.05934). Decides as Ray Tune's AsyncHyperBandScheduler does
/// (python/ray/tune/schedulers/async_hyperband.py of Ray 2.60):
///
/// - Bracket `s` of `brackets` has int(log(max_t / grace_period) / log(reduction_factor) - s + 1)
///   rungs, at the milestones grace_period * reduction_factor^(k + s).
/// - A report counts at the highest milestone that its time has reached and at which its trial was
///   not recorded: the trial ends when its score is below the percentile 100 * (1 - 1 /
///   reduction_factor) of those that were recorded there before it. It is recorded in any case.
/// - A trial ends when its time has come to max_t.
///
/// With `promote` (beyond Ray; the paper's algorithm 2) a trial pauses at each milestone, and goes
/// on as soon as it is among the best 1 / reduction_factor of those recorded there.
class Asha {
 public:
  static constexpr const char* is = "asha";

  struct Record {
    double score = 0;
    std::int64_t trial = 0;
    bool promoted = false;
  };
  struct Rung {
    double milestone = 0;
    std::vector<Record> records;  ///< Ascending; without those whose score is no number.
  };
  struct Bracket {
    std::vector<Rung> rungs;  ///< The highest first.
  };
  /// A trial that has not ended.
  struct Member {
    int bracket = 0;
    std::uint64_t recorded = 0;  ///< Bit i: at rung i of its bracket.
  };
  struct State {
    std::vector<Bracket> brackets;
    std::map<std::string, Member> members;  ///< By the trial's number.
    Draws draws;
  };

  /// `spec` has passed validate().
  explicit Asha(AshaSpec spec, std::uint64_t seed = 0);
  Asha(AshaSpec spec, State state) : spec_(std::move(spec)), state_(std::move(state)) {}

  const AshaSpec& spec() const { return spec_; }
  const State& state() const { return state_; }

  void added(std::int64_t trial);
  /// One that had errored runs again: where it was recorded it is not judged again.
  void added_again(std::int64_t trial);
  Decision reported(const Progress& progress, SideEffects& effects);
  /// The trial has ended by itself; this was its last report.
  void completed(const Progress& progress, SideEffects& effects);
  /// It has ended.
  void removed(std::int64_t trial);

 private:
  Decision judge(const Progress& progress, Member& member, SideEffects& effects);
  Decision judge_at(Rung& rung, const Progress& progress, SideEffects& effects);
  Decision promote_at(Rung& rung, const Progress& progress, SideEffects& effects) const;
  std::string words_of(const Rung& rung, double score, double cutoff) const;

  AshaSpec spec_;
  State state_;
};
BOOST_DESCRIBE_STRUCT(Asha::Record, (), (score, trial, promoted))
BOOST_DESCRIBE_STRUCT(Asha::Rung, (), (milestone, records))
BOOST_DESCRIBE_STRUCT(Asha::Bracket, (), (rungs))
BOOST_DESCRIBE_STRUCT(Asha::Member, (), (bracket, recorded))
BOOST_DESCRIBE_STRUCT(Asha::State, (), (brackets, members, draws))

}  // namespace headway::control::tune
