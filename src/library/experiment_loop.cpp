#include "core/location.hpp"
#include "driver/flat_metrics.hpp"
#include "driver/found_run.hpp"
#include "driver/run_identity.hpp"
#include "driver/runtime.hpp"
#include "driver/tune/experiment.hpp"
#include "driver/tune/experiment_copy.hpp"
#include "driver/tune/experiment_journal.hpp"
#include "library/display.hpp"
#include "library/experiment_request.hpp"
#include "library/interrupt.hpp"
#include "library/program.hpp"
#include "library/run_start.hpp"

#include <array>
#include <cstdio>
#include <iterator>
#include <poll.h>
#include <unordered_map>

/// Serves one experiment on the calling thread.
namespace headway::library {
namespace {

namespace tune = control::tune;

/// Where an experiment is, and where its journal is written: a copy, in remote storage.
struct Places {
  std::string location;
  std::string path;
  std::unique_ptr<driver::ExperimentCopy> copy = nullptr;

  /// The end of what is copied.
  Result<void> close() const { return copy ? copy->close() : Result<void>(); }
};

/// The experiment's spec. Errors: `invalid_argument`.
Result<tune::ExperimentSpec> spec_of(const ExperimentRequest& request, const Places& places) {
  tune::ExperimentSpec spec;
  spec.path = places.path;
  spec.trials_location = places.location;
  if (!request.metric.empty()) spec.metric = request.metric;
  spec.mode = request.mode;
  spec.scheduler = parse_json(request.scheduler_json, "the scheduler").value().as_object();
  if (!request.stop.empty()) spec.stop = request.stop;
  spec.max_concurrent = request.max_concurrent;
  spec.prepares = tune::trials_ready;
  spec.time_budget_s = request.time_budget_s;
  spec.fail_fast = request.fail_fast;
  spec.seed = request.seed;
  spec.restore.unfinished = request.resume;
  if (auto valid = tune::validate(spec); !valid) return valid.error();
  return spec;
}

/// By trial_id, of those that have reported to this driver.
using LastReports = std::unordered_map<std::string, JsonObject>;

class ExperimentLoop {
 public:
  ExperimentLoop(const ExperimentRequest& request, std::shared_ptr<driver::Experiment> experiment, std::string location,
                 std::vector<tune::Trial> earlier)
      : request_(request),
        experiment_(std::move(experiment)),
        location_(std::move(location)),
        suggested_(std::ssize(earlier)) {
    const std::string first = earlier.empty() ? driver::new_trial_id() : earlier.front().trial_id;
    ids_begin_ = first.substr(0, first.find('_')) + "_";
    experiment_->take_each_report(false);  // A trial's last one is shown, at its end.
  }

  const driver::ExperimentEnded& serve() {
    while (!end_) {
      std::array<pollfd, 2> watch{
          {{experiment_->event_fd(), POLLIN, 0}, {interrupted_ ? -1 : interrupt_.fd(), POLLIN, 0}}};
      if (poll(watch.data(), watch.size(), -1) < 0) continue;  // A signal that the program handles.
      if (!interrupted_ && interrupt_.came()) {
        interrupted_ = true;
        experiment_->stop("Ctrl-C");
      }
      for (driver::ExperimentEvent& event : experiment_->take_events()) {
        std::visit([this](auto& what) { on(what); }, event);
      }
      display_.flush();
    }
    return *end_;
  }

  bool interrupted() const { return interrupt_.came(); }
  const LastReports& last_reports() const { return last_reports_; }

 private:
  void on(const driver::SuggestionsWanted& event) {
    for (int i = 0; i < event.count; ++i) {
      if (suggested_ >= request_.trials) return experiment_->search_over();
      const std::int64_t number = suggested_++;
      std::array<char, 24> digits{};
      std::snprintf(digits.data(), digits.size(), "%05lld", static_cast<long long>(number));
      const std::string id = ids_begin_ + digits.data();
      const std::string folder = request_.trial.loop + "_" + id + "_" + request_.tag_of(number);
      experiment_->suggest(id, request_.config_of(number), folder).value();
    }
  }

  void on(const driver::TrialStartWanted& event) {
    RunRequest trial = request_.trial;
    trial.run.name = event.folder;
    trial.run.storage_path = location_;
    trial.config_json = event.config;
    Result<driver::RunStart> start = run_start_of(trial);
    if (start) {
      start->spec.trial_id = event.trial_id;
      const Result<void> begun = experiment_->start_trial(event.trial_id, event.start, std::move(*start), false);
      if (begun) return;
      start = begun.error();
    }
    experiment_->refuse_trial(event.trial_id, event.start, start.error().message);
  }

  void on(driver::TrialReported& event) { last_reports_[event.trial_id] = std::move(event.line); }

  /// "loss 0.25" of a trial's last report; empty without the metric.
  std::string score_of(const std::string& trial_id) const {
    const auto last = last_reports_.find(trial_id);
    if (request_.metric.empty() || last == last_reports_.end()) return {};
    for (const auto& [name, value] : driver::flat_metrics(last->second)) {
      if (name != request_.metric || !value->is_number()) continue;
      std::array<char, 32> digits{};
      std::snprintf(digits.data(), digits.size(), "%.6g", value->to_number<double>());
      return name + " " + digits.data();
    }
    return {};
  }

