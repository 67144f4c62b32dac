#include "dashboard/live_site.hpp"

#include "core/location.hpp"
#include "dashboard/run_summary.hpp"
#include "driver/unix_time.hpp"
#include "wire/thread_pool.hpp"

#include <algorithm>
#include <array>
#include <pthread.h>
#include <unistd.h>

namespace headway::dashboard {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  (void)gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Whether time alone changes what is said of it. The last lines of a run's history are written
/// beside its end.
bool depends_on_time(const control::RunView& view) {
  constexpr double written_s = 3;
  if (control::is_over(view.state)) return driver::unix_seconds() - view.taken_unix_s < written_s;
  return view.wait.has_value() || view.state == control::RunState::scheduling;
}

}  // namespace

Result<std::unique_ptr<LiveSite>> LiveSite::open(std::shared_ptr<driver::Watch> watch) {
  auto site = std::unique_ptr<LiveSite>(new LiveSite(std::move(watch)));
  Result<std::thread> thread = wire::start_thread([raw = site.get()] {
    pthread_setname_np(pthread_self(), "headway-view");
    raw->look();
  });
  if (!thread) return thread.error();
  site->thread_ = std::move(*thread);
  return site;
}

LiveSite::LiveSite(std::shared_ptr<driver::Watch> watch)
    : watch_(std::move(watch)),
      driver_(json_text(JsonObject{{"host", host_name()}, {"pid", static_cast<std::int64_t>(getpid())}})) {}

LiveSite::~LiveSite() {
  watch_->give_up();
  if (thread_.joinable()) thread_.join();
}

/// How long a wait has lasted changes what is said of a run, although nothing happens: so each
/// second is looked at.
void LiveSite::look() {
  while (true) {
    const auto snapshot = watch_->next(std::chrono::seconds(1));
    if (snapshot) {
      const std::lock_guard lock(mutex_);
      newest_ = snapshot;
    } else if (watch_->is_given_up() || watch_->is_over()) {
      return;
    }
    if (newest_) show(*newest_);
  }
}

void LiveSite::show(const driver::Snapshot& snapshot) {
  Overview overview;
  overview.taken_unix_s = snapshot.taken_unix_s;
  overview.mode = "\"live\"";
  overview.driver = driver_;
  std::map<std::int64_t, Shown> shown;
  for (const auto& run : snapshot.runs) {
    const auto before = shown_.find(run->run_id);
    const bool same = before != shown_.end() && before->second.status == run && !depends_on_time(run->view);
    Shown now{run, same ? before->second.part : part_of_run(run, snapshot)};
    overview.runs.push_back(now.part);
    shown.emplace(run->run_id, std::move(now));
  }
  shown_ = std::move(shown);
  for (const Experiment& experiment : known_experiments()) {
    const ExperimentSummary summary = experiment.file->with(
        [&](const ExperimentRecord& record) { return summary_of(experiment.id, experiment.folder, record, true); });
    overview.experiments.push_back(std::make_shared<const Part>(Part{experiment.id, to_json_text(summary)}));
  }
  overview.nodes = nodes_now(snapshot.engine.nodes);
  overview.waiting = to_json_text(snapshot.engine.waiting);
  events().publish(std::move(overview));
}

/// A change has all nodes in it: of many, what is in use is news each five seconds alone.
std::string LiveSite::nodes_now(const std::vector<engine::NodeView>& nodes) {
  constexpr std::size_t few = 64;
  constexpr auto pause = std::chrono::seconds(5);
  if (nodes.size() <= few) return to_json_text(nodes);
  if (const auto now = std::chrono::steady_clock::now(); now - uses_at_ >= pause) {
    uses_at_ = now;
    uses_.clear();
    for (const engine::NodeView& each : nodes) uses_[each.node.node_id] = each.use;
  }
  std::vector<engine::NodeView> shown = nodes;
  for (engine::NodeView& each : shown) each.use = uses_[each.node.node_id];
  return to_json_text(shown);
}

