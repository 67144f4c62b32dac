#include "dashboard/verdict.hpp"

#include "core/text.hpp"
#include "data/verdict.hpp"

#include <sstream>

namespace headway::dashboard {
namespace {

using control::RunState;
using control::RunView;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Of several attempts it says which one it was.
std::string failure_line(const RunView& view) {
  const std::string line = first_line(view.failure->message);
  return end_words(view.attempt > 1 ? line : without_attempt(line));
}

std::string workers_words(int count) { return std::to_string(count) + (count == 1 ? " worker" : " workers"); }

/// Its last attempt's end; empty when there is none.
std::string last_end(const RunView& view) { return view.ended.empty() ? "" : first_line(view.ended.back().end); }

/// Files of installed packages have their names alone in a stack, those of Python their paths.
bool is_users(const std::string& file) {
  return file.starts_with('/') && file.find("/lib/python3") == std::string::npos;
}

/// A function's name, so that it reads as one; "<module>" is none.
std::string called(const std::string& name) {
  return name.starts_with('<') || name.ends_with(')') ? name : name + "()";
}

/// "rank 1 stood in next_shard() at train.py:65 and did not come to report #3, in which ...".
std::string hang_words(const RunView& view) {
  const std::string line = failure_line(view);
  const std::string rank = "rank " + std::to_string(view.failure->ranks.front().rank) + " ";
  const std::string place = place_in_stack(view.failure->message);
  const bool tells = line.starts_with(rank) && !place.empty();
  return "hung: " + (tells ? rank + "stood in " + place + " and " + line.substr(rank.size()) : line) +
         "; ended by hang_fail_s";
}

/// "; rank 1 (pid 1930 on node-a), fails() at train.py:80".
std::string raised_words(const control::RankFailure& rank) {
  if (!rank.exception || !rank.pid) return "";
  const std::string place = place_in_traceback(rank.exception->traceback);
  return "; rank " + std::to_string(rank.rank) + " (pid " + std::to_string(*rank.pid) +
         (rank.hostname ? " on " + *rank.hostname : "") + ")" + (place.empty() ? "" : ", " + place);
}

std::string failed_words(const RunView& view) {
  if (!view.failure) return "failed: no reason is known";
  const auto& ranks = view.failure->ranks;
  if (!ranks.empty() && ranks.front().kind == control::RankFailureKind::hang) return hang_words(view);
  return "failed: " + failure_line(view) + (ranks.size() == 1 ? raised_words(ranks.front()) : "");
}

RunVerdict end_verdict(const RunView& view) {
  if (view.state == RunState::finished) {
    const int restarts = view.attempt - 1;
    const std::string after =
        restarts <= 0 ? "" : ", with " + std::to_string(restarts) + (restarts == 1 ? " restart" : " restarts");
    const std::string reason = view.stop_reason ? ": " + first_line(*view.stop_reason) : "";
    return {"finished after " + std::to_string(view.reports.count) +
                (view.reports.count == 1 ? " report" : " reports") + after + reason,
            VerdictLevel::done,
            {}};
  }
  if (view.state == RunState::failed) {
    return {failed_words(view), VerdictLevel::bad, {}};
  }
  const bool preempted = view.failure && view.failure->preemption;
  const std::string reason = view.abort_reason          ? first_line(*view.abort_reason)
                             : view.failure.has_value() ? failure_line(view)
                                                        : "";
  return {std::string(preempted ? "preempted" : "aborted") + (reason.empty() ? "" : ": " + reason),
          preempted ? VerdictLevel::wait : VerdictLevel::done,
          {}};
}

RunVerdict running_verdict(const RunView& view, const VerdictContext& context) {
  if (view.wait && view.wait->for_s + context.age_s >= told_wait_s) {
    const double lasted = view.wait->for_s + context.age_s;
    const bool stalled = lasted >= stalled_s;
    const std::string place = context.place.empty() ? "" : "; " + context.place;
    return {(stalled ? "stalled: " : "waiting: ") + view.wait->words + place,
            stalled ? VerdictLevel::bad : VerdictLevel::wait, view.taken_unix_s - view.wait->for_s};
  }
  const double since = view.taken_unix_s - view.state_for_s;
  if (context.data && context.data->verdict.is_data_bound) {
    return {"training, " + context.data->verdict.words, VerdictLevel::wait, since};
  }
  if (const auto straggler = context.straggler ? context.straggler : straggler_of(view)) {
    return {"training; " + straggler->words, VerdictLevel::wait, straggler->since_unix_s.value_or(since)};
  }
  return {"training on " + workers_words(view.workers), VerdictLevel::good, since};
}

RunVerdict scheduling_verdict(const RunView& view, const VerdictContext& context) {
  const std::string wanted = context.wanted.empty() ? workers_words(view.workers_max) : context.wanted;
  const std::string what = context.wants_nodes ? "waiting for nodes: " : "waiting for capacity: ";
  return {what + wanted, VerdictLevel::wait, view.taken_unix_s - view.state_for_s};
}

RunVerdict starting_verdict(const RunView& view, const VerdictContext& context) {
  const bool recovering = !view.ended.empty();
  std::string words = recovering ? "recovering, attempt " + std::to_string(view.attempt) + " starts " : "starting ";
  words += workers_words(view.workers);
  double since = view.taken_unix_s - view.state_for_s;
  if (view.wait && view.wait->for_s + context.age_s >= told_wait_s) {
    words += "; " + view.wait->words;
    since = view.taken_unix_s - view.wait->for_s;
  }
  if (recovering) words += "; " + last_end(view);
  const bool stalled = view.wait && view.wait->for_s + context.age_s >= stalled_s;
  return {words, stalled ? VerdictLevel::bad : VerdictLevel::wait, since};
}

}  // namespace

std::string place_in_stack(const std::string& text) {
  std::istringstream lines(text);
  std::string call;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.rfind(" (");
    const std::size_t colon = line.rfind(':');
    if (open == std::string::npos || colon == std::string::npos || colon < open || !line.ends_with(')')) continue;
    const std::string file = line.substr(open + 2, colon - open - 2);
    if (call.empty()) call = std::string(trimmed(line.substr(0, open)));
    if (!is_users(file)) continue;
    return called(call) + " at " + file.substr(file.rfind('/') + 1) + line.substr(colon, line.size() - colon - 1);
  }
  return "";
}

