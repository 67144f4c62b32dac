#pragma once

#include "control/run_outcome.hpp"
#include "core/json.hpp"
#include "core/worker.hpp"
#include "wire/frame.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What the driver's loop passes to the thread that serves a run in the front end. Both languages
/// have these structs under these names (`headway._core`). Each has at most one part of raw bytes.
namespace headway::driver {

/// A rank printed a line.
struct RankLine {
  int rank = 0;
  wire::Blob line;  ///< Without its end; bytes as written.
};
BOOST_DESCRIBE_STRUCT(RankLine, (), (rank, line))

/// A rank draws a line anew, such as a progress bar; the line is not whole yet.
struct RankRedraws {
  int rank = 0;
  wire::Blob line;  ///< As it looks now.
};
BOOST_DESCRIBE_STRUCT(RankRedraws, (), (rank, line))

/// What the run is doing now, in a line; each second once Run::show_moving_line was called.
struct MovingLineShown {
  std::string text;
};
BOOST_DESCRIBE_STRUCT(MovingLineShown, (), (text))

/// A process of the run that is no rank printed a line.
struct HelperLine {
  std::string helper;  ///< Its name, such as "validation of checkpoint_000003".
  wire::Blob line;
};
BOOST_DESCRIBE_STRUCT(HelperLine, (), (helper, line))

/// Something to show to the user.
struct Notice {
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Notice, (), (text))

/// The same, and the user may have to act.
struct RunWarning {
  std::string text;
};
BOOST_DESCRIBE_STRUCT(RunWarning, (), (text))

/// A report was accepted; for display. When reports come faster than they are taken, the oldest are
/// dropped.
struct ReportRecorded {
  JsonObject line;  ///< As in result.json.
};
BOOST_DESCRIBE_STRUCT(ReportRecorded, (), (line))

/// A report was accepted; for the run's callbacks, which miss none → Run::report_heard.
struct CallbackReport {
  JsonObject line;                  ///< As in result.json.
  std::vector<JsonObject> metrics;  ///< By rank.
};
BOOST_DESCRIBE_STRUCT(CallbackReport, (), (line, metrics))

/// An attempt has failed; another one may follow.
struct AttemptFailed {
  int attempt = 0;
  control::RunFailure failure;
};
BOOST_DESCRIBE_STRUCT(AttemptFailed, (), (attempt, failure))

/// All ranks are ready: call the set-up hooks → Run::setup_finished.
struct SetupAsked {
  int attempt = 0;
  int workers = 0;
};
BOOST_DESCRIBE_STRUCT(SetupAsked, (), (attempt, workers))

/// All ranks have returned: call the tear-down hooks → Run::teardown_finished.
struct TeardownAsked {
  int attempt = 0;
};
BOOST_DESCRIBE_STRUCT(TeardownAsked, (), (attempt))

/// A rank's answer to Run::execute.
struct CallExecuted {
  std::int64_t call_id = 0;
  int rank = 0;
  std::optional<RankError> error;
  wire::Blob value;  ///< The pickled value; the pickled exception when there is an `error`.
};
BOOST_DESCRIBE_STRUCT(CallExecuted, (), (call_id, rank, error, value))

/// Rank 0's training function has returned.
struct FunctionReturned {
  wire::Blob value;
};
BOOST_DESCRIBE_STRUCT(FunctionReturned, (), (value))

/// A rank's training function has raised.
struct FunctionRaised {
  int attempt = 0;
  int rank = 0;
  wire::Blob exception;  ///< Null when it cannot be pickled.
};
BOOST_DESCRIBE_STRUCT(FunctionRaised, (), (attempt, rank, exception))

/// An alarm: what is the thread in the hook doing? → Run::hook_examined.
struct ExamineHook {
  std::int64_t examination = 0;
};
BOOST_DESCRIBE_STRUCT(ExamineHook, (), (examination))

/// An alarm: the hook has taken too long; have it raise an error.
struct InterruptHook {
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(InterruptHook, (), (reason))

/// The run has ended. No event follows.
struct Finished {
  control::RunOutcome outcome;
  std::string last_report_json;  ///< As in result.json; empty without a report.
};
BOOST_DESCRIBE_STRUCT(Finished, (), (outcome, last_report_json))

using FrontEvent = std::variant<RankLine, RankRedraws, MovingLineShown, HelperLine, Notice, RunWarning, ReportRecorded,
                                CallbackReport, AttemptFailed, SetupAsked, TeardownAsked, CallExecuted,
                                FunctionReturned, FunctionRaised, ExamineHook, InterruptHook, Finished>;

}  // namespace headway::driver
