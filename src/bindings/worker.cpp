#include "bindings/module.hpp"
#include "core/lost_peer.hpp"
#include "node/factory_server.hpp"
#include "node/process.hpp"
#include "worker/memory.hpp"
#include "worker/session.hpp"
#include "worker/working_directory.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <unistd.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

/// fork(2) as os.fork does it, with the interpreter's at-fork handlers.
pid_t python_fork() {
  PyOS_BeforeFork();
  const pid_t pid = ::fork();
  if (pid == 0) {
    PyOS_AfterFork_Child();
  } else {
    PyOS_AfterFork_Parent();
  }
  return pid;
}

std::unique_ptr<node::FactoryServer> make_factory(int control_fd, std::vector<std::string> exec_command,
                                                  bool always_exec) {
  return std::make_unique<node::FactoryServer>(wire::Fd(control_fd),
                                               node::FactoryHooks{python_fork, std::move(exec_command), always_exec});
}

nb::object serve(node::FactoryServer& self) {
  std::optional<node::ForkedWorker> worker = self.serve();
  if (!worker) return nb::none();
  nb::dict env;
  for (const auto& [name, value] : worker->env) env[name.c_str()] = value;
  return nb::make_tuple(worker->session.release(), env);
}

std::unique_ptr<worker::Session> open_session(int fd, bool lives_on) {
  const auto gone = lives_on ? worker::DriverGone::end_session : worker::DriverGone::end_process;
  return without_gil([&] { return worker::Session::open(fd, gone); });
}

wire::Blob to_blob(const std::optional<nb::bytes>& bytes) {
  return bytes ? std::make_shared<const std::string>(bytes->c_str(), bytes->size()) : nullptr;
}

nb::tuple next_task(worker::Session& self) {
  worker::Task task;
  {
    const GilReleased released;
    task = self.next_task();
    if (task.kind == worker::Task::Kind::end) self.finish_uploads();
  }
  const char* kind = task.kind == worker::Task::Kind::execute ? "execute"
                     : task.kind == worker::Task::Kind::train ? "train"
                                                              : "end";
  const nb::bytes function = task.function ? nb::bytes(task.function->data(), task.function->size()) : nb::bytes("");
  return nb::make_tuple(kind, task.call_id, function);
}

/// A function of the training script's that is called, and let go, on threads of the session's.
class UserFunction {
 public:
  explicit UserFunction(nb::callable function)
      : function_(new nb::callable(std::move(function)), [](nb::callable* held) {
          const nb::gil_scoped_acquire acquired;
          delete held;
        }) {}

  /// Errors: `unavailable` with the exception's type and words.
  Result<std::string> operator()(const std::string& name) const {
    const nb::gil_scoped_acquire acquired;
    try {
      return nb::cast<std::string>((*function_)(name));
    } catch (nb::python_error& raised) {
      const std::string type = nb::cast<std::string>(raised.type().attr("__name__"));
      const std::string words = nb::cast<std::string>(nb::str(raised.value()));
      return Error{ErrorKind::unavailable, type + ": " + words};
    }
  }

 private:
  std::shared_ptr<nb::callable> function_;
};

std::optional<std::string> report(worker::Session& self, const std::string& metrics_json,
                                  std::optional<std::string> checkpoint_directory,
                                  std::optional<std::string> checkpoint_name, bool move, bool asynchronous, bool placed,
                                  std::optional<nb::callable> store, const std::optional<std::string>& validation,
                                  const std::optional<std::string>& reduce) {
  Json metrics = unwrap(parse_json(metrics_json, "metrics"));
  worker::ReportRequest request;
  request.metrics = std::move(metrics.as_object());
  request.checkpoint_directory = std::move(checkpoint_directory);
  request.checkpoint_name = std::move(checkpoint_name);
  request.move = move;
  request.asynchronous = asynchronous;
  request.name_argument = "checkpoint_dir_name";
  if (placed) request.source = CheckpointSource::placed;
  if (reduce) request.reduce = unwrap(from_json_text<ReductionPlan>(*reduce, "reduce"));
  if (validation) request.validation = unwrap(from_json_text<ValidationTask>(*validation, "a validation"));
  if (store) {
    request.source = CheckpointSource::function;
    request.store = UserFunction(std::move(*store));
  }
  return without_gil([&] { return self.report(std::move(request)); });
}