std::string place_in_traceback(const std::string& text) {
  std::istringstream lines(text);
  std::string place;
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view begin = "  File \"";
    constexpr std::string_view before_line = "\", line ";
    const std::size_t end = line.rfind(before_line);
    const std::size_t in = line.rfind(", in ");
    if (!line.starts_with(begin) || end == std::string::npos || in == std::string::npos || in < end) continue;
    const std::string file = line.substr(begin.size(), end - begin.size());
    if (!is_users(file)) continue;
    const std::size_t number = end + before_line.size();
    place = called(line.substr(in + 5)) + " at " + file.substr(file.rfind('/') + 1) + ":" +
            line.substr(number, in - number);
  }
  return place;
}

std::string end_words(const std::string& text) {
  std::string line = first_line(text);
  const std::size_t killed = line.find(" killed by SIGKILL");
  if (killed == std::string::npos || line.find(": ", killed) != std::string::npos) return line;
  return line + " (perhaps out of memory, by the scheduler, or by hand)";
}

RunVerdict verdict_of(const RunView& view, const VerdictContext& context) {
  const double since = view.taken_unix_s - view.state_for_s;
  if (control::is_over(view.state)) return end_verdict(view);
  if (context.driver_lost) {
    return {std::string("lost: its driver died while the run was ") + control::to_string(view.state), VerdictLevel::bad,
            view.taken_unix_s};
  }
  switch (view.state) {
    case RunState::created:
    case RunState::preparing: return {"preparing storage", VerdictLevel::wait, since};
    case RunState::scheduling: return scheduling_verdict(view, context);
    case RunState::starting: return starting_verdict(view, context);
    case RunState::running: return running_verdict(view, context);
    case RunState::restarting: return {"recovering: " + last_end(view), VerdictLevel::wait, since};
    case RunState::shutting_down: return {"ending " + workers_words(view.workers), VerdictLevel::good, since};
    case RunState::validating: return {"validating checkpoints", VerdictLevel::good, since};
    default: return {"bringing files to storage", VerdictLevel::good, since};
  }
}

}  // namespace headway::dashboard