  /// A line for each of the first trials, and then for every hundredth.
  void on(const driver::TrialEnded& event) {
    constexpr int shown_all = 100;
    ++ended_;
    const bool shown = ended_ <= shown_all || ended_ % shown_all == 0 || event.state == "errored";
    if (!shown) return;
    std::string line = event.trial_id + " " + event.state;
    if (const std::string score = score_of(event.trial_id); !score.empty()) line += "  " + score;
    display_.helper_line("tune", line + "  (" + event.reason + ")");
  }

  void on(const driver::Notice& event) { display_.say(false, event.text); }
  void on(const driver::RunWarning& event) { display_.say(true, event.text); }
  void on(const driver::ExperimentEnded& event) { end_ = event; }
  /// A trial's hooks, and what other front ends decide.
  template <class Event>
  void on(const Event&) {}

  const ExperimentRequest& request_;
  std::shared_ptr<driver::Experiment> experiment_;
  std::string location_;
  std::int64_t suggested_ = 0;
  std::string ids_begin_;
  Display display_;
  Interrupt interrupt_;
  bool interrupted_ = false;
  int ended_ = 0;
  LastReports last_reports_;
  std::optional<driver::ExperimentEnded> end_;
};

/// Where the experiment's folder is. Errors: `invalid_argument`.
Result<std::string> folder_of(const RunConfig& run) {
  const std::string storage = storage_path_of(run.storage_path);
  if (run.name.find('/') != std::string::npos || run.name == "." || run.name == "..") {
    return Error{ErrorKind::invalid_argument, "RunConfig.name is \"" + run.name + "\"; allowed: a folder's name"};
  }
  const std::string name = run.name.empty() ? driver::default_run_name("Tuner", driver::new_trial_id()) : run.name;
  return join_location(storage, name);
}

/// What the experiment has now. Errors: those of read_trials.
Result<ExperimentEnd> end_of(const Places& places, const LastReports& last_reports) {
  const Result<std::vector<tune::Trial>> trials = driver::read_trials(places.path);
  if (!trials) return trials.error();
  ExperimentEnd end{places.location, {}};
  for (const tune::Trial& trial : *trials) {
    TrialEnd here{trial.trial_id, join_location(places.location, trial.folder), trial.config, "null", "", trial.reason};
    here.state = tune::is_over(trial.state) ? boost::describe::enum_to_string(trial.state, "") : "unfinished";
    if (const auto last = last_reports.find(trial.trial_id); last != last_reports.end()) {
      here.last_report_json = json_text(last->second);
    } else if (trial.reports > 0) {  // To an earlier driver.
      const Result<RunEnd> found = found_end(here.path);
      if (found) here.last_report_json = found->last_report_json;
    }
    end.trials.push_back(std::move(here));
  }
  return end;
}

/// Errors: those of storage.
Result<Places> places_of(const RunConfig& run) {
  const Result<std::string> location = folder_of(run);
  if (!location) return location.error();
  if (!is_remote(*location)) return Places{*location, *location};
  auto copy = driver::ExperimentCopy::fetch(*location);
  if (!copy) return copy.error();
  return Places{*location, (*copy)->path(), std::move(*copy)};
}

/// The trials of earlier drivers. Errors: `already_exists` where they are not to be continued.
Result<std::vector<tune::Trial>> earlier_trials(const ExperimentRequest& request, const Places& places) {
  Result<std::vector<tune::Trial>> earlier = driver::read_trials(places.path);
  if (!earlier && earlier.error().kind != ErrorKind::not_found) return earlier;
  if (!earlier) return std::vector<tune::Trial>();
  if (request.resume) return earlier;
  return Error{ErrorKind::already_exists,
               shown_location(places.location) +
                   " has an experiment; give another RunConfig.name, or TunerOptions.resume to continue it"};
}

[[noreturn]] void leave_interrupted(const std::string& location) {
  std::fprintf(stderr,
               "headway: stopped by Ctrl-C; what trials have reported so far is in %s; TunerOptions.resume continues "
               "the experiment\n",
               shown_location(location).c_str());
  leave_program();
  Interrupt::end_program();
}

}  // namespace

Result<ExperimentEnd> run_experiment(const ExperimentRequest& request) {
  auto runtime = driver_runtime();
  if (!runtime) return runtime.error();
  const Result<std::string> location = folder_of(request.trial.run);
  if (!location) return location.error();
  // What no trial could start with is refused before anything starts.
  RunRequest first = request.trial;
  first.run.name = "trial";
  first.run.storage_path = *location;
  first.config_json = request.config_of(0);
  if (const auto start = run_start_of(first); !start) return start.error();
  if (const auto valid = spec_of(request, {*location, is_remote(*location) ? "/" : *location}); !valid) {
    return valid.error();
  }
  Result<Places> places = places_of(request.trial.run);
  if (!places) return places.error();
  Result<std::vector<tune::Trial>> earlier = earlier_trials(request, *places);
  if (!earlier) return earlier.error();
  auto experiment = (*runtime)->start_experiment(spec_of(request, *places).value());
  if (!experiment) return experiment.error();
  if (places->copy) places->copy->start();
  ExperimentLoop loop(request, *experiment, places->location, std::move(*earlier));
  const driver::ExperimentEnded& end = loop.serve();
  Result<ExperimentEnd> found = end_of(*places, loop.last_reports());
  const Result<void> closed = places->close();
  if (!closed) std::fprintf(stderr, "headway: warning: %s\n", closed.error().message.c_str());
  if (loop.interrupted()) leave_interrupted(places->location);
  if (end.state == "failed") {
    return Error{ErrorKind::unavailable,
                 "the experiment in " + shown_location(places->location) + " failed: " + end.reason};
  }
  return found;
}

}  // namespace headway::library