/// Called without the interpreter's lock, by a thread that Python does not know. A rank that cannot
/// say tells an empty list.
void tell_collectives_by(worker::Session& self, nb::callable tell) {
  auto held = std::make_shared<nb::callable>(std::move(tell));
  self.tell_collectives_by([held] {
    const nb::gil_scoped_acquire locked;
    try {
      return nb::cast<std::string>((*held)());
    } catch (const std::exception&) {
      return std::string("[]");
    }
  });
}

std::string ask_checkpoints(worker::Session& self, bool validated, std::optional<double> timeout_s) {
  return to_json_text(without_gil([&] { return self.ask_checkpoints(validated, timeout_s); }));
}

nb::object collective(worker::Session& self, const std::string& kind, const std::optional<nb::bytes>& bytes) {
  const wire::Blob given = to_blob(bytes);
  const wire::Blob blob = without_gil([&] { return self.collective(kind, 0, given); });
  return blob ? nb::object(nb::bytes(blob->data(), blob->size())) : nb::object(nb::none());
}

std::optional<std::string> preemption_info(worker::Session& self) {
  const wire::Blob blob = without_gil([&] { return self.preemption_info("get_preemption_info"); });
  if (!blob) return std::nullopt;
  return *blob;
}

RankError error_from(const std::string& json) { return unwrap(from_json_text<RankError>(json, "an error")); }

/// What a worker's end leaves out of the interpreter's: its data is flushed, and no finaliser can
/// hang.
void exit_now(int code) {
  std::fflush(nullptr);
  _exit(code);
}

/// What a worker and its factory are as processes.
void bind_process(nb::module_& module) {
  module.def("exit_now", &exit_now, nb::arg("code"), "Flushes C streams and ends the process at once.");
  module.def("make_temporary_directory", &worker::make_temporary_directory, nb::arg("path"),
             nb::call_guard<GilReleased>(),
             "Makes a directory for temporary files; False when it cannot be this user's own.");
  // Keeps the GIL: a look at some words.
  module.def(
      "tells_of_lost_peer", [](std::string_view message) { return tells_of_lost_peer(message); }, nb::arg("message"),
      "Whether an exception's words are those of a connection whose other end is gone.");
  // Keeps the GIL: a setting of malloc's.
  module.def("keep_freed_memory", &worker::keep_freed_memory, nb::arg("mib_max") = 512,
             "Has this process keep up to so many MiB of freed memory for its next allocations.");
  // Keeps the GIL: two settings of this process.
  module.def(
      "belong_to",
      [](int parent) {
        node::die_with(parent);
        node::allow_examination();
      },
      nb::arg("parent"), "Has this process killed when its parent ends, and lets the agent look at its stacks.");

  nb::class_<node::FactoryServer>(module, "FactoryServer", "The worker factory's loop.")
      // Keeps the GIL: the factory has one thread.
      .def(nb::new_(&make_factory), nb::arg("control_fd"), nb::arg("exec_command"), nb::arg("always_exec"))
      // Keeps the GIL: the factory has one thread.
      .def(
          "announce",
          [](node::FactoryServer& self, const std::vector<std::string>& problems) { unwrap(self.announce(problems)); },
          nb::arg("problems"))
      // Keeps the GIL: Python's fork needs it.
      .def("serve", &serve, nb::sig("def serve(self) -> tuple[int, dict[str, str]] | None"),
           "In a forked worker: (session descriptor, env). In the factory: None, at the end.");
}

/// What all ranks do together, but for reports.
void bind_collectives(nb::class_<worker::Session>& session) {
  session
      .def("collective", &collective, nb::arg("kind"), nb::arg("data").none(),
           nb::sig("def collective(self, kind: str, data: bytes | None) -> bytes | None"),
           "A \"barrier\" of all ranks, or a \"broadcast\": what rank 0 gave.")
      .def("preemption_info", &preemption_info,
           "A barrier of all ranks: what is known of nodes that are taken away, as JSON, or None.");
}

