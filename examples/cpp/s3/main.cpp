// Training whose folder is in an object store: two workers, a checkpoint each epoch, the best one
// read back from there, and what rank 0 notes in its working directory brought there too.
//
//   example_s3 URL
//
// URL is where runs go, such as s3://bucket/runs; credentials and the endpoint come from the
// environment, as AWS's tools read them (docs/storage.md). Where Headway was not installed as a
// wheel, HEADWAY_PYARROW names the folder of an installed pyarrow.

#include <headway/train.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

/// Finds the square root of 2 by Newton's method; each rank has its share of the (pretended) model
/// to save.
void train(const headway::Json& config) {
  double guess = 1;
  for (int epoch = 0; epoch < config.at("epochs").as_int(); ++epoch) {
    guess -= (guess * guess - 2) / (2 * guess);
    std::string folder = (std::filesystem::temp_directory_path() / "newton_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary directory can be made");
    if (headway::context().world_rank == 0) std::ofstream("guesses.txt", std::ios::app) << guess << '\n';
    std::ofstream(folder + "/part_" + std::to_string(headway::context().world_rank)) << std::hexfloat << guess;
    headway::report({{"epoch", epoch}, {"error", std::abs(guess * guess - 2)}},
                    headway::Checkpoint::from_directory(folder), {.move = true});
  }
}
HEADWAY_TRAIN_LOOP(train);

int show(const headway::TrainResult& result) {
  const headway::Checkpoint best = result.get_best_checkpoint("error", "min").value();
  best.verify().value();
  const headway::Storage storage = headway::Storage::at(best.path()).value();
  std::cout << "The best checkpoint: " << best.path() << '\n';
  for (const headway::CheckpointFile& file : best.files()) {
    std::cout << file.name << " of rank " << file.rank << ": " << storage.read(file.name).value() << '\n';
  }
  // Or as files on this machine, until nobody has them any more.
  const headway::CheckpointDirectory copy = best.as_directory().value();
  std::cout << "The copy of part_0: " << std::ifstream(copy.path() + "/part_0").rdbuf() << '\n';
  std::cout << headway::Storage::at(result.path).value().read("artifacts/guesses.txt").value();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  if (argc < 2) {
    std::cerr << "usage: example_s3 URL\n";
    return 2;
  }
  const headway::RunConfig run{
      .storage_path = argv[1], .checkpoint = {.num_to_keep = 2}, .sync = {.sync_artifacts = true}};
  const auto result =
      headway::Trainer(train, {.config = {{"epochs", 4}}, .scaling = {.num_workers = 2}, .run = run}).fit();
  if (!result) {
    std::cerr << result.error().message << '\n';
    return 1;
  }
  // As any other program reads it.
  return show(headway::TrainResult::from_path(result->path).value());
}
