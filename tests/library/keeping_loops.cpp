#include "library/keeping_loops.hpp"

#include "library/report_loops.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <unistd.h>

namespace headway::test {

namespace {

Checkpoint checkpoint_of(const std::string& file) {
  std::ofstream(folder_of_rank() + "/" + file) << "of rank " << context().world_rank;
  return Checkpoint::from_directory(folder_of_rank());
}

/// Every rank has the file.
void give_one_name() {
  for (int i = 0; i < 2; ++i) report({{"i", i}}, checkpoint_of("model"));
}

void keep_best() {
  for (const double loss : {0.2, 0.5, 0.2, std::numeric_limits<double>::quiet_NaN(), 0.4})
    report({{"eval", {{"loss", loss}}}}, checkpoint_of("part_" + std::to_string(context().world_rank)));
}

Checkpoint never_store(const Checkpoint&, const std::string& name) { throw std::runtime_error("no luck with " + name); }

void fail_asynchronously() {
  const std::string part = "part_" + std::to_string(context().world_rank);
  report({{"i", 0}}, checkpoint_of(part), {.upload = UploadMode::async, .move = false, .upload_function = never_store});
  try {
    // It waits for the one before it.
    for (int i = 1; i < 3; ++i) report({{"i", i}}, checkpoint_of(part));
  } catch (const BadResult& told) {
    std::cout << "told " << told.what() << std::endl;
  }
  report({{"i", 3}}, checkpoint_of(part));
}

void fail_at_last() {
  report({{"i", 0}}, checkpoint_of("part"),
         {.upload = UploadMode::async, .move = false, .upload_function = never_store});
}

/// Saves its step when it hears of a preemption, and trains on. The next start says what it has
/// found.
Json save_when_preempted() {
  if (const auto checkpoint = get_checkpoint()) return std::filesystem::exists(checkpoint->path() + "/step");
  std::cout << "pids " << getpid() << " " << getppid() << std::endl;
  bool saved = false;
  while (true) {
    if (!preemption_info() || saved) continue;
    saved = true;
    std::cout << "rank " << context().world_rank << " hears of it" << std::endl;
    report({{"step", 1}}, context().world_rank == 0 ? std::optional(checkpoint_of("step")) : std::nullopt);
  }
}

void report_once() { report({{"i", 0}, {"eval", {{"loss", 0.5}}}}); }

HEADWAY_TRAIN_LOOP(give_one_name);
HEADWAY_TRAIN_LOOP(keep_best);
HEADWAY_TRAIN_LOOP(fail_asynchronously);
HEADWAY_TRAIN_LOOP(fail_at_last);
HEADWAY_TRAIN_LOOP(report_once);
HEADWAY_TRAIN_LOOP(save_when_preempted);

}  // namespace

std::map<std::string, TrainLoop> keeping_loops() {
  return {{"give_one_name", give_one_name},
          {"keep_best", keep_best},
          {"fail_at_last", fail_at_last},
          {"fail_asynchronously", fail_asynchronously},
          {"report_once", report_once},
          {"save_when_preempted", save_when_preempted},
          {"store_as_the_environment_says", report_once},
          {"store_nowhere", report_once}};
}

void keep_as_asked(const std::string& mode, TrainerOptions& options) {
  if (mode == "keep_best")
    options.run.checkpoint = {
        .num_to_keep = 1, .checkpoint_score_attribute = "eval/loss", .checkpoint_score_order = "min"};
  if (mode == "store_as_the_environment_says") options.run.storage_path = "";
  if (mode == "store_nowhere") options.run.storage_path = "/proc/runs";
}

}  // namespace headway::test
