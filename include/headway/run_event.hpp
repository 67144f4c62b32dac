#pragma once

#include <headway/json.hpp>

#include <map>
#include <string>
#include <variant>

/// What happens in a run, as `RunHandle::next_event` returns it.
namespace headway::events {

/// A rank printed a line.
struct RankLine {
  int rank = 0;
  std::string line;  ///< Without its end; bytes as written.
};

/// A process of the run that is no rank printed a line.
struct HelperLine {
  std::string helper;  ///< Its name, such as "validation of checkpoint_000003".
  std::string line;
};

/// Something to show to the user.
struct Notice {
  std::string text;
};

/// The same, and the user may have to act.
struct RunWarning {
  std::string text;
};

/// A report was recorded.
struct ReportRecorded {
  Json line;  ///< As in result.json.
};

/// An attempt has failed; another one may follow.
struct AttemptFailed {
  int attempt = 0;
  std::string message;
  std::map<int, std::string> failures;  ///< By rank: how it failed, in words.
};

/// The run has ended. No event follows.
struct Finished {
  std::string state;  ///< "finished", "errored" or "aborted".
  int attempts = 0;   ///< Lives of the worker group: 1 without a restart.
};

using Event = std::variant<RankLine, HelperLine, Notice, RunWarning, ReportRecorded, AttemptFailed, Finished>;

}  // namespace headway::events
