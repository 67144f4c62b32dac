// Two workers share the rows of CSV files: filtered and shuffled by the data process, scaled by a
// function of this program. One worker is killed in the middle of an epoch, as a machine's failure
// would do it. The group resumes at the very next row, and every row is seen once an epoch.
//
//   example_data [STORAGE]

#include <headway/train.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

namespace data = headway::data;
namespace fs = std::filesystem;

constexpr int files = 4;
constexpr int rows_of_file = 100;

/// The row x, y with y = 3 x + 1; rows whose x is below 0 are not to be trained on.
void write_files(const fs::path& folder) {
  fs::create_directories(folder);
  for (int file = 0; file < files; ++file) {
    std::ofstream csv(folder / ("part-" + std::to_string(file) + ".csv"));
    csv << "x,y\n";
    for (int row = 0; row < rows_of_file; ++row) {
      const int x = row * files + file;
      csv << (row == 0 ? -1 : x) << ',' << 3 * x + 1 << '\n';
    }
  }
}

void scale(data::Batch& batch) {
  std::vector<float> scaled;
  for (const std::int64_t x : batch["x"].as<std::int64_t>()) scaled.push_back(static_cast<float>(x) / 400);
  batch.set("scaled", std::move(scaled));
}
HEADWAY_BATCH_FUNCTION(scale);

/// What a worker knows: the line that it has learned, and how many rows and which sum it has seen.
struct State {
  double slope = 0;
  double offset = 0;
  std::int64_t rows = 0;
  std::int64_t sum = 0;
};

void load(State& state) {
  const auto checkpoint = headway::get_checkpoint();
  if (!checkpoint) return;
  const std::string name = "/state_" + std::to_string(headway::context().world_rank);
  std::ifstream(checkpoint->path() + name) >> state.slope >> state.offset >> state.rows >> state.sum;
}

/// The position in the data set is stored by itself.
void report(const State& state, double loss) {
  const headway::Context& me = headway::context();
  const std::string folder = me.trial_dir + "/local_" + std::to_string(me.world_rank);
  fs::create_directories(folder);
  std::ofstream file(folder + "/state_" + std::to_string(me.world_rank));
  file.precision(17);
  file << state.slope << ' ' << state.offset << ' ' << state.rows << ' ' << state.sum << '\n';
  file.close();
  headway::report({{"loss", loss}}, headway::Checkpoint::from_directory(folder));
}

/// The sum over all workers.
template <class T>
T sum(T mine) {
  T all = 0;
  for (int rank = 0; rank < headway::context().world_size; ++rank) {
    const std::string bytes = headway::broadcast(headway::Json(mine).dump(), rank);
    all += static_cast<T>(headway::Json::parse(bytes).value().as_double());
  }
  return all;
}

headway::Json train(const headway::Json& config) {
  const headway::Context& me = headway::context();
  State state;
  load(state);
  const data::DataIterator shard = headway::get_dataset_shard("train");
  for (auto epoch = shard.state().at("epoch").as_int(); epoch < config.at("epochs").as_int(); ++epoch) {
    int step = 0;
    for (const data::Batch& batch : shard.batches({.batch_size = 33})) {
      const auto x = batch["scaled"].as<float>();
      const auto y = batch["y"].as<std::int64_t>();
      double loss = 0, slope = 0, offset = 0;
      for (std::size_t row = 0; row < x.size(); ++row) {
        const double error = state.slope * x[row] + state.offset - static_cast<double>(y[row]) / 1200;
        loss += error * error;
        slope += error * x[row];
        offset += error;
        state.sum += y[row];
      }
      state.rows += batch.rows();
      const auto all = static_cast<double>(sum(batch.rows()));
      state.slope -= 0.5 * sum(slope) / all;
      state.offset -= 0.5 * sum(offset) / all;
      report(state, sum(loss) / all);
      if (me.attempt == 1 && me.world_rank == 1 && epoch == 1 && ++step == 3) raise(SIGKILL);
    }
  }
  return {{"rows", sum(state.rows)}, {"sum", sum(state.sum)}};
}
HEADWAY_TRAIN_LOOP(train);

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  const fs::path storage = argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path() / "headway_example_data";
  write_files(storage / "files");
  const data::Dataset rows = data::read_csv((storage / "files").string())
                                 .filter(data::col("x") >= 0)
                                 .random_shuffle({.seed = 1})
                                 .map_batches(scale);
  constexpr int epochs = 4;
  headway::TrainerOptions options{.config = {{"epochs", epochs}}, .scaling = {.num_workers = 2}};
  options.run = {.storage_path = storage.string(), .failure = {.max_failures = 1}, .checkpoint = {.num_to_keep = 2}};
  options.datasets = {{"train", rows}};
  const auto result = headway::Trainer(train, options).fit();
  if (!result) {
    std::cerr << result.error().message << '\n';
    return 1;
  }
  std::int64_t expected = 0;
  for (int x = files; x < files * rows_of_file; ++x) expected += std::int64_t{epochs} * (3 * x + 1);
  const std::int64_t wanted = std::int64_t{epochs} * files * (rows_of_file - 1);
  std::cout << "Rows: " << result->return_value.at("rows").as_int() << " (there are " << wanted << "), their sum is "
            << result->return_value.at("sum").as_int() << " (it should be " << expected << "), after "
            << result->attempts << " lives of the group. The loss is " << result->metrics.at("loss").as_double()
            << ".\n";
  const bool exact = result->return_value.at("rows").as_int() == wanted &&
                     result->return_value.at("sum").as_int() == expected && result->attempts == 2;
  return exact && result->metrics.at("loss").as_double() < 0.02 ? 0 : 1;
}
