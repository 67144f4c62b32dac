#include "driver/tune/experiment.hpp"

#include "bindings/described.hpp"
#include "bindings/module.hpp"
#include "bindings/runtime.hpp"
#include "driver/tune/experiment_journal.hpp"

#include <nanobind/stl/optional.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

std::vector<driver::ExperimentEvent> take_experiment_events(PyExperiment& self) {
  const GilReleased released;
  return self.experiment->take_events();
}

void start_trial(PyExperiment& self, const std::string& trial_id, int start, const std::string& spec_json,
                 const std::string& worker_setup_json, const nb::bytes& task, const std::optional<nb::bytes>& trainer,
                 const std::optional<nb::bytes>& validation, std::vector<std::string> factory_command,
                 std::map<std::string, std::string> factory_env, std::string factory_recipe,
                 std::vector<node::Package> factory_packages, bool hooks) {
  node::FactoryChoice factory{std::move(factory_command), std::move(factory_env), std::move(factory_recipe),
                              std::move(factory_packages)};
  driver::RunStart run = run_start(spec_json, worker_setup_json, task, trainer, std::move(factory), {});
  if (validation) run.validation = to_blob(*validation);
  const auto begin = [&] { return self.experiment->start_trial(trial_id, start, std::move(run), hooks); };
  Result<void> begun;
  {
    const GilReleased released;
    begun = begin();
  }
  unwrap(std::move(begun));
}

void suggest(PyExperiment& self, const std::string& trial_id, const std::string& config_json, const std::string& folder,
             const std::optional<std::string>& replaces, const std::optional<std::string>& tag) {
  Result<void> suggested;
  {
    const GilReleased released;
    suggested = self.experiment->suggest(trial_id, config_json, folder, replaces, tag);
  }
  unwrap(std::move(suggested));
}

void decide(PyExperiment& self, const std::string& trial_id, std::int64_t number, const std::string& decision,
            const std::string& reason) {
  using control::tune::Verdict;
  const std::map<std::string, Verdict> verdicts = {
      {"continue", Verdict::go_on}, {"stop", Verdict::stop}, {"pause", Verdict::pause}};
  const auto verdict = verdicts.find(decision);
  if (verdict == verdicts.end()) {
    raise({ErrorKind::invalid_argument, "decision is \"" + decision + R"("; allowed: "continue", "stop", "pause")"});
  }
  const GilReleased released;
  self.experiment->decide(trial_id, number, verdict->second, reason);
}

void each_trial(const std::string& path, const nb::callable& take) {
  const auto trials = without_gil([&] { return driver::read_trials(path); });
  for (const control::tune::Trial& trial : trials) {
    const char* state = boost::describe::enum_to_string(trial.state, "");
    take(trial.trial_id, trial.folder, state, trial.reason, trial.last, trial.reports, trial.replaced);
  }
}

PyRun run_of(PyExperiment& self, const std::string& trial_id) {
  auto run = without_gil([&] { return self.experiment->run_of(trial_id); });
  return {OfThisProcess(self.runtime.shared()), OfThisProcess(std::move(run))};
}

void bind_experiment_events(nb::module_& module) {
  bind_described<driver::SuggestionsWanted>(module, "SuggestionsWanted",
                                            "Room for more trials -> suggest, no_suggestion, search_over.");
  bind_described<driver::TrialStartWanted>(module, "TrialStartWanted",
                                           "A trial is to start -> start_trial, refuse_trial.");
  bind_described<driver::TrialChoiceAsked>(module, "TrialChoiceAsked", "Which of these trials starts? -> choose.");
  bind_described<driver::ConfigAsked>(module, "ConfigAsked", "Which configuration does the copy have? -> configure.");
  bind_described<driver::TrialStarted>(module, "TrialStarted", "A trial's ranks are ready.");
  bind_described<driver::TrialReported>(module, "TrialReported", "A trial's report was decided about.");
  bind_described<driver::VerdictAsked>(module, "VerdictAsked", "A report waits for a verdict -> decide.");
  bind_described<driver::TrialHook>(module, "TrialHook",
                                    "Call the hooks -> Run.setup_finished, Run.teardown_finished.");
  bind_described<driver::TrialCall>(module, "TrialCall", "A rank's answer to Run.execute.");
  bind_described<driver::TrialAttemptFailed>(module, "TrialAttemptFailed",
                                             "An attempt of a trial has failed; another one may follow.");
  bind_described<driver::TrialEnded>(module, "TrialEnded",
                                     "A trial is \"terminated\", \"errored\", \"paused\" or \"unfinished\".");
  bind_described<driver::ExperimentEnded>(module, "ExperimentEnded", "No event follows.");
}

void bind_experiment_journal(nb::module_& module) {
  module.def(
      "read_experiment",
      [](const std::string& path) { return without_gil([&] { return driver::read_experiment(path); }); },
      nb::arg("path"), "An experiment as its journal has it, as JSON. FileNotFoundError when there is none.");
  module.def("each_trial", &each_trial, nb::arg("path"), nb::arg("take"),
             "Calls `take` for each trial of an experiment's journal: trial_id, folder, state, reason, numbers, "
             "reports, replaced. FileNotFoundError when there is none.");
}

}  // namespace

