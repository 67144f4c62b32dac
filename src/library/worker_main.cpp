#include "library/worker_main.hpp"

#include "core/preemption.hpp"
#include "data/epoch_order.hpp"
#include "library/arrow_libraries.hpp"
#include "library/crash_trace.hpp"
#include "library/exception_text.hpp"
#include "library/program.hpp"
#include "library/shards.hpp"
#include "library/stack_report.hpp"
#include "library/throw_trace.hpp"
#include "library/train_loops.hpp"
#include "library/validations.hpp"
#include "library/worker_bridge.hpp"
#include "library/worker_setup.hpp"
#include "worker/memory.hpp"
#include "worker/session.hpp"
#include "worker/working_directory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <unistd.h>

namespace headway::library {
namespace {

worker::Session* session = nullptr;
Context context_of_worker;
bool validates = false;             ///< Whether the trainer has a validation function.
bool threads_are_set_here = false;  ///< Else the user's environment says how many.

std::vector<std::string> visible_gpus() {
  const char* variable = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string rest = variable == nullptr ? "" : variable;
  std::vector<std::string> gpus;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    gpus.push_back(rest.substr(0, comma));
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return gpus;
}

Context to_context(const wire::StartSession& start, const wire::WorkerRole& role) {
  Context context;
  if (const auto* rank = std::get_if<wire::RankRole>(&role)) {
    context.world_size = rank->world_size;
    context.attempt = rank->attempt;
    context.trial_dir = rank->working_directory;
  }
  context.world_rank = start.plan.rank;
  context.local_world_size = start.plan.local_world_size;
  context.local_rank = start.plan.local_rank;
  context.node_rank = start.plan.node_rank;
  context.node_ip = start.plan.slot.node_ip;
  context.cpus = start.plan.slot.cpus;
  context.gpu_ids = start.plan.slot.gpu_ids;
  context.visible_gpus = visible_gpus();
  context.run_name = start.run_name;
  context.run_directory = start.run_directory;
  context.trial_id = start.trial_id;
  context.metadata_json = json_text(start.metadata);
  return context;
}

/// OpenMP, where the program has it, read its settings when it was loaded, perhaps in the factory.
void set_threads(int cpus) {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  const int wanted = asked == nullptr ? 0 : std::atoi(asked);
  const int threads = wanted > 0 ? wanted : std::max(1, cpus);
  threads_are_set_here = wanted <= 0;
  if (threads_are_set_here) setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(threads);
}

/// Errors: those of the working directory.
Result<void> settle_in(const wire::StartSession& start) {
  apply_worker_setup(start.setup);
  find_arrow();  // Before the working directory changes: paths to it may be relative.
  set_threads(start.plan.slot.cpus);
  enter_depth();
  worker::keep_freed_memory();
  context_of_worker = to_context(start, session->role());
  validates = start.setup.at("validates").as_bool();
  // The output is a pipe: without this a rank's last words before a crash would stay in a buffer.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  note_throws();
  tell_crashes();
  prepare_stacks();
  session->tell_stacks_by(stacks_of_threads);
  const auto* rank = std::get_if<wire::RankRole>(&session->role());
  return rank == nullptr ? Result<void>() : worker::settle_in(rank->working_directory, rank->enter_working_directory);
}

/// Into how many lanes epochs are cut: one for each machine, or a few more. Ranks know how many of
/// them are on their own machine, so all take what rank 0 makes of that.
int lanes_of_data() {
  const int here = context_of_worker.local_world_size;
  if (here == context_of_worker.world_size) return 1;
  const int machines = (context_of_worker.world_size + here - 1) / here;
  return std::stoi(worker_collective("broadcast", 0, std::to_string(data::lanes_for(machines))).value());
}

/// Throws `BadResult` where the checkpoint that the attempt begins with cannot be read.
void give_data(const Json& datasets) {
  const JsonObject positions = session->data_cursors().value();
  give_shards(json_text(datasets), json_text(positions),
              {context_of_worker.trial_id, context_of_worker.world_size, context_of_worker.world_rank,
               context_of_worker.local_world_size, datasets.as_object().empty() ? 1 : lanes_of_data()});
}

void train(const wire::Blob& task) {
  try {
    const JsonObject order = parse_json(task ? *task : "", "a training task").value().as_object();
    const std::string name(order.at("loop").as_string());
    if (const Json* datasets = order.if_contains("datasets")) give_data(*datasets);
    std::string value = call_loop(name, json_text(order.at("config")));
    std::cout.flush();
    std::fflush(nullptr);
    session->training_returned(std::make_shared<const std::string>(std::move(value)));
  } catch (...) {
    const RankError error = describe_current_exception();
    std::cout.flush();
    std::fflush(nullptr);
    session->training_raised(error, nullptr);
  }
}

/// What the function returned; an error when it is no object.
Result<JsonObject> to_metrics(const std::string& returned) {
  const Json value = parse_json(returned, "metrics").value();
  if (value.is_object()) return value.as_object();
  return Error{ErrorKind::invalid_argument, "the validation function returned " + returned +
                                                "; allowed: an object of metrics, such as {{\"accuracy\", 0.9}}"};
}

void run_task(const wire::RankRole&, const wire::Blob& task) { train(task); }

/// One checkpoint is validated by the trainer's function, with the trainer's arguments and this
/// one's over them.
void run_task(const wire::ValidationRole& order, const wire::Blob& function) {
  try {
    if (order.older_form) {
      throw BadResult({ErrorKind::invalid_argument, "a Python program has asked for it, with a Python function"});
    }
    JsonObject task = parse_json(function ? *function : "", "a validation").value().as_object();
    JsonObject& arguments = task.at("arguments").as_object();
    for (const auto& argument : order.arguments) arguments[argument.key()] = argument.value();
    const std::string returned =
        call_validation(std::string(task.at("function").as_string()), order.checkpoint, json_text(arguments));
    std::cout.flush();
    std::fflush(nullptr);
    if (const auto metrics = to_metrics(returned); metrics) {
      session->validated(*metrics);
    } else {
      session->training_raised({"headway::BadResult", metrics.error().message, "", false}, nullptr);
    }
  } catch (...) {
    const RankError error = describe_current_exception();
    std::cout.flush();
    std::fflush(nullptr);
    session->training_raised(error, nullptr);
  }
}

/// The session itself carries artifacts.
void run_task(const wire::ArtifactRole&, const wire::Blob&) {}
/// A C++ program's data sets call no Python functions on other nodes.
void run_task(const wire::FunctionRole&, const wire::Blob&) {}

[[noreturn]] void leave(int code) {
  std::cout.flush();
  std::fflush(nullptr);
  std::quick_exit(code);
}

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "headway: this worker cannot begin: %s\n", error.message.c_str());
  leave(1);
}

}  // namespace

