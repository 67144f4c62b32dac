#pragma once

#include "control/tune/decision.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What the controller of an experiment wants done, in order. Whatever ends something carries its
/// reason in words.
namespace headway::control::tune {

/// Ask the search for up to so many more trials → TrialSuggested for each, and then, where there
/// are fewer, NothingSuggested or SearchOver.
struct AskSuggestions {
  int count = 1;
};

/// Start the trial's run → TrialReady, and at last TrialGone.
struct StartTrial {
  std::int64_t trial = 0;
  int start = 1;         ///< From 1: one that was paused, or whose driver has died, starts again.
  bool resumes = false;  ///< From its newest checkpoint.
  bool copied = false;   ///< With another configuration than at its last start.
  bool held = false;     ///< It is made ready, and asks for no slots before ReleaseTrial.
};

/// There is a place for a trial that was held.
struct ReleaseTrial {
  std::int64_t trial = 0;
};

/// Ask the front end for the configuration of a trial that goes on as a copy of the donor →
/// TrialConfigured. Where the donor is the trial itself, only its configuration changes.
struct AskConfig {
  std::int64_t trial = 0;
  std::int64_t donor = 0;
  std::int64_t number = 0;  ///< Of the copy, in the experiment.
};

/// Make the donor's checkpoint the newest of the trial, which has no processes → CheckpointCloned.
struct CloneCheckpoint {
  std::int64_t trial = 0;
  std::int64_t donor = 0;
  std::string checkpoint;  ///< The donor's.
  std::int64_t number = 0;
};

/// Keep these checkpoints of a trial whatever its retention says, and no others any more.
struct PinCheckpoints {
  std::int64_t trial = 0;
  std::vector<std::string> names;
};

/// The files of PBT get this line of the controller's log: the trial's, and that of all.
struct LogPolicy {
  std::int64_t trial = 0;
  std::size_t line = 0;
};

/// Have the trial's report return, or end the trial with it → TrialGone. The report was recorded.
struct AnswerTrial {
  std::int64_t trial = 0;
  std::int64_t number = 0;
  Decision decision;
};

/// Ask the front end for its verdict → FrontDecided.
struct AskVerdict {
  std::int64_t trial = 0;
  std::int64_t number = 0;
  Decision decision = {};  ///< The scheduler's.
};

/// Ask the front end which of these trials starts → TrialChosen.
struct AskTrial {
  std::vector<std::int64_t> candidates;
};

/// End the trial between two reports, with its processes → TrialGone.
struct StopTrial {
  std::int64_t trial = 0;
  std::string reason;
  bool aborts = false;  ///< It does not count as finished.
};

/// Tell who wants to know: the trial has ended, or is paused.
struct TellEnd {
  std::int64_t trial = 0;
  std::string state;  ///< A TrialState's name.
  std::string reason;
};

/// → TimeCame.
struct SetTimer {
  Time at{};
};

struct FinishExperiment {
  std::string state;  ///< "finished" or "stopped".
  std::string reason;
  /// How many trials there are, if it has finished because the search is over and all have ended.
  std::optional<std::int64_t> all_ended = {};
};

using TuneCommand =
    std::variant<AskSuggestions, StartTrial, ReleaseTrial, AnswerTrial, AskVerdict, AskTrial, AskConfig,
                 CloneCheckpoint, PinCheckpoints, LogPolicy, StopTrial, TellEnd, SetTimer, FinishExperiment>;
using TuneCommands = std::vector<TuneCommand>;

}  // namespace headway::control::tune
