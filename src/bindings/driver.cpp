#include "bindings/described.hpp"
#include "bindings/module.hpp"
#include "bindings/runtime.hpp"
#include "bindings/watch.hpp"
#include "driver/found_run.hpp"
#include "driver/run.hpp"
#include "driver/run_identity.hpp"
#include "driver/runtime.hpp"
#include "node/process_identity.hpp"

#include <nanobind/stl/unique_ptr.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

std::unique_ptr<PyRuntime> make_runtime(std::string guard_path, std::vector<std::string> factory_command,
                                        std::map<std::string, std::string> factory_env, std::string py_spy,
                                        std::optional<double> num_cpus, std::optional<double> num_gpus,
                                        Resources resources, Labels labels, const std::optional<std::string>& listen,
                                        std::string token, double node_lease_s, int host_fd, std::string engine,
                                        std::vector<std::string> engine_command, std::string token_file,
                                        const std::string& engine_options_json, double engine_idle_s) {
  driver::RuntimeConfig config{
      {std::move(guard_path), std::move(factory_command), std::move(factory_env), std::move(py_spy)},
      num_cpus,
      num_gpus,
      std::move(resources),
      std::move(labels),
      std::nullopt,
      host_fd};
  if (listen) {
    unwrap(cluster::check_available());
    config.join =
        cluster::JoinConfig{unwrap(cluster::parse_endpoint("listen", *listen)), std::move(token), node_lease_s};
  }
  if (!engine.empty()) {
    config.bridge = {std::move(engine),
                     std::move(engine_command),
                     {},
                     std::move(token_file),
                     node_lease_s,
                     unwrap(from_json_text<JsonObject>(engine_options_json, "an engine's options"))};
    config.idle_limit = from_seconds(engine_idle_s);
  }
  unwrap(driver::validate(config));
  auto runtime = without_gil([&] { return Result(std::make_shared<driver::Runtime>(std::move(config))); });
  return std::make_unique<PyRuntime>(PyRuntime{OfThisProcess(std::move(runtime))});
}

PyRun start_run(PyRuntime& self, const std::string& spec_json, const std::string& worker_setup_json,
                const nb::bytes& task, const std::optional<nb::bytes>& trainer,
                const std::optional<nb::bytes>& validation, std::vector<std::string> factory_command,
                std::map<std::string, std::string> factory_env, std::string factory_recipe,
                std::vector<node::Package> factory_packages, const std::vector<int>& local_sessions) {
  node::FactoryChoice factory{std::move(factory_command), std::move(factory_env), std::move(factory_recipe),
                              std::move(factory_packages)};
  driver::RunStart start = run_start(spec_json, worker_setup_json, task, trainer, std::move(factory), local_sessions);
  if (validation) start.validation = to_blob(*validation);
  auto run = without_gil([&] { return self.runtime->start_run(std::move(start)); });
  return {OfThisProcess(self.runtime.shared()), OfThisProcess(std::move(run))};
}

std::vector<driver::FrontEvent> take_events(PyRun& self) {
  const GilReleased released;
  return self.run->take_events();
}

std::vector<driver::FrontEvent> take_alarms(PyRun& self) {
  const GilReleased released;
  return self.run->take_alarms();
}

std::string read_journal(const std::string& run_directory) {
  return to_json_text(without_gil([&] { return driver::read_journal(run_directory); }));
}

void setup_finished(PyRun& self, int attempt, const std::optional<std::string>& error_json) {
  std::optional<RankError> error;
  if (error_json) error = unwrap(from_json_text<RankError>(*error_json, "a set-up error"));
  const GilReleased released;
  self.run->setup_finished(attempt, std::move(error));
}

void execute(PyRun& self, std::int64_t call_id, std::vector<int> ranks, const nb::bytes& function) {
  wire::Blob blob = to_blob(function);
  const GilReleased released;
  self.run->execute(call_id, std::move(ranks), std::move(blob));
}

