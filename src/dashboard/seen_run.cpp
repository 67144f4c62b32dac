#include "dashboard/seen_run.hpp"

#include "core/location.hpp"
#include "driver/found_run.hpp"
#include "driver/unix_time.hpp"
#include "node/process_identity.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace headway::dashboard {
namespace {

using control::RunState;
using control::RunView;

RunState state_of(const std::string& name) {
  if (name == "errored") return RunState::failed;
  const Result<RunState> state = from_json<RunState>(Json(boost::json::string(name)), "a state");
  return state ? *state : RunState::created;
}

control::RunFailure failure_of(const control::Journal& journal) {
  control::RunFailure failure;
  failure.message = *journal.failure;
  if (journal.failure_kind) {
    const auto kind = from_json<ErrorKind>(Json(boost::json::string(*journal.failure_kind)), "a kind");
    if (kind) failure.kind = *kind;
  }
  failure.ranks = journal.failed_ranks.value_or(std::vector<control::RankFailure>{});
  failure.in_collective = journal.failed_in_collective.value_or(false);
  failure.preemption = journal.preemption;
  failure.source = journal.failure_source.value_or(control::FailureSource::group);
  return failure;
}

std::string host_here() {
  std::array<char, 256> name{};
  (void)gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// What the driver of a run at work wrote last.
struct Told {
  RunView view;
  std::string owner;
  std::string host;
  node::ProcessIdentity driver;
};

std::optional<Told> told_in(const std::string& location) {
  const Result<std::string> text = storage::read_file(join_location(location, "status.json"));
  if (!text) return std::nullopt;
  const Result<Json> json = parse_json(*text, "status.json");
  const JsonObject* object = json ? json->if_object() : nullptr;
  if (object == nullptr) return std::nullopt;
  const auto member = [&](const char* name) -> Json {
    const Json* found = object->if_contains(name);
    return found != nullptr ? *found : Json();
  };
  const auto view = from_json<RunView>(member("view"), "status.json");
  const auto driver = from_json<node::ProcessIdentity>(member("driver"), "status.json");
  if (!view || !driver || !member("owner").is_string() || !member("host").is_string()) return std::nullopt;
  return Told{*view, std::string(member("owner").get_string()), std::string(member("host").get_string()), *driver};
}

}  // namespace

RunView view_of(const control::Journal& journal) {
  RunView view;
  view.name = journal.spec.run.name;
  view.storage_path = shown_location(journal.spec.run.storage_path);
  view.trial_id = journal.spec.trial_id;
  view.taken_unix_s = journal.written_unix_s;
  view.state = state_of(journal.state);
  view.time_total_s = journal.time_total_s;
  view.attempt = journal.attempt;
  for (std::size_t place = 0; place < journal.attempt_ends.size(); ++place) {
    view.ended.push_back({static_cast<int>(place) + 1, journal.attempt_ends[place]});
  }
  view.failures = journal.failures;
  view.start_failures = journal.start_failures;
  view.preemptions = journal.preemptions;
  view.reports.count = journal.reports;
  view.checkpoints = std::make_shared<const std::vector<control::KeptCheckpoint>>(journal.checkpoints);
  if (journal.failure) view.failure = failure_of(journal);
  view.stop_reason = journal.stop_reason;
  view.abort_reason = journal.abort_reason;
  return view;
}

Result<SeenRun> run_in(const std::string& location, const std::string& id) {
  const Result<control::Journal> journal = driver::read_journal(location);
  if (!journal) return journal.error();
  SeenRun run;
  run.id = id;
  run.path = shown_location(location);
  run.location = run.files = location;
  RunView view = view_of(*journal);
  // The storage path is that of whoever wrote it; the folder may have been moved or renamed.
  view.name = name_of(location);
  if (control::is_over(view.state)) {
    run.view = std::make_shared<const RunView>(std::move(view));
    return run;
  }
  std::optional<Told> told = told_in(location);
  const bool here = told && told->host == host_here();
  const bool lives = here && node::is_alive(told->driver);
  run.context.driver_lost = !is_remote(location) && (!told || (here && !lives));
  // A driver before the one that wrote the journal may have left it.
  if (told && (lives || !here || told->owner == journal->owner)) view = std::move(told->view);
  run.context.age_s = std::max(0.0, driver::unix_seconds() - view.taken_unix_s);
  run.view = std::make_shared<const RunView>(std::move(view));
  return run;
}

}  // namespace headway::dashboard