std::vector<LiveSite::Experiment> LiveSite::known_experiments() const {
  const std::lock_guard lock(mutex_);
  return experiments_;
}

/// A run whose folder lies in an experiment's is one of its trials.
std::optional<std::string> LiveSite::experiment_of(const driver::RunStatus& run) {
  const std::string parent = parent_location(run.location);
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = parents_.try_emplace(parent);
  if (is_new && has_experiment(parent)) {
    std::string id = name_of(parent);
    const auto taken = std::ranges::count(experiments_, id, &Experiment::id);
    if (taken > 0) id += "-" + std::to_string(experiments_.size() + 1);
    place->second = experiments_.size();
    experiments_.push_back({id, parent, experiment_in(parent)});
  }
  if (!place->second) return std::nullopt;
  return experiments_[*place->second].id;
}

SeenRun LiveSite::seen(const driver::RunStatus& run, const driver::Snapshot& snapshot) {
  SeenRun seen;
  seen.id = std::to_string(run.run_id);
  seen.path = run.path;
  seen.location = run.location;
  // What was staged is on storage by then.
  const bool over = control::is_over(run.view.state);
  seen.files = over || run.local_path.empty() ? run.location : run.local_path;
  seen.view = std::shared_ptr<const control::RunView>(std::shared_ptr<void>(), &run.view);
  if (!over) seen.context.age_s = std::max(0.0, driver::unix_seconds() - run.view.taken_unix_s);
  const auto waiting = std::ranges::find(snapshot.engine.waiting, run.run_id, &engine::WaitingView::holder);
  if (waiting != snapshot.engine.waiting.end()) {
    seen.context.wanted = waiting->wanted;
    seen.context.wants_nodes = waiting->for_nodes;
  }
  seen.experiment = experiment_of(run);
  return seen;
}

std::shared_ptr<const Part> LiveSite::part_of_run(const std::shared_ptr<const driver::RunStatus>& run,
                                                  const driver::Snapshot& snapshot) {
  SeenRun now = seen(*run, snapshot);
  if (run->view.state == control::RunState::running) now.context.data = data_times_in(now.files);
  if (run->view.wait && run->view.wait->for_s + now.context.age_s >= stalled_s) {
    now.context.place = place_of_awaited(*shelf().of(now.files), run->view);
  }
  if (straggler_of(run->view)) {
    shelf().of(now.files)->with(
        [&](const RunRecord& record, const Series&) { now.context.straggler = straggler_now(run->view, record); });
  }
  RunSummary summary = summary_of(now.id, now.path, *now.view, now.context, now.experiment);
  // The list has no trials, and nobody waits here for remote storage.
  if (!now.experiment && !is_remote(now.files)) add_history(summary, now.files, *now.view, now.context);
  return part_of(summary);
}

std::string LiveSite::first_state() const {
  return R"({"number":0,"version":1,"mode":"live","driver":)" + driver_ +
         R"(,"runs":[],"experiments":[],"nodes":[],"waiting":[]})";
}

Result<SeenRun> LiveSite::find_run(const std::string& id) {
  std::shared_ptr<const driver::Snapshot> newest;
  {
    const std::lock_guard lock(mutex_);
    newest = newest_;
  }
  if (newest) {
    const auto found = std::ranges::find(newest->runs, id, [](const auto& run) { return std::to_string(run->run_id); });
    if (found != newest->runs.end()) {
      SeenRun run = seen(**found, *newest);
      run.view = std::shared_ptr<const control::RunView>(*found, &(*found)->view);
      return run;
    }
  }
  return find_trial(id);
}

Result<SeenExperiment> LiveSite::find_experiment(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(experiments_, id, &Experiment::id);
  if (found == experiments_.end()) {
    return Error{ErrorKind::not_found, "there is no experiment " + id.substr(0, 200)};
  }
  return SeenExperiment{found->id, found->file, true};
}

}  // namespace headway::dashboard
