#include "core/location.hpp"
#include "driver/found_run.hpp"
#include "library/run_request.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <array>

/// A run as its folder tells of it.
namespace headway::library {
namespace {

/// A file's text; none when it is not there.
Result<std::optional<std::string>> read_if_there(const std::string& location) {
  Result<std::string> text = storage::read_file(location);
  if (text) return std::optional(std::move(*text));
  if (text.error().kind == ErrorKind::not_found) return std::optional<std::string>();
  return text.error();
}

/// The last line that is whole; "null" without one.
std::string last_whole_line(const std::string& text) {
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos || end == 0) return "null";
  const std::size_t before = text.rfind('\n', end - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin);
}

/// The report's metrics and, where the journal has them, its validation's.
const JsonObject& metrics_of(const Manifest& manifest, const control::Journal& journal) {
  const auto known = std::find_if(journal.checkpoints.begin(), journal.checkpoints.end(), [&](const auto& kept) {
    return kept.name == manifest.checkpoint && kept.report == manifest.index;
  });
  return known == journal.checkpoints.end() ? manifest.metrics : known->metrics;
}

}  // namespace

Result<RunEnd> found_end(const std::string& location) {
  const Result<control::Journal> journal = driver::read_journal(location);
  if (!journal) return journal.error();
  RunEnd end;
  end.path = location;
  end.attempts = journal->attempt;
  end.dropped_checkpoints = journal->dropped_checkpoints.value_or(0);
  end.finished = journal->state == "finished";
  if (journal->failure) end.error = Error{error_kind_of(journal->failure_kind.value_or("")), *journal->failure};
  std::vector<Error> unreadable;
  const Result<std::vector<Manifest>> checkpoints = storage::list_checkpoints(location, &unreadable);
  if (!checkpoints) return checkpoints.error();
  for (const Error& error : unreadable) end.damage.push_back(error.message);
  for (const Manifest& manifest : *checkpoints) {
    end.checkpoints.push_back(join_location(location, manifest.checkpoint));
    end.checkpoint_metrics_json.push_back(json_text(metrics_of(manifest, *journal)));
  }
  const Result<std::optional<std::string>> reports = read_if_there(join_location(location, "result.json"));
  if (!reports) return reports.error();
  if (*reports) end.last_report_json = last_whole_line(**reports);
  const Result<std::optional<std::string>> config = read_if_there(join_location(location, "params.json"));
  if (!config) return config.error();
  if (*config) end.config_json = **config;
  for (const std::string* text : {&end.last_report_json, &end.config_json}) {
    if (const auto json = parse_json(*text, "a file of " + shown_location(location)); !json) return json.error();
  }
  return end;
}

ErrorKind error_kind_of(std::string_view name) {
  constexpr std::array kinds{ErrorKind::invalid_argument, ErrorKind::not_found,   ErrorKind::already_exists,
                             ErrorKind::unavailable,      ErrorKind::refused,     ErrorKind::corrupted,
                             ErrorKind::user_code,        ErrorKind::worker_died, ErrorKind::preempted,
                             ErrorKind::aborted,          ErrorKind::superseded,  ErrorKind::unknown_outcome};
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](ErrorKind kind) { return name == to_string(kind); });
  return found == kinds.end() ? ErrorKind::internal : *found;
}

}  // namespace headway::library
