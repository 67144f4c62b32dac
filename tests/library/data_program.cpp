#include <headway/train.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

/// Two ranks, or as many as MODE says, train on CSV files: `data_program MODE STORAGE FILES`. What
/// each rank has seen, in its order, is in its checkpoints; the last line printed is what all have
/// seen, epoch by epoch.
namespace {

namespace data = headway::data;
namespace fs = std::filesystem;
using headway::Json;

constexpr int epochs = 2;
constexpr int killed_at = 5;  // A batch of the second epoch.

void add_100(data::Batch& batch) {
  std::vector<std::int64_t> raised;
  for (const std::int64_t id : batch["id"].as<std::int64_t>()) raised.push_back(id + 100);
  batch.set("raised", std::move(raised));
}
HEADWAY_BATCH_FUNCTION(add_100);

/// The ids that a rank has seen: an epoch is a line, which ends with '|'.
std::string seen_before(int rank) {
  const auto checkpoint = headway::get_checkpoint();
  if (!checkpoint) return "";
  std::ifstream file(checkpoint->path() + "/seen_" + std::to_string(rank));
  return {std::istreambuf_iterator<char>(file), {}};
}

void save(const std::string& seen, int batch) {
  const headway::Context& me = headway::context();
  const std::string folder = me.run_directory + "/local_" + std::to_string(me.world_rank);
  fs::create_directories(folder);
  std::ofstream(folder + "/seen_" + std::to_string(me.world_rank)) << seen;
  headway::report({{"batch", batch}}, headway::Checkpoint::from_directory(folder));
}

Json see(const Json& config) {
  const headway::Context& me = headway::context();
  std::string seen = seen_before(me.world_rank);
  const data::DataIterator shard = headway::get_dataset_shard(config.value_or("dataset", "train"));
  auto epoch = static_cast<int>(shard.state().at("epoch").as_int());
  for (int before = 0; seen.empty() && before < epoch; ++before) seen += "| ";
  for (; epoch < epochs; ++epoch) {
    int number = 0;
    for (const data::Batch& batch : shard.batches({.batch_size = 7})) {
      const bool has_function = batch.contains("raised");
      const auto ids = batch[has_function ? "raised" : "id"].as<std::int64_t>();
      for (const std::int64_t id : ids) seen += std::to_string(id) + " ";
      save(seen, ++number);
      const std::string mode = config.at("mode").as_string();
      const bool dies = (mode == "killed" || mode == "stopped") && epoch == 1 && number == killed_at;
      if (dies && me.attempt == 1 && me.world_rank == 1) raise(SIGKILL);
    }
    seen += "| ";
  }
  std::string all;
  for (int rank = 0; rank < me.world_size; ++rank) all += headway::broadcast(seen, rank) + "\n";
  return all;
}
HEADWAY_TRAIN_LOOP(see);

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  const std::string mode = argv[1];
  headway::TrainerOptions options{.config = {{"mode", mode}}, .scaling = {.num_workers = 2}};
  options.run = {.name = "data", .storage_path = argv[2], .failure = {.max_failures = mode == "stopped" ? 0 : 1}};
  if (mode == "resumed_by_three" || mode == "by_three") options.scaling.num_workers = 3;
  const data::Dataset rows = data::read_csv(argv[3]).filter(data::col("id") != 13);
  options.datasets.emplace("train", mode == "function" ? rows.map_batches(add_100) : rows.random_shuffle({.seed = 1}));
  if (mode == "not_split") options.datasets_to_split.emplace();
  if (mode == "unknown_split") options.datasets_to_split = {"train", "test"};
  if (mode == "unknown_name") options.config["dataset"] = "test";
  const auto result = headway::Trainer(see, options).fit();
  if (!result) {
    std::cout << headway::to_string(result.error().kind) << ": " << result.error().message << std::endl;
    return 1;
  }
  std::cout << "attempts: " << result->attempts << "\nseen:\n" << result->return_value.as_string() << std::flush;
  return 0;
}
