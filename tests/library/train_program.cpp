#include "library/artifact_loops.hpp"
#include "library/commit_loops.hpp"
#include "library/handle_loops.hpp"
#include "library/keeping_loops.hpp"
#include "library/message_loops.hpp"
#include "library/report_loops.hpp"
#include "library/validation_loops.hpp"

#include <headway/train.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <thread>
#include <unistd.h>

/// A program that trains: `train_program MODE STORAGE`. Each mode is one run (or one way to get it
/// wrong); what came of it is printed.
namespace {

namespace fs = std::filesystem;
using headway::Json;
using headway::test::folder_of_rank;

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Json sum_up(const Json& config) {
  const headway::Context& me = headway::context();
  for (int step = 0; step < config.at("steps").as_int(); ++step) {
    headway::report({{"step", step}, {"doubled", 2 * config.at("x").as_int()}, {"rank", me.world_rank}});
  }
  std::cout << "rank " << me.world_rank << " of " << me.world_size << std::endl;
  return {{"pid_differs", getpid() != config.at("driver").as_int()}, {"rank", me.world_rank}};
}

/// Saves its epoch at each report and resumes from the checkpoint; the last rank dies once, after
/// epoch 2.
void die_once() {
  int epoch = 0;
  if (const auto checkpoint = headway::get_checkpoint()) epoch = std::stoi(read(checkpoint->path() + "/epoch")) + 1;
  for (; epoch < 5; ++epoch) {
    const bool first = headway::context().world_rank == 0;
    if (first) std::ofstream(folder_of_rank() + "/epoch") << epoch;
    headway::report({{"epoch", epoch}, {"attempt_was", headway::context().attempt}},
                    first ? std::optional(headway::Checkpoint::from_directory(folder_of_rank())) : std::nullopt);
    if (epoch == 2 && !first && headway::context().attempt == 1) raise(SIGKILL);
  }
}

struct OutOfLuck : std::runtime_error {
  using runtime_error::runtime_error;
};

__attribute__((noinline)) void stumble(int rank) {
  if (rank == 1) throw OutOfLuck("no luck in rank 1");
  pause();
}

void throw_in_rank_1() { stumble(headway::context().world_rank); }

void throw_with_cause() {
  try {
    stumble(1);
  } catch (...) {
    std::throw_with_nested(std::logic_error("the step failed"));
  }
}

void throw_number() { throw 42; }  // NOLINT(bugprone-std-exception-baseclass)

__attribute__((noinline)) void skip_a_row() { throw OutOfLuck("a row is skipped"); }

/// The second exception is made where the first one was.
void throw_after_a_caught_one() {
  try {
    skip_a_row();
  } catch (const OutOfLuck& caught) {
    std::cout << caught.what() << std::endl;
  }
  stumble(1);
}

void report_outside_metrics() { headway::report({1, 2, 3}); }
void exit_early() { std::exit(3); }

__attribute__((noinline)) void write_to(volatile int* place) { *place = 1; }
void crash() { write_to(nullptr); }

void throw_in_thread() {
  std::thread([] { stumble(1); }).join();
}

void fit_inside();

void show_environment(const Json& config) {
  const char* value = std::getenv("HEADWAY_TEST_WORD");
  std::cout << "word " << (value == nullptr ? "none" : value) << " cwd " << fs::current_path().filename().string()
            << " depth " << std::getenv("HEADWAY_DEPTH") << " role "
            << (std::getenv("HEADWAY_ENTER_AS") == nullptr ? "none" : "left") << std::endl;
  if (!config.at("pause").as_bool()) return;
  std::cout << "pids " << getpid() << " " << getppid() << std::endl;
  pause();
}

/// Each rank's square, gathered by broadcasts; then what only the ranks together can know.
Json gather() {
  const headway::Context& me = headway::context();
  Json all;
  for (int root = 0; root < me.world_size; ++root) {
    all.push_back(std::stoi(headway::broadcast(std::to_string(10 + me.world_rank), root)));
  }
  if (me.world_rank == 0) std::ofstream(me.run_directory + "/made_before_the_barrier") << "x";
  headway::barrier();
  std::cout << "there: " << fs::exists(me.run_directory + "/made_before_the_barrier") << std::endl;
  headway::barrier();
  if (headway::preemption_info()) all.push_back("a node is taken away");
  return all;
}

void wait_for_one_that_returned() {
  if (headway::context().world_rank == 0) headway::barrier();
}

__attribute__((noinline)) void wait_until_looked_at() {
  // Each look at its frames wakes it. One may have been for the start, and the last one finds it
  // gone on.
  for (int looks = 0; looks < 3; ++looks) pause();
}

void hang_before_the_barrier() {
  if (headway::context().world_rank == 1) wait_until_looked_at();
  headway::barrier();
}

void hang_for_good() {
  if (headway::context().world_rank == 1) {
    while (true) pause();
  }
  headway::barrier();
}

void bad_root() { headway::broadcast("x", 7); }

/// This program again, in each worker of it, as a careless script would: `train_program run_itself
/// FOLDER`.
void run_itself(const Json& config) {
  std::cout << "at depth " << std::getenv("HEADWAY_DEPTH") << std::endl;
  const std::string deeper = folder_of_rank();
  const std::string command = fs::read_symlink("/proc/self/exe").string() + " run_itself " + deeper + " 2>&1";
  // NOLINTNEXTLINE(bugprone-command-processor)
  const int status = std::system(command.c_str());
  headway::report({{"code", status == 0 ? 0 : 1}, {"x", config.at("x").as_int()}});
}

void show_context() {
  const headway::Context& me = headway::context();
  std::cout << "world " << me.world_rank << " of " << me.world_size << ", local " << me.local_rank << " of "
            << me.local_world_size << ", node " << me.node_rank << ", attempt " << me.attempt << ", cpus " << me.cpus
            << ", gpus " << me.gpu_ids.size() << " of " << me.visible_gpus.size() << ", run " << me.run_name << " in "
            << me.run_directory << ", worker " << headway::in_worker() << ", metadata " << me.metadata_json
            << std::endl;
  std::cout << "trial is the same: " << (headway::broadcast(me.trial_id) == me.trial_id && !me.trial_id.empty())
            << std::endl;
}

void not_registered() {}

/// What works in a training loop only, elsewhere: what each call throws.
int call_outside() {
  const std::map<std::string, void (*)()> calls{
      {"report", [] { headway::report({{"x", 1}}); }},
      {"context", [] { (void)headway::context(); }},
      {"get_checkpoint", [] { (void)headway::get_checkpoint(); }},
      {"get_all_reported_checkpoints", [] { (void)headway::get_all_reported_checkpoints(); }},
      {"barrier", [] { headway::barrier(); }},
      {"broadcast", [] { (void)headway::broadcast("x"); }}};
  for (const auto& [name, call] : calls) {
    try {
      call();
    } catch (const headway::BadResult& error) {
      std::cout << name << ": " << to_string(error.error().kind) << ": " << error.what() << std::endl;
    }
  }
  return headway::in_worker() ? 1 : 0;
}

}  // namespace

