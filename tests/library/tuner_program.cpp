#include <headway/train.hpp>
#include <headway/tune.hpp>

#include <csignal>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <unistd.h>

/// A program that tunes: `tuner_program MODE STORAGE`. Each mode is one experiment (or one way to
/// get it wrong); what came of it is printed.
namespace {

namespace tune = headway::tune;
using headway::Json;

/// Reports nine times: the further x is from 1, the worse.
void descend(const Json& config) {
  const double x = config.at("x").as_double();
  for (int step = 1; step <= 9; ++step) {
    headway::report({{"loss", {{"held_out", ((x - 1) * (x - 1)) + (1.0 / step)}}}});
  }
}
HEADWAY_TRAIN_LOOP(descend);

/// Kills the driver at its second step, once.
void kill_the_driver(const Json& config) {
  const std::string mark = config.at("mark").as_string();
  for (int step = 1; step <= 3; ++step) {
    headway::report({{"loss", config.at("x").as_double()}});
    const bool first = !std::ifstream(mark).good();
    if (step == 2 && first && config.at("x").as_int() == 2) {
      std::ofstream(mark) << "killed";
      kill(static_cast<pid_t>(config.at("driver").as_int()), SIGKILL);
      pause();
    }
  }
}
HEADWAY_TRAIN_LOOP(kill_the_driver);

void fail_for_two(const Json& config) {
  headway::report({{"loss", config.at("x").as_double()}});
  if (config.at("x").as_int() == 2) throw std::runtime_error("two is too much");
}
HEADWAY_TRAIN_LOOP(fail_for_two);

int show(const headway::Result<tune::ResultGrid>& grid) {
  if (!grid) {
    std::cout << "error " << headway::to_string(grid.error().kind) << ": " << grid.error().message << '\n';
    return 1;
  }
  for (const tune::TrialResult& trial : grid->trials) {
    std::cout << "trial " << trial.config.dump() << ' ' << trial.state << " after "
              << trial.metrics.value_or("training_iteration", 0) << ": " << trial.reason << '\n';
  }
  const auto best = grid->get_best_result();
  std::cout << "best " << (best ? best->config.dump() : best.error().message) << "\nerrors " << grid->num_errors()
            << '\n';
  return 0;
}

int run(const std::string& mode, const std::string& storage) {
  tune::TunerOptions options{.tune = {.metric = "loss", .mode = "min"},
                             .run = {.name = "run", .storage_path = storage}};
  if (mode == "asha" || mode == "resumed") {
    options.resume = mode == "resumed";
    options.space = {{"x", tune::uniform(0, 4)}, {"model/depth", tune::grid_search({1, 2})}, {"name", "small"}};
    options.tune.metric = "loss/held_out";
    options.tune.num_samples = 8;
    options.tune.max_concurrent_trials = 1;
    options.tune.scheduler = tune::ASHAScheduler{.max_t = 9, .reduction_factor = 3};
    return show(tune::Tuner(descend, options).fit());
  }
  if (mode == "killed") {
    options.space = {{"x", tune::grid_search({1, 2, 3})},
                     {"mark", storage + "/mark"},
                     {"driver", static_cast<std::int64_t>(getpid())}};
    options.tune.max_concurrent_trials = 1;
    options.resume = std::ifstream(storage + "/mark").good();
    return show(tune::Tuner(kill_the_driver, options).fit());
  }
  options.space = {{"x", tune::grid_search({1, 2, 3})}};
  if (mode == "bounds") options.space = {{"lr", tune::loguniform(0, 1)}};
  if (mode == "twice") options.space = {{"model/depth", 1}, {"model", 2}};
  if (mode == "mode") options.tune.mode = "least";
  if (mode == "metric") {
    options.tune.metric = "";
    options.tune.scheduler = tune::ASHAScheduler{};
  }
  if (mode == "scheduler") options.tune.scheduler = tune::ASHAScheduler{.reduction_factor = 1};
  if (mode == "missing") options.tune.metric = "accuracy";
  const int code = show(tune::Tuner(fail_for_two, options).fit());
  return mode == "again" ? show(tune::Tuner(fail_for_two, options).fit()) : code;
}

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  return run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
}
