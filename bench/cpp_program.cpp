// What first_step.py, report.py, recovery.py and training_time.py measure, for training from C++:
//
//   bench_cpp load | first_step | report COUNT | recovery | training_time
//
// Run by run.py, as those are: BENCH_STARTED is the time at which this process was asked for,
// BENCH_FOLDER a separate folder.

#include <headway/torch.hpp>
#include <headway/train.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using headway::Json;

constexpr int workers = 2;

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string folder() { return std::getenv("BENCH_FOLDER"); }

/// Leaves a value (default: the time now) for the driver.
void note(const std::string& where, const std::string& name, double value = now_s()) {
  std::ofstream file(where + "/" + name + ".note");
  file.precision(17);
  file << value;
}

double noted(const std::string& where, const std::string& name) {
  std::ifstream file(where + "/" + name + ".note");
  double value = 0;
  if (!(file >> value)) throw std::runtime_error("no rank has left " + name + " in " + where);
  return value;
}

double last_step(const std::string& where) {
  double last = 0;
  for (int rank = 0; rank < workers; ++rank) last = std::max(last, noted(where, "step_" + std::to_string(rank)));
  return last;
}

void finish(const Json& figures) { std::cout << "\nBENCH RESULT " << figures.dump() << std::endl; }

double since_start_s(double moment) { return moment - std::atof(std::getenv("BENCH_STARTED")); }

void ddp_step() {
  auto model = headway::torch::prepare_model(torch::nn::Linear(10, 10));
  model(torch::randn({4, 10})).sum().backward();
}

void first_step(const Json& config) {
  ddp_step();
  note(config.at("folder").as_string(), "step_" + std::to_string(headway::context().world_rank));
  headway::report({{"rank", headway::context().world_rank}});
}
HEADWAY_TRAIN_LOOP(first_step);

void report_often(const Json& config) {
  std::vector<double> times;
  for (int i = 0; i < config.at("count").as_int(); ++i) {
    const auto started = std::chrono::steady_clock::now();
    headway::report({{"i", i}});
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
  }
  std::sort(times.begin(), times.end());
  if (headway::context().world_rank == 0) note(config.at("folder").as_string(), "median", times.at(times.size() / 2));
}
HEADWAY_TRAIN_LOOP(report_often);

/// The others wait in an all-reduce when the last rank is killed.
void lose_a_rank(const Json& config) {
  const std::string where = config.at("folder").as_string();
  const int rank = headway::context().world_rank;
  if (!headway::get_checkpoint()) {
    fs::create_directories(where + "/saved");
    if (rank == 0) std::ofstream(where + "/saved/state") << 1;
    std::optional<headway::Checkpoint> checkpoint;
    if (rank == 0) checkpoint = headway::Checkpoint::from_directory(where + "/saved");
    headway::report({{"back", 0}}, checkpoint);
    (void)headway::torch::process_group();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (rank == workers - 1) {
      note(where, "killed");
      raise(SIGKILL);
    }
    std::vector<torch::Tensor> ones{torch::ones(1)};
    headway::torch::process_group()->allreduce(ones)->wait();
    std::this_thread::sleep_for(std::chrono::seconds(60));
  }
  first_step(config);
}
HEADWAY_TRAIN_LOOP(lose_a_rank);

torch::nn::Sequential make_model() {
  using namespace torch::nn;
  return Sequential(Conv2d(1, 32, 3), ReLU(), Conv2d(32, 64, 3), ReLU(), AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions(7)),
                    Flatten(), Linear(64 * 7 * 7, 10));
}

/// The network, the numbers and the steps of training_time.py.
void train_for_a_while(const Json& config) {
  constexpr int samples = 512;
  constexpr int batch = 32;
  constexpr int epochs = 3;  // The first one is a warm-up and not timed.
  const int rank = headway::context().world_rank;
  torch::set_num_threads(1);
  torch::manual_seed(0);
  auto model = headway::torch::prepare_model(make_model());
  torch::optim::SGD optimizer(model.parameters(), 0.01);
  auto random = at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(rank));
  const auto images = torch::randn({samples, 1, 28, 28}, random).split(batch);
  const auto labels = torch::randint(0, 10, {samples}, random, torch::kInt64).split(batch);
  std::chrono::steady_clock::time_point started;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    if (epoch == 1) {
      headway::torch::process_group()->barrier()->wait();
      started = std::chrono::steady_clock::now();
    }
    for (std::size_t i = 0; i < images.size(); ++i) {
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(model(images[i]), labels[i]).backward();
      optimizer.step();
    }
  }
  headway::torch::process_group()->barrier()->wait();
  const double training_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (rank == 0) note(config.at("folder").as_string(), "training", training_s);
  headway::report({{"training_s", training_s}});
}
HEADWAY_TRAIN_LOOP(train_for_a_while);

/// A run in a folder below this program's own, which is returned.
std::string fit(const headway::TrainLoop& loop, const std::string& name, Json config = Json::object()) {
  const std::string where = folder() + "/" + name;
  fs::create_directories(where);
  config["folder"] = where;
  headway::TrainerOptions options;
  options.config = config;
  options.scaling.num_workers = workers;
  options.run = {.name = "run", .storage_path = where, .failure = {.max_failures = 1}};
  (void)headway::Trainer(loop, options).fit().value();
  return where;
}

void run_twice() {
  Json figures = Json::object();
  for (const std::string name : {"first", "second"}) {
    const double started = now_s();
    const double stepped = last_step(fit(first_step, name));
    figures[name + "_end_s"] = now_s() - stepped;
    figures[name + "_step_s"] = name == "first" ? since_start_s(stepped) : stepped - started;
  }
  finish(figures);
}

void recover() {
  const std::string where = fit(lose_a_rank, "first");
  finish({{"recovery_s", last_step(where) - noted(where, "killed")}});
}

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  const std::map<std::string, std::function<void()>> programs{
      // The limit of a cold start: libtorch is loaded, and one operator was called.
      {"load", [] { finish({{"first_step_s", since_start_s(now_s()) + 0 * torch::ones(1).item<double>()}}); }},
      {"first_step", run_twice},
      {"report",
       [&] { finish({{"report_s", noted(fit(report_often, "first", {{"count", std::atoi(argv[2])}}), "median")}}); }},
      {"recovery", recover},
      {"training_time", [] { finish({{"training_s", noted(fit(train_for_a_while, "first"), "training")}}); }},
  };
  const auto program = argc < 2 ? programs.end() : programs.find(argv[1]);
  if (program == programs.end() || (program->first == "report" && argc < 3)) {
    std::cerr << "usage: bench_cpp load | first_step | report COUNT | recovery | training_time\n";
    return 2;
  }
  program->second();
  return 0;
}
