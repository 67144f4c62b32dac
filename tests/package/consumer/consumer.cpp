#include <headway/train.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

/// Reads and verifies a checkpoint.
int examine(const char* path) {
  std::cout << "headway " << headway::version() << '\n';
  const headway::Result<headway::Checkpoint> opened = headway::Checkpoint::open(path);
  if (!opened) {
    std::cout << headway::to_string(opened.error().kind) << ": " << opened.error().message << '\n';
    return 2;
  }
  for (const headway::CheckpointFile& file : opened->files()) std::cout << file.name << ' ' << file.size << '\n';
  const headway::Result<void> verified = opened->verify();
  std::cout << (verified ? "verified" : verified.error().message) << '\n';
  return verified ? 0 : 1;
}

/// Every rank's number, the sum of which is reported.
void add_up() {
  int sum = 0;
  for (int rank = 0; rank < headway::context().world_size; ++rank) {
    sum += std::stoi(headway::broadcast(std::to_string(headway::context().world_rank + 1), rank));
  }
  headway::report({{"sum", sum}});
}
HEADWAY_TRAIN_LOOP(add_up);

int train(const char* storage) {
  headway::TrainerOptions options;
  options.scaling.num_workers = 2;
  options.run.storage_path = storage;
  const auto result = headway::Trainer(add_up, options).fit();
  if (!result) {
    std::cout << result.error().message << '\n';
    return 1;
  }
  std::cout << "the sum is " << result->metrics.at("sum").as_int() << '\n';
  return 0;
}

/// Even numbers below one, which the data process counts.
int count(const char* below) {
  namespace data = headway::data;
  try {
    std::cout << data::range(std::stoi(below)).filter(data::col("id") % 2 == 0).count() << " even numbers\n";
  } catch (const headway::BadResult& failure) {
    std::cout << failure.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const headway::Main guard(argc, argv);
  if (argc == 3 && std::string(argv[1]) == "train") return train(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "count") return count(argv[2]);
  return argc == 2 ? examine(argv[1]) : EXIT_FAILURE;
}