namespace other {
void train() {}
}  // namespace other

HEADWAY_TRAIN_LOOP(sum_up);
HEADWAY_TRAIN_LOOP(die_once);
HEADWAY_TRAIN_LOOP(throw_in_rank_1);
HEADWAY_TRAIN_LOOP(throw_with_cause);
HEADWAY_TRAIN_LOOP(throw_number);
HEADWAY_TRAIN_LOOP(throw_after_a_caught_one);
HEADWAY_TRAIN_LOOP(report_outside_metrics);
HEADWAY_TRAIN_LOOP(exit_early);
HEADWAY_TRAIN_LOOP(crash);
HEADWAY_TRAIN_LOOP(throw_in_thread);
HEADWAY_TRAIN_LOOP(fit_inside);
HEADWAY_TRAIN_LOOP(show_environment);
HEADWAY_TRAIN_LOOP(gather);
HEADWAY_TRAIN_LOOP(run_itself);
HEADWAY_TRAIN_LOOP(show_context);
HEADWAY_TRAIN_LOOP(wait_for_one_that_returned);
HEADWAY_TRAIN_LOOP(bad_root);
HEADWAY_TRAIN_LOOP(hang_before_the_barrier);
HEADWAY_TRAIN_LOOP(hang_for_good);
HEADWAY_TRAIN_LOOP(other::train);

