#include "driver/tune/experiment_journal.hpp"

#include "driver/event_file.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace headway::driver {
namespace {

namespace tune = control::tune;

constexpr std::size_t checksum_width = 9;

/// Eight digits, and a space.
std::string checksum_of(std::string_view text) {
  std::array<char, checksum_width + 1> checksum{};
  std::snprintf(checksum.data(), checksum.size(), "%08x ", masked_crc32c(text));
  return checksum.data();
}

/// What a line says, when its checksum agrees.
std::optional<std::string_view> told_by(std::string_view line) {
  if (line.size() <= checksum_width) return std::nullopt;
  const std::string_view text = line.substr(checksum_width);
  if (line.substr(0, checksum_width) != checksum_of(text)) return std::nullopt;
  return text;
}

/// Whoever writes has not died before these bytes.
bool has_whole_line(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (told_by(text.substr(0, end))) return true;
    text.remove_prefix(end + 1);
  }
  return false;
}

/// What is starting has no processes yet.
tune::TrialState shown_state(tune::TrialState state) {
  return state == tune::TrialState::starting ? tune::TrialState::waiting : state;
}

Json shown_trial(const tune::Trial& trial) {
  JsonObject shown = to_json(trial).as_object();
  shown["state"] = to_json(shown_state(trial.state));
  for (const char* name : {"left", "tag", "copied"}) shown.erase(name);
  return shown;
}

/// One that has errored may start again.
void forget(tune::TuneController& controller, const tune::TuneEvent& event) {
  const auto* gone = std::get_if<tune::TrialGone>(&event);
  if (gone == nullptr || gone->trial < 0 || std::cmp_greater_equal(gone->trial, controller.trials().size())) return;
  const tune::Trial& trial = controller.trials()[static_cast<std::size_t>(gone->trial)];
  if (trial.state == tune::TrialState::terminated) controller.forget_ended(gone->trial);
}

}  // namespace

std::string line_of(std::string_view text) { return checksum_of(text) + std::string(text) + "\n"; }

std::string journal_line(Time at, const tune::TuneEvent& event) { return line_of(tune::to_line(at, event)); }

Result<FoundExperiment> find_experiment(const std::string& directory, bool lean) {
  const std::string path = storage::join(directory, experiment_journal_name);
  const Result<std::string> text = storage::read_whole(path);
  if (!text) return text.error();
  FoundExperiment found;
  for (std::size_t end = text->find('\n'); end != std::string::npos; end = text->find('\n', found.whole_bytes)) {
    const auto line = told_by(std::string_view(*text).substr(found.whole_bytes, end - found.whole_bytes));
    if (!line && has_whole_line(std::string_view(*text).substr(end + 1))) {
      return Error{ErrorKind::corrupted, path + " is damaged at byte " + std::to_string(found.whole_bytes)};
    }
    if (!line) break;
    const Result<tune::LoggedEvent> logged = tune::from_line(*line);
    if (!logged) {
      return Error{ErrorKind::corrupted, path + " has a line that another version of Headway has written, at byte " +
                                             std::to_string(found.whole_bytes) + ": " + logged.error().message};
    }
    (void)found.controller.handle(logged->at, logged->event);
    if (lean) forget(found.controller, logged->event);
    found.at = logged->at;
    found.whole_bytes = end + 1;
  }
  return found;
}

Result<ExperimentJournal> ExperimentJournal::open(const std::string& directory, std::uint64_t whole_bytes) {
  const std::string path = storage::join(directory, experiment_journal_name);
  const Result<storage::File> file = storage::open_file(path, O_WRONLY | O_CREAT);
  if (!file) return file.error();
  if (::ftruncate(file->descriptor(), static_cast<off_t>(whole_bytes)) != 0) {
    return storage::system_error("shorten", path, errno);
  }
  if (auto synced = file->sync(); !synced) return synced.error();
  if (auto synced = storage::sync_directory(directory); !synced) return synced.error();
  return ExperimentJournal(path);
}

Result<void> ExperimentJournal::append(std::string_view lines) { return file_->append(lines); }

Result<void> ExperimentJournal::sync() { return file_->sync(); }

Result<std::vector<tune::Trial>> read_trials(const std::string& directory) {
  Result<FoundExperiment> found = find_experiment(directory);
  if (!found) return found.error();
  std::vector<tune::Trial> trials = std::move(found->controller).trials();
  for (tune::Trial& trial : trials) trial.state = shown_state(trial.state);
  return trials;
}

Result<std::string> read_experiment(const std::string& directory) {
  const Result<FoundExperiment> found = find_experiment(directory);
  if (!found) return found.error();
  JsonObject shown;
  shown["spec"] = to_json(found->controller.spec());
  boost::json::array trials;
  for (const tune::Trial& trial : found->controller.trials()) trials.push_back(shown_trial(trial));
  shown["trials"] = std::move(trials);
  shown["search_over"] = found->controller.search_over();
  return json_text(Json(std::move(shown)));
}

}  // namespace headway::driver