void work(int session_fd, const std::map<std::string, std::string>& env) {
  for (const auto& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
  auto opened = worker::Session::open(session_fd);
  if (!opened) give_up(opened.error());
  session = opened->release();  // It lives as long as the process.
  if (const auto settled = settle_in(session->context()); !settled) give_up(settled.error());
  session->announce();
  while (true) {
    const worker::Task task = session->next_task();
    if (task.kind == worker::Task::Kind::train) {
      std::visit([&](const auto& role) { run_task(role, task.function); }, session->role());
    }
    if (task.kind == worker::Task::Kind::execute) {
      session->answer_call(task.call_id, RankError{"TypeError", "a C++ worker calls no pickled functions", "", false},
                           nullptr);
    }
    if (task.kind == worker::Task::Kind::end) break;
  }
  session->finish_uploads();
  leave(0);
}

bool in_validation() { return session != nullptr && std::holds_alternative<wire::ValidationRole>(session->role()); }

const Context* worker_context() { return session == nullptr || in_validation() ? nullptr : &context_of_worker; }

const Context& validation_context() { return context_of_worker; }

bool worker_validates() { return validates; }

std::vector<std::string> own_variables() {
  return threads_are_set_here ? std::vector<std::string>{"OMP_NUM_THREADS"} : std::vector<std::string>{};
}

Result<int> worker_opens_runtime() { return session->open_runtime(); }

namespace {

/// Errors: `unavailable` with the exception's type, words and frames, which are shown in the rank's
/// output too.
Result<std::string> call_store(const std::function<std::string(const std::string&)>& store, const std::string& name) {
  try {
    return store(name);
  } catch (...) {
    const RankError error = describe_current_exception();
    std::fprintf(stderr, "%s: %s\n%s", error.type.c_str(), error.message.c_str(), error.traceback.c_str());
    return Error{ErrorKind::unavailable, to_text(error)};
  }
}

}  // namespace

Result<void> worker_report(ReportOrder order) {
  Result<Json> metrics = parse_json(order.metrics_json, "metrics");
  if (!metrics) return metrics.error();
  worker::ReportRequest request;
  request.metrics = std::move(metrics->as_object());
  request.checkpoint_directory = std::move(order.checkpoint_directory);
  request.checkpoint_name = std::move(order.checkpoint_name);
  request.name_argument = "ReportOptions.checkpoint_name";
  request.move = order.move;
  request.asynchronous = order.asynchronous;
  if (order.placed) request.source = CheckpointSource::placed;
  if (order.store) {
    request.source = CheckpointSource::function;
    request.store = [store = std::move(order.store)](const std::string& name) { return call_store(store, name); };
  }
  if (order.reduce) {
    ReductionPlan& plan = request.reduce.emplace();
    if (const auto* all = std::get_if<Reduce>(&*order.reduce)) plan.all = *all;
    if (const auto* named = std::get_if<std::map<std::string, Reduce>>(&*order.reduce)) plan.by_metric = *named;
  }
  if (order.validation) {
    ValidationTask& task = request.validation.emplace();
    task.as_configured = order.validation->as_configured;
    task.arguments = parse_json(order.validation->arguments_json, "ValidationTaskConfig.arguments").value().as_object();
    task.timeout_s = order.validation->timeout_s;
    if (const auto fits = headway::validate(task); !fits) return fits.error();
  }
  if (order.data_positions_json) {
    session->set_data_cursors(parse_json(*order.data_positions_json, "positions").value().as_object());
  }
  const auto reported = session->report(std::move(request));
  if (!reported) return reported.error();
  return {};
}

Result<std::string> worker_collective(const std::string& kind, int root, std::string bytes) {
  const auto gathered = session->collective(kind, root, std::make_shared<const std::string>(std::move(bytes)));
  if (!gathered) return gathered.error();
  return *gathered ? **gathered : std::string();
}

void tell_data_progress(const DataProgress& progress) {
  if (worker_context() != nullptr) session->send_data_progress(progress);
}

void worker_counts_step(std::int64_t optimizer) {
  if (session->stepped(optimizer)) session->send_progress();
}

void worker_was_in_collectives(double seconds) { session->steps().in_collectives(from_seconds(seconds)); }

void worker_sees_collectives(bool visible) { session->steps().see_collectives(visible); }

Result<std::optional<PreemptionInfo>> worker_preemption_info() {
  const auto told = session->preemption_info("preemption_info");
  if (!told) return told.error();
  if (!*told) return std::optional<PreemptionInfo>();
  const Result<PreemptionInfo> info = from_json_text<PreemptionInfo>(**told, "a preemption");
  if (!info) return info.error();
  return std::optional<PreemptionInfo>(*info);
}

std::optional<std::string> worker_checkpoint() { return session->checkpoint(); }

Result<std::vector<ToldCheckpoint>> worker_checkpoints(bool validated, std::optional<double> timeout_s) {
  const auto told = session->ask_checkpoints(validated, timeout_s);
  if (!told) return told.error();
  std::vector<ToldCheckpoint> checkpoints;
  for (const wire::ToldCheckpoint& each : *told) {
    checkpoints.push_back({each.checkpoint, json_text(each.metrics), std::string(to_json(each.status).as_string())});
  }
  return checkpoints;
}

}  // namespace headway::library
