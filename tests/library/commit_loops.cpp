#include "library/commit_loops.hpp"

#include "library/report_loops.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>

namespace headway::test {
namespace {

int epoch_in(const Checkpoint& checkpoint, char writer) {
  int epoch = 0;
  std::ifstream(checkpoint.path() + "/rank_" + writer) >> epoch;
  return epoch;
}

/// Each epoch's report has a checkpoint, of the ranks that WRITERS names. Beside the run's folder
/// each rank notes who it is and who has started it, and rank 0 the epochs whose report has
/// returned.
void commit_epochs() {
  const char* named = std::getenv("WRITERS");
  const std::string writers = named == nullptr ? "01" : named;
  const Context& me = context();
  const std::string beside = std::filesystem::path(me.run_directory).parent_path().string();
  const std::string rank = std::to_string(me.world_rank);
  const bool writes = writers.find(rank) != std::string::npos;
  std::ofstream(beside + "/pids_" + rank) << getpid() << ' ' << getppid();
  int epoch = 0;
  if (const auto checkpoint = get_checkpoint()) epoch = epoch_in(*checkpoint, writers.front()) + 1;
  for (; epoch < committed_epochs; ++epoch) {
    if (writes) std::ofstream(folder_of_rank() + "/rank_" + rank) << epoch;
    report({{"epoch", epoch}}, writes ? std::optional(Checkpoint::from_directory(folder_of_rank())) : std::nullopt);
    if (me.world_rank == 0) std::ofstream(beside + "/returned", std::ios::app) << epoch << '\n';
  }
}

HEADWAY_TRAIN_LOOP(commit_epochs);

}  // namespace

std::map<std::string, TrainLoop> commit_loops() { return {{"commit_epochs", commit_epochs}}; }

void keep_few(const std::string& mode, TrainerOptions& options) {
  const char* keep = std::getenv("KEEP");
  if (mode == "commit_epochs" && keep != nullptr) options.run.checkpoint.num_to_keep = std::stoi(keep);
}

}  // namespace headway::test