/// What a training loop does, as prepared models and data loaders count it.
void bind_steps(nb::class_<worker::Session>& session) {
  session
      // Keeps the GIL: counts, within a microsecond, at each step or batch. So do those below.
      .def(
          "begin_pass",
          [](worker::Session& self, std::int64_t loader, std::int64_t epoch, std::optional<std::int64_t> batches,
             std::optional<std::int64_t> batch_size, std::optional<std::int64_t> samples) {
            self.steps().begin_pass(loader, {epoch, batches, batch_size, samples});
          },
          nb::arg("loader"), nb::arg("epoch"), nb::arg("batches").none(), nb::arg("batch_size").none(),
          nb::arg("samples").none(), "A data loader begins a pass over its data.")
      // Keeps the GIL: counts.
      .def(
          "next_batch", [](worker::Session& self, std::int64_t loader) { self.steps().next_batch(loader); },
          nb::arg("loader"), "It gives its next batch to the loop, which has done the one before.")
      // Keeps the GIL: counts.
      .def(
          "end_pass", [](worker::Session& self, std::int64_t loader) { self.steps().end_pass(loader); },
          nb::arg("loader"), "It has come to its end.")
      // Keeps the GIL: counts.
      .def(
          "in_collectives",
          [](worker::Session& self, double seconds) { self.steps().in_collectives(from_seconds(seconds)); },
          nb::arg("seconds"), "This rank was in the collectives of a backward pass for that long.")
      // Keeps the GIL: a field.
      .def(
          "see_collectives", [](worker::Session& self, bool visible) { self.steps().see_collectives(visible); },
          nb::arg("visible"), "Whether `waited` hears of the collectives of a model that was prepared.")
      // Keeps the GIL: fields.
      .def(
          "passes_took",
          [](worker::Session& self, std::optional<double> forward_s, std::optional<double> backward_s) {
            self.steps().passes_took(forward_s, backward_s);
          },
          nb::arg("forward_s").none(), nb::arg("backward_s").none(),
          "Seconds of a step's forward and backward passes; None for what will never be known.")
      // Keeps the GIL: a field.
      .def_prop_ro(
          "steps_taken", [](worker::Session& self) { return self.steps().steps(); }, "How many steps there were.")
      // Keeps the GIL: counts.
      .def("stepped", &worker::Session::stepped, nb::arg("optimizer"),
           "An optimizer has made its step. Whether `send_progress` is due.")
      .def("send_progress", &worker::Session::send_progress, nb::call_guard<GilReleased>(),
           "Sends the driver what the loop has done.");
}

/// What data sets need: their positions, by name.
void bind_data_cursors(nb::class_<worker::Session>& session) {
  session
      .def(
          "data_cursors",
          [](worker::Session& self) { return json_text(without_gil([&] { return self.data_cursors(); })); },
          "Where the data sets stood in the checkpoint that this attempt began with: JSON, by name.")
      // Keeps the GIL: a field.
      .def(
          "set_data_cursors",
          [](worker::Session& self, const std::string& cursors_json) {
            self.set_data_cursors(unwrap(from_json_text<JsonObject>(cursors_json, "cursors")));
          },
          nb::arg("cursors_json"), "Where they stand now, for the manifest of the next checkpoint.")
      .def(
          "send_data_progress",
          [](worker::Session& self, const std::string& progress_json) {
            const auto progress = unwrap(from_json_text<DataProgress>(progress_json, "progress"));
            const GilReleased released;
            self.send_data_progress(progress);
          },
          nb::arg("progress_json"), "Sends the driver how long this rank waits for a data set (JSON).")
      .def(
          "want_function_workers",
          [](worker::Session& self, int port, std::string token, std::optional<int> workers, double cpus,
             Labels labels) {
            const GilReleased released;
            self.want_function_workers({port, std::move(token), workers, cpus, std::move(labels)});
          },
          nb::arg("port"), nb::arg("token"), nb::arg("workers").none(), nb::arg("cpus"), nb::arg("labels"),
          "Asks the driver for processes on other nodes that call functions for this node's data process, which "
          "listens at the port for those that have the token.");
}

