#pragma once

#include "control/tune/decision.hpp"
#include "control/tune/experiment_spec.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What can happen to an experiment. The experiment's journal is these events in their order: they
/// are all that an experiment's state comes from.
namespace headway::control::tune {

/// How a trial's run had ended when the driver died before it could write TrialGone.
struct FoundEnd {
  std::int64_t trial = 0;
  std::string state;  ///< As TrialGone.
  std::string words;
};
BOOST_DESCRIBE_STRUCT(FoundEnd, (), (trial, state, words))

/// A driver has begun with the experiment. In the first event of each driver.
struct DriverBegan {
  static constexpr const char* is = "driver_began";
  ExperimentSpec spec;
  double unix_s = 0;                                     ///< Seconds since 1970, for people.
  std::optional<std::vector<FoundEnd>> found_ends = {};  ///< Of the driver before.
};
BOOST_DESCRIBE_STRUCT(DriverBegan, (), (spec, unix_s, found_ends))

/// A new trial, whose number is the count of those before it.
struct TrialSuggested {
  static constexpr const char* is = "trial_suggested";
  std::string trial_id;
  std::string config;  ///< JSON.
  std::string folder;  ///< In the experiment's.
  /// The number of an earlier driver's trial, whose configuration is tried once more by this one.
  std::optional<std::int64_t> replaces = {};
  std::optional<std::string> tag = {};  ///< What sets it apart, in words.
};
BOOST_DESCRIBE_STRUCT(TrialSuggested, (), (trial_id, config, folder, replaces, tag))

/// The search has nothing now; it is asked again once a trial has reported or ended.
struct NothingSuggested {
  static constexpr const char* is = "nothing_suggested";
};
BOOST_DESCRIBE_STRUCT(NothingSuggested, (), ())

/// It will never have anything again.
struct SearchOver {
  static constexpr const char* is = "search_over";
};
BOOST_DESCRIBE_STRUCT(SearchOver, (), ())

/// A trial's ranks are ready.
struct TrialReady {
  static constexpr const char* is = "trial_ready";
  std::int64_t trial = 0;
};
BOOST_DESCRIBE_STRUCT(TrialReady, (), (trial))

/// A trial's report was recorded. Its ranks wait for the verdict.
struct TrialReported {
  static constexpr const char* is = "trial_reported";
  std::int64_t trial = 0;
  std::int64_t number = 0;                ///< Of the report, over the trial's life, from 1.
  std::map<std::string, double> numbers;  ///< Of what is needed, those that it has.
  /// Its metrics' names, where it lacks something that is needed.
  std::optional<std::string> there = {};
  std::optional<std::string> checkpoint = {};  ///< That was committed with it.
  std::optional<bool> others_wait = {};        ///< Another trial waits for slots.
};
BOOST_DESCRIBE_STRUCT(TrialReported, (), (trial, number, numbers, there, checkpoint, others_wait))

/// The front end's answer to AskVerdict.
struct FrontDecided {
  static constexpr const char* is = "front_decided";
  std::int64_t trial = 0;
  std::int64_t number = 0;
  Verdict verdict = Verdict::go_on;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(FrontDecided, (), (trial, number, verdict, reason))

/// The front end's answer to AskTrial.
struct TrialChosen {
  static constexpr const char* is = "trial_chosen";
  std::int64_t trial = -1;  ///< -1: none of them now.
};
BOOST_DESCRIBE_STRUCT(TrialChosen, (), (trial))

/// The front end's answer to AskConfig.
struct TrialConfigured {
  static constexpr const char* is = "trial_configured";
  std::int64_t trial = 0;
  std::int64_t number = 0;  ///< The question's.
  std::string config;       ///< JSON.
};
BOOST_DESCRIBE_STRUCT(TrialConfigured, (), (trial, number, config))

/// The answer to CloneCheckpoint.
struct CheckpointCloned {
  static constexpr const char* is = "checkpoint_cloned";
  std::int64_t trial = 0;
  std::int64_t number = 0;
  std::optional<std::string> checkpoint;  ///< The trial's own, committed; none: it failed.
};
BOOST_DESCRIBE_STRUCT(CheckpointCloned, (), (trial, number, checkpoint))

/// A trial's function has returned, and its slots are free. Its processes are about to end.
struct TrialReturned {
  static constexpr const char* is = "trial_returned";
  std::int64_t trial = 0;
};
BOOST_DESCRIBE_STRUCT(TrialReturned, (), (trial))

/// The processes of a trial are gone, and all that it wrote is stored.
struct TrialGone {
  static constexpr const char* is = "trial_gone";
  std::int64_t trial = 0;
  std::string state;  ///< As RunOutcome: "finished", "errored" or "aborted".
  std::string words;  ///< Of the failure; why it stopped.
};
BOOST_DESCRIBE_STRUCT(TrialGone, (), (trial, state, words))

/// The front end ends a trial, which counts as terminated.
struct TrialStopAsked {
  static constexpr const char* is = "trial_stop_asked";
  std::int64_t trial = 0;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(TrialStopAsked, (), (trial, reason))

/// The experiment is to end. Its trials end as they would by Ctrl-C, and stay unfinished.
struct ExperimentStopAsked {
  static constexpr const char* is = "experiment_stop_asked";
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(ExperimentStopAsked, (), (reason))

/// The time that SetTimer named has come.
struct TimeCame {
  static constexpr const char* is = "time_came";
};
BOOST_DESCRIBE_STRUCT(TimeCame, (), ())

using TuneEvent = std::variant<DriverBegan, TrialSuggested, NothingSuggested, SearchOver, TrialReady, TrialReported,
                               FrontDecided, TrialChosen, TrialConfigured, CheckpointCloned, TrialReturned, TrialGone,
                               TrialStopAsked, ExperimentStopAsked, TimeCame>;

/// An event as a line of the journal, without its end. `at`: when the experiment heard it.
std::string to_line(Time at, const TuneEvent& event);

struct LoggedEvent {
  Time at{};
  TuneEvent event;
};
/// Errors: `corrupted`.
Result<LoggedEvent> from_line(std::string_view line);

}  // namespace headway::control::tune