namespace {

void fit_inside() { (void)headway::Trainer(sum_up).fit().value(); }

/// Tells what it hears; in the mode "callback_throws" it throws at the second report.
struct Listener : headway::Callback {
  explicit Listener(bool throws_once) : throws(throws_once) {}
  void after_report(const std::vector<Json>& metrics, const std::optional<headway::Checkpoint>& checkpoint) override {
    std::cout << "heard " << Json(metrics).dump() << " "
              << (checkpoint ? fs::path(checkpoint->path()).filename().string() : "-") << std::endl;
    if (throws && ++reports == 2) throw std::out_of_range("enough");
  }
  void after_exception(const std::map<int, std::string>& failures) override {
    for (const auto& [rank, text] : failures) std::cout << "rank " << rank << " failed: " << text << std::endl;
  }
  bool throws;
  int reports = 0;
};

int show(const headway::Result<headway::TrainResult>& result) {
  if (!result) {
    std::cout << "error " << to_string(result.error().kind) << ": " << result.error().message << std::endl;
    return 1;
  }
  std::cout << "metrics " << result->metrics.dump() << "\nreturned " << result->return_value.dump() << "\nattempts "
            << result->attempts << '\n';
  for (const headway::BestCheckpoint& kept : result->best_checkpoints) {
    std::cout << "kept " << fs::path(kept.checkpoint.path()).filename().string() << " of "
              << kept.checkpoint.files().size() << " files, " << (kept.checkpoint.verify() ? "whole" : "broken")
              << '\n';
    const std::string metadata = kept.checkpoint.metadata_json().value();
    if (metadata != "{}") std::cout << "metadata " << metadata << '\n';
  }
  if (result->dropped_checkpoints > 0) std::cout << "dropped " << result->dropped_checkpoints << '\n';
  std::cout.flush();
  return 0;
}

const std::map<std::string, headway::TrainLoop> loops{
    {"sum_up", sum_up},
    {"die_once", die_once},
    {"throw_in_rank_1", throw_in_rank_1},
    {"throw_with_cause", throw_with_cause},
    {"throw_number", throw_number},
    {"throw_after_a_caught_one", throw_after_a_caught_one},
    {"report_outside_metrics", report_outside_metrics},
    {"exit_early", exit_early},
    {"crash", crash},
    {"throw_in_thread", throw_in_thread},
    {"fit_inside", fit_inside},
    {"show_environment", show_environment},
    {"pause", show_environment},
    {"gather", gather},
    {"run_itself", run_itself},
    {"show_context", show_context},
    {"wait_for_one_that_returned", wait_for_one_that_returned},
    {"bad_root", bad_root},
    {"hang_before_the_barrier", hang_before_the_barrier},
    {"hang_as_the_environment_says", hang_before_the_barrier},
    {"hang_for_good", hang_for_good},
    {"not_registered", not_registered},
};

headway::Trainer trainer_for(const std::string& mode, const std::string& storage) {
  std::map<std::string, headway::TrainLoop> all = headway::test::report_loops();
  all.merge(headway::test::validation_loops());
  all.merge(headway::test::message_loops());
  all.merge(headway::test::artifact_loops());
  all.merge(headway::test::keeping_loops());
  all.merge(headway::test::handle_loops());
  all.merge(headway::test::commit_loops());
  all.insert(loops.begin(), loops.end());
  const auto found = all.find(mode);
  const headway::TrainLoop loop = found == all.end() ? headway::TrainLoop(sum_up) : found->second;
  headway::TrainerOptions options{
      .config = {{"x", 21}, {"steps", 3}, {"driver", getpid()}, {"pause", mode == "pause"}, {"mode", mode}},
      .scaling = {.num_workers = mode == "no_workers" ? 0 : 2},
      .run = {.name = "run", .storage_path = storage}};
  if (mode == "bad_range") options.scaling.min_workers = 3;
  if (mode == "die_once") options.run.failure.max_failures = 1;
  if (mode == "die_once") options.run.checkpoint.num_to_keep = 2;
  if (mode == "hang_before_the_barrier") options.run.failure.hang_warn_s = 0.5;
  headway::test::add_validation(mode, options);
  headway::test::add_sync(mode, options);
  headway::test::keep_as_asked(mode, options);
  headway::test::listen_by_handle(mode, options);
  headway::test::keep_few(mode, options);
  headway::test::make_wrong(mode, options);
  if (mode == "callback_null") options.callbacks = {nullptr};
  if (mode == "die_once" || mode == "callback_throws")
    options.callbacks = {std::make_shared<Listener>(mode == "callback_throws")};
  if (mode == "run_itself") options.scaling.num_workers = 1;
  if (mode == "show_context") options.scaling.resources_per_worker = {{"CPU", 0.5}};
  if (mode == "drop_checkpoint") options.run.checkpoint.on_upload_failure = "warn";
  if (mode == "bad_config") options.config = 3;
  if (mode == "hand_over" || mode == "show_context") options.metadata = {{"classes", 10}};
  if (mode == "bad_metadata") options.metadata = 3;
  if (mode == "resume_from_nothing") options.resume_from_checkpoint = headway::Checkpoint::from_directory("/none");
  return headway::Trainer(loop, std::move(options));
}

int run_mode(const std::string& mode, const std::string& storage) {
  if (mode == "twice") static const headway::RegisteredLoop again("sum_up", other::train);
  setenv("HEADWAY_TEST_WORD", "w\xC3\xB6rter \xFF", 1);
  fs::current_path(storage);
  const fs::path own = fs::read_symlink("/proc/self/exe");
  if (mode == "file_gone") fs::remove(own);
  if (mode == "file_replaced") {
    std::ofstream(own.string() + ".new") << "#!/bin/sh\necho the new program\nexit 1\n";
    fs::permissions(own.string() + ".new", fs::perms::owner_all);
    fs::rename(own.string() + ".new", own);
  }
  if (mode == "call_outside") return call_outside();
  if (headway::test::is_handled(mode)) return show(headway::test::run_by_handle(mode, trainer_for(mode, storage)));
  const auto result = trainer_for(mode, storage).fit();
  if (mode == "count_steps" && result) {
    const std::map<int, Json> times = result->step_times().value();
    for (const Json& rank : times.at(1).as_array())
      std::cout << "rank " << rank.at("rank").as_int() << " steps " << rank.at("steps").at("count").as_int() << '\n';
  }
  return show(result);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string mode = argv[1];
  if (mode == "main_missing") return run_mode(mode, argv[2]);
  if (mode == "main_not_reached" && std::getenv("HEADWAY_ENTER_AS") != nullptr) {
    std::cerr << "this machine has its driver already" << std::endl;
    return 4;
  }
  if (mode == "main_blocked" && std::getenv("HEADWAY_ENTER_AS") != nullptr) {
    std::cerr << "blocked " << getpid() << std::endl;
    while (true) pause();
  }
  if (mode == "main_ended") {
    {
      const headway::Main ended(argc, argv);
    }
    return run_mode(mode, argv[2]);
  }
  std::thread early;
  if (mode == "main_late") early = std::thread([] { pause(); });
  if (early.joinable()) early.detach();
  const headway::Main guard(argc, argv);
  if (mode == "main_twice") {
    const headway::Main second(argc, argv);
    return run_mode(mode, argv[2]);
  }
  return run_mode(mode, argv[2]);
}