/// What validations, and questions about them, need.
void bind_validation(nb::class_<worker::Session>& session) {
  session
      .def("ask_checkpoints", &ask_checkpoints, nb::arg("validated"), nb::arg("timeout_s").none(),
           "All checkpoints that are kept, as JSON, when what the question says is so.")
      .def(
          "open_runtime", [](worker::Session& self) { return without_gil([&] { return self.open_runtime(); }); },
          "A socket on which a runtime in this process is the driver's guest.")
      .def(
          "validated",
          [](worker::Session& self, const std::string& metrics_json) {
            Json metrics = unwrap(parse_json(metrics_json, "metrics"));
            const GilReleased released;
            self.validated(metrics.as_object());
          },
          nb::arg("metrics_json"), "What the validation function of this worker returned.");
}

/// What a worker says of its calls and its training.
void bind_answers(nb::class_<worker::Session>& session) {
  session
      .def(
          "answer_call",
          [](worker::Session& self, std::int64_t call_id, const std::optional<std::string>& error_json,
             const std::optional<nb::bytes>& value) {
            std::optional<RankError> error;
            if (error_json) error = error_from(*error_json);
            const wire::Blob blob = to_blob(value);
            const GilReleased released;
            self.answer_call(call_id, error, blob);
          },
          nb::arg("call_id"), nb::arg("error_json").none(), nb::arg("value").none())
      .def(
          "training_returned",
          [](worker::Session& self, const nb::bytes& value) {
            const wire::Blob blob = to_blob(value);
            const GilReleased released;
            self.training_returned(blob);
          },
          nb::arg("value"))
      .def(
          "training_raised",
          [](worker::Session& self, const std::string& error_json, const std::optional<nb::bytes>& exception) {
            const RankError error = error_from(error_json);
            const wire::Blob blob = to_blob(exception);
            const GilReleased released;
            self.training_raised(error, blob);
          },
          nb::arg("error_json"), nb::arg("exception").none());
}

}  // namespace

void bind_worker(nb::module_& module) {
  bind_process(module);
  nb::class_<worker::Session> session(module, "Session", "This worker's session with the driver.");
  bind_validation(session);
  bind_answers(session);
  bind_steps(session);
  bind_data_cursors(session);
  session
      .def(nb::new_(&open_session), nb::arg("fd"), nb::arg("lives_on") = false,
           "`lives_on`: this process does not end with the session.")
      // Keeps the GIL: a field.
      .def_prop_ro("context_json", [](const worker::Session& self) { return to_json_text(self.context()); })
      // Keeps the GIL: a field.
      .def_prop_ro("checkpoint", &worker::Session::checkpoint)
      .def("close", &worker::Session::close, nb::call_guard<GilReleased>(),
           "The end of a session whose process lives on.")
      .def_prop_ro("over", &worker::Session::over, nb::call_guard<GilReleased>(),
                   "Whether nothing that is done here counts any more.")
      .def(
          "settle_in",
          [](const worker::Session& self) {
            const auto& rank = std::get<wire::RankRole>(self.role());
            without_gil([&] { return worker::settle_in(rank.working_directory, rank.enter_working_directory); });
          },
          "In a rank: makes the ranks' working directory and, unless `enter` is false, changes into it.")
      .def("announce", &worker::Session::announce, nb::call_guard<GilReleased>())
      // Keeps the GIL: a function of Python's is kept.
      .def("tell_collectives_by", &tell_collectives_by, nb::arg("tell"),
           "`tell()` gives this rank's positions in its collectives as JSON, when the driver asks.")
      .def("next_task", &next_task, nb::sig("def next_task(self) -> tuple[str, int, bytes]"),
           "Blocks for (\"execute\" | \"train\" | \"end\", call id, pickled function or None).")
      .def("report", &report, nb::arg("metrics_json"), nb::arg("checkpoint_directory").none(),
           nb::arg("checkpoint_name").none(), nb::arg("move"), nb::arg("asynchronous"), nb::arg("placed") = false,
           nb::arg("store") = nb::none(), nb::arg("validation_json") = nb::none(), nb::arg("reduce_json") = nb::none(),
           nb::sig("def report(self, metrics_json: str, checkpoint_directory: str | None, checkpoint_name: str | None, "
                   "move: bool, asynchronous: bool, placed: bool = False, "
                   "store: collections.abc.Callable[[str], str] | None = None, "
                   "validation_json: str | None = None, reduce_json: str | None = None) -> str | None"),
           "The barrier of all ranks; the committed checkpoint's directory, or None.");
  bind_collectives(session);
}

}  // namespace headway::bindings
