#include <headway/train.hpp>

#include <cstdint>
#include <iostream>
#include <string>

/// A program that trains on nodes that join, or that an engine gives: `nodes_program refuse`, which
/// prints what `init` refuses, or `nodes_program train STORAGE TOKEN_FILE LISTEN [ENGINE OPTIONS]`;
/// `nodes_program read STORAGE TOKEN_FILE LISTEN FILES` has ranks read CSV files;
/// `nodes_program show STORAGE [PORT]` trains on this machine alone and stays until its input ends.
namespace {

using headway::InitOptions;
using headway::Json;

void say_where() {
  const headway::Context& me = headway::context();
  std::cout << "rank " << me.world_rank << " is on node " << me.node_rank << " at " << me.node_ip << std::endl;
  headway::report({{"size", me.world_size}});
}
HEADWAY_TRAIN_LOOP(say_where);

/// The ids that each rank has read, in steps: "node 0: 3 1 | 4 1 |".
Json read_rows() {
  const headway::Context& me = headway::context();
  std::string seen = "node " + std::to_string(me.node_rank) + ":";
  for (const auto& batch : headway::get_dataset_shard("train").batches({.batch_size = 4})) {
    for (const std::int64_t id : batch["id"].as<std::int64_t>()) seen += " " + std::to_string(id);
    seen += " |";
  }
  std::string all;
  for (int rank = 0; rank < me.world_size; ++rank) all += "SEEN " + headway::broadcast(seen, rank) + "\n";
  return all;
}
HEADWAY_TRAIN_LOOP(read_rows);

void refuse() {
  const InitOptions wrong[] = {
      {.num_cpus = -1},
      {.listen = "nowhere"},
      {.listen = "127.0.0.1:0", .node_lease_s = 0},
      {.token_file = "/tmp/token"},
      {.listen = "127.0.0.1:0", .token_file = "/proc/none/token"},
      {.engine = "slurmm"},
      {.engine = "slurm", .engine_options = {{"partitions", "x"}}},
      {.engine = "slurm", .engine_options = {{"nodes", 0}}},
      {.dashboard = 80},
  };
  for (const InitOptions& options : wrong) {
    const auto started = headway::init(options);
    std::cout << (started ? "it is not refused" : started.error().message) << std::endl;
  }
  std::cout << "joins at: \"" << headway::join_address() << "\"" << std::endl;
  headway::init({.num_cpus = 1}).value();
  std::cout << headway::init({}).error().message << std::endl;
}

/// Without a port nothing is said to `init`: the environment may ask for a dashboard.
int show(const std::string& storage, const char* port) {
  if (port != nullptr) headway::init({.dashboard = std::stoi(port)}).value();
  const auto result = headway::Trainer(say_where, {.run = {.name = "run", .storage_path = storage}}).fit();
  if (!result) std::cout << result.error().message << std::endl;
  std::cout << "PAGE " << headway::dashboard_url() << std::endl;
  std::string line;
  std::getline(std::cin, line);
  return result ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const headway::Main guard(argc, argv);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "refuse") return refuse(), 0;
  if (mode == "show" && argc > 2) return show(argv[2], argc > 3 ? argv[3] : nullptr);
  const bool reads = mode == "read" && argc == 6;
  if ((mode != "train" && !reads) || argc < 5) return 2;
  InitOptions options{.num_cpus = 0, .listen = argv[4], .token_file = argv[3], .node_lease_s = 2};
  if (argc > 6) {
    options.engine = argv[5];
    options.engine_options = Json::parse(argv[6]).value();
  }
  if (const auto started = headway::init(options); !started) {
    std::cerr << started.error().message << std::endl;
    return 1;
  }
  std::cout << "JOIN " << headway::join_address() << std::endl;
  headway::TrainerOptions run;
  run.scaling = {.num_workers = 2, .resources_per_worker = {{{"CPU", 1}}}, .placement_strategy = "STRICT_SPREAD"};
  run.run = {.name = "run", .storage_path = argv[2]};
  if (reads) run.datasets.emplace("train", headway::data::read_csv(argv[5]).random_shuffle({.seed = 1}));
  const auto result = (reads ? headway::Trainer(read_rows, run) : headway::Trainer(say_where, run)).fit();
  if (!result) std::cerr << result.error().message << std::endl;
  if (result && reads) std::cout << result->return_value.as_string() << std::flush;
  return result ? 0 : 1;
}