void bind_package(nb::module_& module) {
  nb::class_<node::Package>(module, "Package", "Files that workers on other machines need, as an archive.")
      // Keeps the GIL: it copies bytes of Python's.
      .def(nb::new_(
               [](std::string hash, const nb::bytes& bytes) { return node::Package{std::move(hash), to_blob(bytes)}; }),
           nb::arg("hash"), nb::arg("bytes"))
      // Keeps the GIL: a field.
      .def_ro("hash", &node::Package::hash, "SHA-256 of the bytes, in hex.");
}

void bind_run(nb::module_& module) {
  using WithoutGil = nb::call_guard<GilReleased>;
  nb::class_<PyRun>(module, "Run", "One training run, as the thread that called fit() sees it.")
      // Keeps the GIL: a field.
      .def_prop_ro(
          "path", [](const PyRun& self) { return self.run->path(); }, "The run's folder.")
      // Keeps the GIL: a field.
      .def_prop_ro(
          "event_fd", [](const PyRun& self) { return self.run->event_fd(); },
          "A descriptor that is readable while there are events to take.")
      .def("take_events", &take_events, "What happened since the last call, in order. The last event is Finished.")
      // Keeps the GIL: a field.
      .def_prop_ro(
          "alarm_fd", [](const PyRun& self) { return self.run->alarm_fd(); },
          "A descriptor that is readable while there are alarms to take; any one thread may.")
      .def("take_alarms", &take_alarms,
           "What must be heard while a hook is under way: ExamineHook, InterruptHook, RunWarning.")
      .def(
          "hook_examined",
          [](PyRun& self, std::int64_t examination, std::string text) {
            self.run->hook_examined(examination, std::move(text));
          },
          nb::arg("examination"), nb::arg("text"), WithoutGil())
      .def(
          "show_moving_line", [](PyRun& self) { self.run->show_moving_line(); }, WithoutGil(),
          "From now on a MovingLineShown comes each second.")
      .def(
          "abort", [](PyRun& self, const std::string& reason) { self.run->abort(reason); }, nb::arg("reason"),
          WithoutGil())
      .def("execute", &execute, nb::arg("call_id"), nb::arg("ranks"), nb::arg("function"),
           "Has ranks call a pickled function; a CallExecuted comes for each.")
      .def("setup_finished", &setup_finished, nb::arg("attempt"), nb::arg("error_json") = nb::none())
      .def(
          "teardown_finished", [](PyRun& self, int attempt) { self.run->teardown_finished(attempt); },
          nb::arg("attempt"), WithoutGil())
      .def(
          "report_heard", [](PyRun& self) { self.run->report_heard(); }, WithoutGil(),
          "The callbacks have heard a CallbackReport.")
      .def(
          "callback_failed", [](PyRun& self, const std::string& message) { self.run->callback_failed(message); },
          nb::arg("message"), WithoutGil(), "A callback has raised: the run fails by it.")
      .def(
          "stop", [](PyRun& self, const std::string& reason) { self.run->stop(reason); }, nb::arg("reason"),
          WithoutGil(), "Ends the run as finished.");
}

}  // namespace

wire::Blob to_blob(const nb::bytes& bytes) { return std::make_shared<const std::string>(bytes.c_str(), bytes.size()); }

driver::RunStart run_start(const std::string& spec_json, const std::string& worker_setup_json, const nb::bytes& task,
                           const std::optional<nb::bytes>& trainer, node::FactoryChoice factory,
                           const std::vector<int>& local_sessions) {
  driver::RunStart start;
  for (const int fd : local_sessions) start.local_sessions.emplace_back(fd);
  start.spec = unwrap(from_json_text<RunSpec>(spec_json, "a run's configuration"));
  // As text within the set-up: bytes of the environment that are no UTF-8 travel as escapes.
  start.worker_setup["json"] = worker_setup_json;
  start.task = to_blob(task);
  if (trainer) start.trainer = to_blob(*trainer);
  start.factory = std::move(factory);
  return start;
}

