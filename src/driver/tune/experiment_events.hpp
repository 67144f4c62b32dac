#pragma once

#include "core/json.hpp"
#include "driver/front_events.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What the driver's loop passes to the thread that serves an experiment. Python has these structs
/// under these names (`headway._core`). What decides anything is in the experiment's journal before
/// it comes here.
namespace headway::driver {

/// There is room for so many more trials → Experiment::suggest, and then, where there are fewer,
/// no_suggestion or search_over.
struct SuggestionsWanted {
  int count = 1;
};
BOOST_DESCRIBE_STRUCT(SuggestionsWanted, (), (count))

/// → Experiment::start_trial or refuse_trial.
struct TrialStartWanted {
  std::string trial_id;
  int start = 1;       ///< From 1: one that was paused, or whose driver has died, starts again.
  std::string config;  ///< JSON.
  std::string folder;  ///< In the experiment's.
  bool resumes = false;
  bool copied = false;  ///< Its configuration is the one that ConfigAsked has brought.
};
BOOST_DESCRIBE_STRUCT(TrialStartWanted, (), (trial_id, start, config, folder, resumes, copied))

/// A trial goes on as a copy of the donor: with which configuration? → Experiment::configure. Where
/// the donor is the trial itself, only its configuration changes.
struct ConfigAsked {
  std::string trial_id;
  std::string donor_id;
  std::int64_t number = 0;
  std::string history_json;  ///< Where the scheduler keeps it: see Pbt::Point.
};
BOOST_DESCRIBE_STRUCT(ConfigAsked, (), (trial_id, donor_id, number, history_json))

/// Its ranks are ready.
struct TrialStarted {
  std::string trial_id;
  int start = 1;
};
BOOST_DESCRIBE_STRUCT(TrialStarted, (), (trial_id, start))

/// A report was recorded, and decided about.
struct TrialReported {
  std::string trial_id;
  std::int64_t number = 0;  ///< Over the trial's life, from 1.
  JsonObject line;          ///< As in result.json.
  std::string decision;     ///< "continue", "stop" or "pause".
  std::string reason;
  std::vector<JsonObject> metrics;  ///< By rank; empty when an earlier driver has heard them.
};
BOOST_DESCRIBE_STRUCT(TrialReported, (), (trial_id, number, line, decision, reason, metrics))

/// An attempt of a trial has failed; another one may follow.
struct TrialAttemptFailed {
  std::string trial_id;
  AttemptFailed attempt;
  int raised_rank = -1;  ///< Whose the exception is.
  wire::Blob exception;  ///< The last one that a rank has raised, pickled.
};
BOOST_DESCRIBE_STRUCT(TrialAttemptFailed, (), (trial_id, attempt, raised_rank, exception))

/// A report waits for the front end's verdict → Experiment::decide.
struct VerdictAsked {
  std::string trial_id;
  std::int64_t number = 0;
  JsonObject line;
  std::string decision;  ///< The scheduler's, as in TrialReported.
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(VerdictAsked, (), (trial_id, number, line, decision, reason))

/// There is a place for one of these trials → Experiment::choose.
struct TrialChoiceAsked {
  std::vector<std::string> candidates;
};
BOOST_DESCRIBE_STRUCT(TrialChoiceAsked, (), (candidates))

/// Call the hooks of a trial that was started with them → Run::setup_finished or teardown_finished.
struct TrialHook {
  std::string trial_id;
  int attempt = 0;
  int workers = 0;
  std::string kind;  ///< "setup" or "teardown".
};
BOOST_DESCRIBE_STRUCT(TrialHook, (), (trial_id, attempt, workers, kind))

/// A rank's answer to Run::execute.
struct TrialCall {
  std::string trial_id;
  CallExecuted call;
};
BOOST_DESCRIBE_STRUCT(TrialCall, (), (trial_id, call))

/// All of a trial's processes are gone, or it had none.
struct TrialEnded {
  std::string trial_id;
  std::string state;  ///< "terminated", "errored", "paused", or "unfinished": it can be restored.
  std::string reason;
  std::optional<control::RunOutcome> outcome;  ///< None: no run was started, or by another driver.
  std::string last_report_json;                ///< As in result.json; empty without a report.
  wire::Blob value;                            ///< What rank 0's function has returned, pickled.
  wire::Blob exception;                        ///< The last one that a rank has raised, pickled.
};
BOOST_DESCRIBE_STRUCT(TrialEnded, (), (trial_id, state, reason, outcome, last_report_json, value, exception))

/// No event follows.
struct ExperimentEnded {
  std::string state;  ///< "finished", "stopped", or "failed": its journal cannot be written.
  std::string reason;
  std::optional<std::int64_t> all_ended = {};  ///< As FinishExperiment says.
};
BOOST_DESCRIBE_STRUCT(ExperimentEnded, (), (state, reason, all_ended))

using ExperimentEvent = std::variant<SuggestionsWanted, TrialStartWanted, ConfigAsked, TrialStarted, TrialReported,
                                     VerdictAsked, TrialChoiceAsked, TrialHook, TrialCall, TrialAttemptFailed,
                                     TrialEnded, Notice, RunWarning, ExperimentEnded>;

}  // namespace headway::driver
