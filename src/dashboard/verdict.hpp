#pragma once

#include "control/data_watch.hpp"
#include "control/run_view.hpp"
#include "dashboard/straggler.hpp"

#include <optional>
#include <string>

namespace headway::dashboard {

enum class VerdictLevel {
  good,  ///< It trains.
  wait,  ///< It waits for something that may come, or trains slower than it could.
  bad,   ///< It stands still, or has failed.
  done   ///< It has ended as it should, or as somebody asked.
};
BOOST_DESCRIBE_ENUM(VerdictLevel, good, wait, bad, done)

/// What a run does at this moment, or why it ended: one line for a person who knows nothing of it.
struct RunVerdict {
  std::string words;
  VerdictLevel level = VerdictLevel::good;
  /// When that began, in seconds since 1970; unset where it is not known.
  std::optional<double> since_s;
};
BOOST_DESCRIBE_STRUCT(RunVerdict, (), (words, level, since_s))

/// What is known of a run beside its view.
struct VerdictContext {
  /// The view is so much older than the moment that the verdict is about.
  double age_s = 0;
  bool driver_lost = false;  ///< Its driver has died, and said nothing of an end.
  /// Of data_waits.json.
  std::optional<control::DataTimes> data = {};
  /// What the run waits for at the engine ("2 workers with {GPU: 1} each"), and whether nodes must
  /// join for it.
  std::string wanted = {};
  bool wants_nodes = false;
  /// Where the rank is that is waited for: "rank 5 is in read_shard() at reader.py:57".
  std::string place = {};
  /// Of a run at work, where its record knows more of the slow rank than the view.
  std::optional<Straggler> straggler = {};
};

/// A wait that takes longer is what a run does; shorter ones are a part of every report.
inline constexpr double told_wait_s = 5;
/// From then on the run stands still.
inline constexpr double stalled_s = 30;

/// "read_shard() at reader.py:57" of a stack with the innermost frame first: the call that it is
/// in, and the line of the user's that led there. Empty: it has no line of the user's.
std::string place_in_stack(const std::string& text);

/// The same of a Python traceback: its last frame of the user's.
std::string place_in_traceback(const std::string& text);

/// The first line of why something ended; where a signal says nothing of who sent it, with who may
/// have.
std::string end_words(const std::string& text);

RunVerdict verdict_of(const control::RunView& view, const VerdictContext& context);

}  // namespace headway::dashboard
