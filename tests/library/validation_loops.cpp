#include "library/validation_loops.hpp"

#include "library/report_loops.hpp"

#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::test {

namespace fs = std::filesystem;

namespace {

const char* to_text(ReportedCheckpointStatus status) {
  switch (status) {
    case ReportedCheckpointStatus::committed: return "committed";
    case ReportedCheckpointStatus::pending_validation: return "pending_validation";
    case ReportedCheckpointStatus::validated: return "validated";
    case ReportedCheckpointStatus::validation_failed: return "validation_failed";
    case ReportedCheckpointStatus::validation_timeout: return "validation_timeout";
  }
  return "";
}

void report_weight(double weight, const ReportOptions& options) {
  if (context().world_rank != 0) return report({{"weight", weight}});
  const std::string folder = folder_of_rank();
  std::ofstream(folder + "/weight") << weight;
  report({{"weight", weight}}, Checkpoint::from_directory(folder), options);
}

/// Rank 0 prints how the kept checkpoints stand when their validations have ended.
void show_standing() {
  if (context().world_rank != 0) return;
  for (const ReportedCheckpoint& each : get_all_reported_checkpoints()) {
    std::cout << fs::path(each.checkpoint.path()).filename().string() << " of " << each.checkpoint.files().size()
              << " files is " << to_text(each.status) << " with " << each.metrics.dump() << std::endl;
  }
}

void report_three() {
  report_weight(0.1, {.validation = true});
  report_weight(0.4, {.validation = ValidationTaskConfig{.arguments = {{"threshold", 0.3}}}});
  report_weight(0.9, {.validation = true});
  show_standing();
}

void report_one() {
  if (!get_checkpoint()) report_weight(0.5, {.validation = true});
  show_standing();
}

/// The last rank dies once, while the validation waits for somebody who opens its pipe.
void die_beside_validation() {
  const std::string pipe = context().run_directory + "/pipe";
  if (!get_checkpoint()) {
    if (context().world_rank == 0) mkfifo(pipe.c_str(), 0600);
    report_weight(0.5, {.validation = true});
    if (context().world_rank == 1) raise(SIGKILL);
    pause();
  }
  if (context().world_rank == 0) std::ofstream(pipe) << "go on";
  show_standing();
}

void report_four() {
  if (context().world_rank == 0) {
    for (const char* name : {"pipe_0", "pipe_1"}) mkfifo((context().run_directory + "/" + name).c_str(), 0600);
  }
  for (int i = 0; i < 4; ++i) report_weight(i, {.validation = true});
  show_standing();
}

void ask_without_checkpoint() { report({{"i", 0}}, std::nullopt, {.validation = true}); }
void ask_for_no_time() { report_weight(0.5, {.validation = ValidationTaskConfig{.timeout_s = -1}}); }
void ask_with_bad_arguments() { report_weight(0.5, {.validation = ValidationTaskConfig{.arguments = "test"}}); }

double weight_of(const Checkpoint& checkpoint) {
  std::ifstream file(checkpoint.as_directory().value().path() + "/weight");
  double weight = -1;
  file >> weight;
  return weight;
}

std::string run_directory_of(const Checkpoint& checkpoint) {
  return fs::path(checkpoint.path()).parent_path().string();
}

Json measure(const Checkpoint& checkpoint, const Json& arguments) {
  const double distance = std::abs(weight_of(checkpoint) - 0.5);
  std::cout << "threshold " << arguments.at("threshold").dump() << " of " << arguments.at("name").as_string()
            << std::endl;
  return {{"accuracy", 1 - distance}, {"good", distance < arguments.at("threshold").as_double()}};
}

__attribute__((noinline)) Json find_it_broken(const Checkpoint& checkpoint) {
  throw std::runtime_error("broken weight " + Json(weight_of(checkpoint)).dump());
}

Json return_a_number(const Checkpoint&) { return 3; }

Json take_long(const Checkpoint&) {
  pause();
  return Json::object();
}

/// Dies `deaths` times, and counts them in the run's folder.
Json die(const Checkpoint& checkpoint, const Json& arguments) {
  const std::string counter = run_directory_of(checkpoint) + "/deaths";
  std::error_code none;
  const auto deaths = fs::exists(counter) ? fs::file_size(counter, none) : 0;
  if (static_cast<std::int64_t>(deaths) < arguments.at("deaths").as_int()) {
    std::ofstream(counter, std::ios::app) << "x";
    raise(SIGKILL);
  }
  return {{"deaths", deaths}};
}

/// Two of them meet in a pipe, and a third one would find no place.
Json meet(const Checkpoint& checkpoint) {
  const std::string folder = run_directory_of(checkpoint);
  bool placed = false;
  for (const char* name : {"/place_0", "/place_1"}) {
    const int fd = open((folder + name).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    placed = placed || flock(fd, LOCK_EX | LOCK_NB) == 0;  // Until the process ends.
  }
  if (!placed) throw std::logic_error("three validations at once");
  const std::string pipe = folder + "/pipe_" + std::to_string(checkpoint.index() / 2);
  close(open(pipe.c_str(), (checkpoint.index() % 2 == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
  return {{"met", true}};
}

Json wait_for_pipe(const Checkpoint& checkpoint) {
  std::string text;
  std::getline(std::ifstream(run_directory_of(checkpoint) + "/pipe"), text);
  return {{"told", text}};
}

/// Waits until it is killed where there is a file "hold" beside the run.
Json wait_where_held(const Checkpoint& checkpoint) {
  if (fs::exists(run_directory_of(checkpoint) + "/../hold")) {
    std::cout << "pids " << getpid() << std::endl;
    pause();
  }
  return {{"accuracy", 0.75}};
}

void add_ranks(const Json& config) {
  report({
      {"sum", 1 + std::stoi(broadcast(std::to_string(context().world_rank), 1))},
      {"weight_was", config.at("weight").as_double()},
  });
}

Json train_inside(const Checkpoint& checkpoint) {
  const Trainer trainer(add_ranks, {.config = {{"weight", weight_of(checkpoint)}},
                                    .scaling = {.num_workers = 2, .resources_per_worker = {{{"CPU", 0.25}}}},
                                    .run = {.name = "inside", .storage_path = run_directory_of(checkpoint) + "/.."}});
  const TrainResult result = Trainer(trainer).fit().value();
  return {{"sum", result.metrics.at("sum").as_int()}, {"weight_was", result.metrics.at("weight_was").as_double()}};
}

Json report_inside(const Checkpoint&) {
  report({{"i", 0}});
  return Json::object();
}

Json not_registered(const Checkpoint&) { return Json::object(); }

HEADWAY_TRAIN_LOOP(report_three);
HEADWAY_TRAIN_LOOP(report_one);
HEADWAY_TRAIN_LOOP(report_four);
HEADWAY_TRAIN_LOOP(die_beside_validation);
HEADWAY_TRAIN_LOOP(ask_without_checkpoint);
HEADWAY_TRAIN_LOOP(ask_for_no_time);
HEADWAY_TRAIN_LOOP(ask_with_bad_arguments);
HEADWAY_TRAIN_LOOP(add_ranks);
HEADWAY_VALIDATION(measure);
HEADWAY_VALIDATION(find_it_broken);
HEADWAY_VALIDATION(return_a_number);
HEADWAY_VALIDATION(take_long);
HEADWAY_VALIDATION(die);
HEADWAY_VALIDATION(meet);
HEADWAY_VALIDATION(wait_for_pipe);
HEADWAY_VALIDATION(wait_where_held);
HEADWAY_VALIDATION(train_inside);
HEADWAY_VALIDATION(report_inside);

const std::map<std::string, ValidationConfig> configs{
    {"validate", {.function = measure, .task = {.arguments = {{"threshold", 0.2}, {"name", "x"}}}}},
    {"validate_throws", {.function = find_it_broken}},
    {"validate_returns_number", {.function = return_a_number}},
    {"validate_too_long", {.function = take_long, .task = {.timeout_s = 0.3}}},
    {"validate_dies_twice", {.function = die, .task = {.arguments = {{"deaths", 2}}}, .max_retries = 2}},
    {"validate_dies", {.function = die, .task = {.arguments = {{"deaths", 2}}}, .max_retries = 1}},
    {"validate_at_once", {.function = meet, .max_concurrent = 2}},
    {"validate_over_restart", {.function = wait_for_pipe}},
    {"validate_where_held", {.function = wait_where_held}},
    {"validate_by_trainer", {.function = train_inside}},
    {"validate_and_report", {.function = report_inside}},
    {"validate_claims_nothing_there", {.function = measure, .resources = {{"of no such kind", 1}}}},
    {"validation_not_registered", {.function = not_registered}},
    {"validation_twice", {.function = measure}},
    {"validation_bad_arguments", {.function = measure, .task = {.arguments = 3}}},
    {"validation_none_at_once", {.function = measure, .max_concurrent = 0}},
    {"validation_no_time", {.function = measure, .task = {.timeout_s = 0}}},
    {"validation_in_no_order", {.function = measure, .order = "any"}},
    {"validation_many_retries", {.function = measure, .max_retries = 101}},
    {"validation_half_gpus", {.function = measure, .resources = {{"GPU", 1.5}}}},
    {"ask_without_checkpoint", {.function = measure}},
    {"ask_for_no_time", {.function = measure}},
    {"ask_with_bad_arguments", {.function = measure}},
};

}  // namespace

std::map<std::string, TrainLoop> validation_loops() {
  std::map<std::string, TrainLoop> loops{{"ask_without_function", report_one}};
  for (const auto& [mode, config] : configs) loops.emplace(mode, report_one);
  loops.at("validate") = report_three;
  loops.at("validate_at_once") = report_four;
  loops.at("validate_over_restart") = die_beside_validation;
  loops.at("ask_without_checkpoint") = ask_without_checkpoint;
  loops.at("ask_for_no_time") = ask_for_no_time;
  loops.at("ask_with_bad_arguments") = ask_with_bad_arguments;
  return loops;
}

void add_validation(const std::string& mode, TrainerOptions& options) {
  const auto config = configs.find(mode);
  if (config == configs.end()) return;
  options.validation = config->second;
  if (mode == "validate") options.run.checkpoint = {.num_to_keep = 1, .checkpoint_score_attribute = "accuracy"};
  if (mode == "validate_over_restart") options.run.failure.max_failures = 1;
  if (mode == "validation_twice") static const RegisteredValidation again("measure", take_long);
}

}  // namespace headway::test
