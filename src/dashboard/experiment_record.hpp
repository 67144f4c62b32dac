#pragma once

#include "control/tune/tune_controller.hpp"
#include "core/json.hpp"
#include "dashboard/growing_file.hpp"
#include "dashboard/verdict.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headway::dashboard {

/// A time during which a trial's processes were ready.
struct Spell {
  double start_unix_s = 0;
  std::optional<double> end_unix_s;
};

/// What an experiment's journal tells of a trial, beside `control::tune::Trial`.
struct TrialRecord {
  JsonObject config;  ///< Without nesting; secrets masked.
  std::optional<double> started_unix_s;
  std::optional<double> ended_unix_s;
  std::vector<Spell> spells;  ///< In order: the newest ones.
  /// The experiment's metric by the number of the report.
  std::vector<std::pair<std::int64_t, double>> curve;
  /// Where trials take over: its newest checkpoints, and the iteration of each.
  std::vector<std::pair<std::string, double>> checkpoints;
};

/// A trial that continues from another one's checkpoint, or from its own one with another
/// configuration.
struct Takeover {
  std::int64_t trial = 0;
  std::int64_t donor = 0;
  double iteration = 0;                  ///< The trial's, when it was replaced.
  std::optional<double> from_iteration;  ///< The donor's at its checkpoint.
  JsonObject before;                     ///< Configurations, without nesting; secrets masked.
  JsonObject after;
};

/// How many trials are in which state.
struct TrialCounts {
  std::int64_t total = 0;
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  std::int64_t ended = 0;
  std::int64_t failed = 0;  ///< Of those that have ended.
};
BOOST_DESCRIBE_STRUCT(TrialCounts, (), (total, running, waiting, ended, failed))

struct BestTrial {
  std::string trial;
  std::string name;
  double value = 0;
  JsonObject searched;  ///< What its configuration has that is not the same in all trials: few.
};
BOOST_DESCRIBE_STRUCT(BestTrial, (), (trial, name, value, searched))

/// An experiment in the page's list.
struct ExperimentSummary {
  std::string id;
  std::string name;
  std::string path;
  std::string state;  ///< "running", "finished", or "unfinished" when nobody may work at it.
  RunVerdict verdict;
  std::optional<std::string> metric;
  std::string mode;
  std::string scheduler;
  TrialCounts trials;
  std::optional<BestTrial> best;
  std::optional<double> started_unix_s;
  std::optional<double> time_total_s;
};
BOOST_DESCRIBE_STRUCT(ExperimentSummary, (),
                      (id, name, path, state, verdict, metric, mode, scheduler, trials, best, started_unix_s,
                       time_total_s))

/// An experiment as its journal tells it.
class ExperimentRecord {
 public:
  /// A line of the journal, behind its checksum. One that this version does not know is left out.
  void add(std::string_view line);

  const control::tune::TuneController& controller() const { return controller_; }
  const std::vector<control::tune::Trial>& trials() const { return controller_.trials(); }
  /// By the trial's number.
  const TrialRecord& of(std::size_t trial) const { return records_.at(trial); }
  /// The last value of the experiment's metric that is a finite number.
  std::optional<double> value_of(std::size_t trial) const;
  /// Whether less is better.
  bool minimizes() const { return controller_.spec().mode.value_or("min") != "max"; }
  std::optional<std::size_t> best() const;
  /// In the order in which they happened: the newest 1000.
  const std::vector<Takeover>& takeovers() const { return takeovers_; }
  TrialCounts counts() const;
  std::optional<double> started_unix_s() const { return started_unix_s_; }
  double last_unix_s() const { return last_unix_s_; }

 private:
  /// A copy that is not whole yet.
  struct Begun {
    Takeover takeover;
    std::optional<std::string> config;  ///< The new one.
  };

  void end_spell(TrialRecord& record) const;
  void note_spell(const control::tune::TuneEvent& event);
  void note_copies(const control::tune::TuneCommands& commands);
  void note_end_of_copy(const control::tune::TuneEvent& event);
  double iteration_of(std::int64_t trial) const;
  double unix_s(Time at) const { return base_unix_s_ + to_seconds(at - base_); }

  control::tune::TuneController controller_;
  std::vector<TrialRecord> records_;
  std::map<std::int64_t, Begun> begun_;  ///< By the trial.
  std::vector<Takeover> takeovers_;
  Time base_{};
  double base_unix_s_ = 0;
  std::optional<double> started_unix_s_;
  double last_unix_s_ = 0;
};

ExperimentSummary summary_of(const std::string& id, const std::string& folder, const ExperimentRecord& record,
                             bool at_work);

/// An experiment's journal, read as it grows. Any thread.
class ExperimentFile {
 public:
  explicit ExperimentFile(std::string folder);

  const std::string& folder() const { return folder_; }
  template <class Look>
  auto with(const Look& look) {
    const std::lock_guard lock(mutex_);
    refresh();
    return look(*record_);
  }

 private:
  void refresh();

  std::string folder_;
  std::mutex mutex_;
  GrowingFile journal_;
  std::unique_ptr<ExperimentRecord> record_ = std::make_unique<ExperimentRecord>();
};

/// Whether a folder is an experiment's.
bool has_experiment(const std::string& folder);

}  // namespace headway::dashboard