void bind_driver(nb::module_& module) {
  module.def("read_journal", &read_journal, nb::arg("run_directory"),
             "A run's journal (run.json) as JSON. FileNotFoundError when the folder holds no run; OSError for one that "
             "cannot be read.");
  bind_package(module);
  bind_run(module);
  bind_experiment(module);
  nb::class_<PyRuntime>(module, "Runtime", "The driver's side of Headway in this process.")
      .def(nb::new_(&make_runtime), nb::arg("guard_path"), nb::arg("factory_command"), nb::arg("factory_env"),
           nb::arg("py_spy"), nb::arg("num_cpus") = nb::none(), nb::arg("num_gpus") = nb::none(),
           nb::arg("resources") = Resources{}, nb::arg("labels") = Labels{}, nb::arg("listen") = nb::none(),
           nb::arg("token") = "", nb::arg("node_lease_s") = 10.0, nb::arg("host_fd") = -1, nb::arg("engine") = "",
           nb::arg("engine_command") = std::vector<std::string>{}, nb::arg("token_file") = "",
           nb::arg("engine_options_json") = "{}", nb::arg("engine_idle_s") = 60.0)
      .def(
          "listen", [](PyRuntime& self) { return without_gil([&] { return self.runtime->listen(); }); },
          "Lets nodes join; the address for them, as host:port.")
      .def(
          "nodes", [](PyRuntime& self) { return json_text(to_json(self.runtime->node_resources())); },
          nb::call_guard<GilReleased>(), "What each node has, as JSON.")
      .def(
          "watch", [](PyRuntime& self) { return PyWatch(without_gil([&] { return self.runtime->watch(); })); },
          "Looks at all runs, nodes and the queue, until the watch is given up.")
      .def(
          "warm", [](PyRuntime& self, std::vector<std::string> preload) { self.runtime->warm(std::move(preload)); },
          nb::arg("preload"), nb::call_guard<GilReleased>(),
          "Starts a worker factory for these modules in the background.")
      .def("start_run", &start_run, nb::kw_only(), nb::arg("spec_json"), nb::arg("worker_setup_json"), nb::arg("task"),
           nb::arg("trainer") = nb::none(), nb::arg("validation") = nb::none(),
           nb::arg("factory_command") = std::vector<std::string>{},
           nb::arg("factory_env") = std::map<std::string, std::string>{}, nb::arg("factory_recipe") = "",
           nb::arg("factory_packages") = std::vector<node::Package>{}, nb::arg("local_sessions") = std::vector<int>{},
           "Starts a run. `worker_setup_json` goes to its workers as is. `trainer` is kept for a restore, `validation` "
           "is the pickled validation function. Local mode: `local_sessions` are the ranks' sessions as descriptors, "
           "which the run takes. Agents of other machines make the environment by `factory_recipe`, with "
           "`factory_packages`.")
      .def("start_experiment", &start_experiment, nb::arg("spec_json"), nb::arg("trials_location") = "",
           "Starts an experiment, or takes up the one in its folder. Its trials are there, unless they are at a "
           "location. FileExistsError when another driver has it.")
      .def(
          "total_resources", [](PyRuntime& self) { return self.runtime->total_resources(); },
          nb::call_guard<GilReleased>())
      .def(
          "available_resources", [](PyRuntime& self) { return self.runtime->available_resources(); },
          nb::call_guard<GilReleased>())
      .def(
          "shutdown", [](PyRuntime& self) { self.runtime->shutdown(); }, nb::call_guard<GilReleased>(),
          "Ends every run, worker and factory, and returns when they are gone.");
  bind_early_factory(module);

  module.def(
      "is_alive", [](std::int64_t pid, std::int64_t started) { return node::is_alive({pid, started}); }, nb::arg("pid"),
      nb::arg("started"), nb::call_guard<GilReleased>(),
      "Whether the process of this machine lives that had `pid` and was started `started` clock ticks after boot.");
  // Keeps the GIL: it computes a name.
  module.def("new_trial_id", &driver::new_trial_id, "A new run's id, at random.");
  // Keeps the GIL: it computes a name.
  module.def("default_run_name", &driver::default_run_name, nb::arg("trainer"), nb::arg("trial_id"),
             "What a run is called that was given no name.");
}

}  // namespace headway::bindings
