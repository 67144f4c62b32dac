#include "dashboard/routed_site.hpp"

#include "core/location.hpp"
#include "dashboard/json_answer.hpp"
#include "dashboard/prometheus.hpp"
#include "dashboard/run_routes.hpp"

namespace headway::dashboard {

Answer RoutedSite::answer(const Target& target) {
  const std::vector<std::string>& path = target.path;
  if (path == std::vector<std::string>{"metrics"}) return answer_metrics(events_.newest().get());
  if (path.size() < 2 || path[0] != "api") return answer_of(nothing_here());
  if (path[1] == "state" && path.size() == 2) {
    const auto newest = events_.newest();
    return {200, newest ? newest->text() : first_state()};
  }
  if (path[1] == "series" && path.size() == 2) {
    const Result<SeenRun> run = find_run(target.text("run"));
    return run ? answer_series(*run, shelf_, target) : answer_of(run.error());
  }
  if (path.size() < 3) return answer_of(nothing_here());
  const std::vector<std::string> rest(path.begin() + 3, path.end());
  if (path[1] == "runs") {
    const Result<SeenRun> run = find_run(path[2]);
    return run ? answer_run(*run, shelf_, rest, target) : answer_of(run.error());
  }
  if (path[1] == "experiments") {
    const Result<SeenExperiment> experiment = find_experiment(path[2]);
    return experiment ? answer_experiment(*experiment, rest, target) : answer_of(experiment.error());
  }
  return answer_of(nothing_here());
}

std::shared_ptr<ExperimentFile> RoutedSite::experiment_in(const std::string& folder) {
  const std::lock_guard lock(experiments_mutex_);
  std::shared_ptr<ExperimentFile>& file = experiments_[folder];
  if (!file) file = std::make_shared<ExperimentFile>(folder);
  return file;
}

Result<SeenRun> RoutedSite::find_trial(const std::string& id) {
  const Error unknown{ErrorKind::not_found, "there is no run " + id.substr(0, 200)};
  const std::size_t slash = id.find('/');
  if (slash == std::string::npos) return unknown;
  const Result<SeenExperiment> experiment = find_experiment(id.substr(0, slash));
  if (!experiment) return unknown;
  const std::string folder = id.substr(slash + 1);
  // Only what the experiment itself has named: nothing leads elsewhere.
  const bool known = experiment->file->with([&](const ExperimentRecord& record) {
    for (const control::tune::Trial& trial : record.trials()) {
      if (trial.folder == folder) return true;
    }
    return false;
  });
  if (!known || folder.find("..") != std::string::npos || folder.starts_with('/')) return unknown;
  Result<SeenRun> run = run_in(join_location(experiment->file->folder(), folder), id);
  if (run) run->experiment = experiment->id;
  return run;
}

}  // namespace headway::dashboard