PyExperiment start_experiment(PyRuntime& self, const std::string& spec_json, const std::string& trials_location) {
  control::tune::ExperimentSpec spec = unwrap(control::tune::experiment_of(spec_json));
  spec.trials_location = trials_location;
  auto experiment = without_gil([&] { return self.runtime->start_experiment(std::move(spec)); });
  return {OfThisProcess(self.runtime.shared()), OfThisProcess(std::move(experiment))};
}

void bind_experiment(nb::module_& module) {
  using WithoutGil = nb::call_guard<GilReleased>;
  bind_experiment_events(module);
  bind_experiment_journal(module);
  module.attr("trials_ready") = control::tune::trials_ready;
  nb::class_<PyExperiment>(module, "Experiment", "One experiment, as the thread that serves it sees it.")
      // Keeps the GIL: a field.
      .def_prop_ro(
          "path", [](const PyExperiment& self) { return self.experiment->path(); }, "The experiment's folder.")
      // Keeps the GIL: a field.
      .def_prop_ro(
          "event_fd", [](const PyExperiment& self) { return self.experiment->event_fd(); },
          "A descriptor that is readable while there are events to take.")
      .def("take_events", &take_experiment_events,
           "What happened since the last call, in order. The last event is ExperimentEnded.")
      .def(
          "take_each_report", [](PyExperiment& self, bool each) { self.experiment->take_each_report(each); },
          nb::arg("each"), WithoutGil(),
          "Whether each report comes; else the newest of a trial's that wait, when something else wakes.")
      .def("suggest", &suggest, nb::arg("trial_id"), nb::arg("config_json"), nb::arg("folder"),
           nb::arg("replaces") = nb::none(), nb::arg("tag") = nb::none(), "A new trial, or an earlier driver's again.")
      .def(
          "no_suggestion", [](PyExperiment& self) { self.experiment->no_suggestion(); }, WithoutGil(),
          "None for now: asked again after the next report or end of a trial.")
      .def(
          "search_over", [](PyExperiment& self) { self.experiment->search_over(); }, WithoutGil(), "No more for ever.")
      .def("start_trial", &start_trial, nb::arg("trial_id"), nb::arg("start"), nb::kw_only(), nb::arg("spec_json"),
           nb::arg("worker_setup_json"), nb::arg("task"), nb::arg("trainer") = nb::none(),
           nb::arg("validation") = nb::none(), nb::arg("factory_command") = std::vector<std::string>{},
           nb::arg("factory_env") = std::map<std::string, std::string>{}, nb::arg("factory_recipe") = "",
           nb::arg("factory_packages") = std::vector<node::Package>{}, nb::arg("hooks") = false,
           "The answer to TrialStartWanted, with the arguments of Runtime.start_run.")
      .def(
          "refuse_trial",
          [](PyExperiment& self, const std::string& trial_id, int start, const std::string& message) {
            self.experiment->refuse_trial(trial_id, start, message);
          },
          nb::arg("trial_id"), nb::arg("start"), nb::arg("message"), WithoutGil(), "The trial errors.")
      .def("decide", &decide, nb::arg("trial_id"), nb::arg("number"), nb::arg("decision"), nb::arg("reason"),
           "The answer to VerdictAsked: \"continue\", \"stop\" or \"pause\".")
      .def(
          "choose", [](PyExperiment& self, const std::string& trial_id) { self.experiment->choose(trial_id); },
          nb::arg("trial_id"), WithoutGil(), "The answer to TrialChoiceAsked; \"\": none of them now.")
      .def(
          "configure",
          [](PyExperiment& self, const std::string& trial_id, std::int64_t number, const std::string& config_json) {
            self.experiment->configure(trial_id, number, config_json);
          },
          nb::arg("trial_id"), nb::arg("number"), nb::arg("config_json"), WithoutGil(), "The answer to ConfigAsked.")
      .def(
          "stop_trial",
          [](PyExperiment& self, const std::string& trial_id, const std::string& reason) {
            self.experiment->stop_trial(trial_id, reason);
          },
          nb::arg("trial_id"), nb::arg("reason"), WithoutGil(), "Ends the trial as terminated.")
      .def(
          "stop", [](PyExperiment& self, const std::string& reason) { self.experiment->stop(reason); },
          nb::arg("reason"), WithoutGil(), "Ends the experiment; trials that had not ended can be restored.")
      .def("run_of", &run_of, nb::arg("trial_id"), "The run of a trial that has one. ValueError else.");
}

}  // namespace headway::bindings
