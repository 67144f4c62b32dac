#include "library/report_loops.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace headway::test {

namespace fs = std::filesystem;

std::string folder_of_rank() {
  const std::string folder =
      headway::context().run_directory + "/../local_" + std::to_string(headway::context().world_rank);
  fs::create_directories(folder);
  return folder;
}

namespace {

void store_asynchronously() {
  for (int i = 0; i < 4; ++i) {
    const std::string folder = folder_of_rank() + "/" + std::to_string(i);
    fs::create_directories(folder);
    std::ofstream(folder + "/part_" + std::to_string(headway::context().world_rank)) << i;
    headway::report({{"i", i}}, headway::Checkpoint::from_directory(folder), {.upload = headway::UploadMode::async});
  }
}

void hand_over() {
  const std::string folder = folder_of_rank() + "/moved";
  fs::create_directories(folder);
  std::ofstream(folder + "/part_" + std::to_string(headway::context().world_rank)) << "bytes";
  headway::report({{"i", 0}}, headway::Checkpoint::from_directory(folder), {.checkpoint_name = "mine", .move = true});
  std::cout << "left there: " << fs::exists(folder) << std::endl;
}

/// Each rank puts its part right into the run's folder.
void place() {
  const headway::Context& me = headway::context();
  for (int epoch = 0; epoch < 2; ++epoch) {
    const std::string folder = me.run_directory + "/epoch_" + std::to_string(epoch);
    fs::create_directories(folder);
    std::ofstream(folder + "/rank_" + std::to_string(me.world_rank)) << epoch;
    headway::report({{"epoch", epoch}}, headway::Checkpoint::from_directory(folder),
                    {.upload = headway::UploadMode::none});
  }
}

/// The first rank's part lies there, the second one's is uploaded; nothing of the checkpoint is
/// moved.
void place_and_move() {
  const bool first = headway::context().world_rank == 0;
  const std::string folder = first ? headway::context().run_directory + "/mine" : folder_of_rank() + "/part";
  fs::create_directories(folder);
  std::ofstream(folder + "/rank_" + std::to_string(headway::context().world_rank)) << "bytes";
  const auto mode = first ? headway::UploadMode::none : headway::UploadMode::sync;
  headway::report({}, headway::Checkpoint::from_directory(folder), {.upload = mode, .move = true});
}

void reduce_metrics() {
  const int rank = headway::context().world_rank;
  headway::report({{"loss", rank + 1.0}}, std::nullopt, {.reduce = headway::Reduce::mean});
  const std::map<std::string, headway::Reduce> ways{{"samples", headway::Reduce::sum}};
  headway::report({{"loss", rank + 1.0}, {"samples", 10}}, std::nullopt, {.reduce = ways});
}

void drop_checkpoint() {
  const auto fails = [](const headway::Checkpoint&, const std::string&) -> headway::Checkpoint {
    throw std::runtime_error("the store is away");
  };
  headway::report({{"i", 0}}, headway::Checkpoint::from_directory(folder_of_rank()), {.upload_function = fails});
  headway::report({{"i", 1}});
}

headway::Checkpoint store_with_mark(const headway::Checkpoint& local, const std::string& name) {
  const std::string target = headway::context().run_directory + "/" + name;
  fs::create_directories(target);
  fs::copy(local.path(), target, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  std::ofstream(target + "/stored_by_" + std::to_string(headway::context().world_rank)) << "x";
  return headway::Checkpoint::from_directory(target);
}

void store_by_function(const Json& config) {
  const bool asynchronous = config.at("mode").as_string() == "store_by_function_asynchronously";
  std::ofstream(folder_of_rank() + "/part_" + std::to_string(headway::context().world_rank)) << "bytes";
  headway::report({{"i", 0}}, headway::Checkpoint::from_directory(folder_of_rank()),
                  {.upload = asynchronous ? headway::UploadMode::async : headway::UploadMode::sync,
                   .move = false,
                   .upload_function = store_with_mark});
}

headway::Checkpoint fail_to_store(const headway::Checkpoint&, const std::string& name) {
  throw std::runtime_error("no luck with " + name);
}

void store_by_bad_function() {
  headway::report({{"i", 0}}, headway::Checkpoint::from_directory(folder_of_rank()),
                  {.upload_function = fail_to_store});
}

/// A progress bar in colours that stands still until the test opens a gate.
void draw_bar() {
  if (headway::context().world_rank != 0) return;
  std::cout << "\r\x1b[32m学習中学習中学習中\x1b[0m" << std::flush;
  std::ifstream(headway::context().run_directory + "/../gate").get();
}

/// Optimizer steps without torch.
void count_steps() {
  for (int step = 0; step < 5; ++step) headway::count_step();
  headway::report({{"i", 0}});
}

/// Metrics with the names of automatic ones.
void name_automatic() { headway::report({{"done", 35}, {"date", "today"}}); }

HEADWAY_TRAIN_LOOP(draw_bar);
HEADWAY_TRAIN_LOOP(count_steps);
HEADWAY_TRAIN_LOOP(name_automatic);
HEADWAY_TRAIN_LOOP(store_asynchronously);
HEADWAY_TRAIN_LOOP(hand_over);
HEADWAY_TRAIN_LOOP(place);
HEADWAY_TRAIN_LOOP(place_and_move);
HEADWAY_TRAIN_LOOP(reduce_metrics);
HEADWAY_TRAIN_LOOP(drop_checkpoint);
HEADWAY_TRAIN_LOOP(store_by_function);
HEADWAY_TRAIN_LOOP(store_by_bad_function);

}  // namespace

std::map<std::string, TrainLoop> report_loops() {
  return {{"draw_bar", draw_bar},
          {"count_steps", count_steps},
          {"name_automatic", name_automatic},
          {"store_asynchronously", store_asynchronously},
          {"hand_over", hand_over},
          {"place", place},
          {"place_and_move", place_and_move},
          {"reduce_metrics", reduce_metrics},
          {"drop_checkpoint", drop_checkpoint},
          {"store_by_function", store_by_function},
          {"store_by_function_asynchronously", store_by_function},
          {"store_by_bad_function", store_by_bad_function}};
}

}  // namespace headway::test
