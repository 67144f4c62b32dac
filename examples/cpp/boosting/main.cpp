// LightGBM from C++: the ranks build one model together, each from its share of the rows, through
// LightGBM's C API. LightGBM's messages between the ranks travel over Headway's broadcasts, so
// there are no ports to choose.
//
//   example_boosting [RANKS [ROUNDS [STORAGE]]]
//
// With HEADWAY_EXAMPLE_KILL=1 the last rank is killed once, and the run resumes from its newest
// checkpoint.

#include <headway/train.hpp>

#include <LightGBM/c_api.h>
#include <LightGBM/meta.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int columns = 8;
constexpr std::int64_t training_rows = 20000;
constexpr std::int64_t test_rows = 5000;
constexpr int rounds_per_report = 5;

/// A number from -2 to 2, a multiple of 1/256: splitmix64 of its place in the table.
double number_at(std::int64_t row, int column) {
  std::uint64_t bits = (static_cast<std::uint64_t>(row) * (columns + 1) + column + 1) * 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return (static_cast<double>((bits ^ (bits >> 31)) >> 54) - 512) / 256;
}

struct Table {
  std::vector<double> features;  ///< Row after row.
  std::vector<float> labels;     ///< 0 or 1.
  int size() const { return static_cast<int>(labels.size()); }
};

/// Every `shares`-th row of `count`, from the one that this share begins with.
Table make_table(std::int64_t first, std::int64_t count, int share = 0, int shares = 1) {
  Table table;
  for (std::int64_t row = first + share; row < first + count; row += shares) {
    for (int column = 0; column < columns; ++column) table.features.push_back(number_at(row, column));
    const double* x = &table.features[table.features.size() - columns];
    const double noise = number_at(row, columns) / 8;
    table.labels.push_back(x[0] * x[1] + x[0] + x[2] + noise > 0 ? 1 : 0);
  }
  return table;
}

/// Every function of the C API returns 0, or has a message.
void check(int failed) {
  if (failed != 0) throw std::runtime_error(std::string("LightGBM: ") + LGBM_GetLastError());
}

using Dataset = std::unique_ptr<void, int (*)(DatasetHandle)>;
using Model = std::unique_ptr<void, int (*)(BoosterHandle)>;

/// What LightGBM has the ranks do together: rank `i` gets block `i` of every rank's input, reduced.
void reduce_scatter(char* input, LightGBM::comm_size_t input_size, int type_size, const LightGBM::comm_size_t* starts,
                    const LightGBM::comm_size_t* lengths, int ranks, char* output, LightGBM::comm_size_t,
                    const LightGBM::ReduceFunction& reduce) {
  const int mine = headway::context().world_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string sent =
        headway::broadcast(rank == mine ? std::string(input, static_cast<std::size_t>(input_size)) : "", rank);
    const char* block = sent.data() + starts[mine];
    if (rank == 0) {
      std::copy_n(block, lengths[mine], output);
    } else {
      reduce(block, output, type_size, lengths[mine]);
    }
  }
}

/// Every rank gets the blocks of all.
void allgather(char* input, LightGBM::comm_size_t input_size, const LightGBM::comm_size_t* starts,
               const LightGBM::comm_size_t*, int ranks, char* output, LightGBM::comm_size_t) {
  const int mine = headway::context().world_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string sent =
        headway::broadcast(rank == mine ? std::string(input, static_cast<std::size_t>(input_size)) : "", rank);
    std::copy(sent.begin(), sent.end(), output + starts[rank]);
  }
}

void connect_ranks() {
  const headway::Context& me = headway::context();
  check(LGBM_NetworkInitWithFunctions(me.world_size, me.world_rank, reinterpret_cast<void*>(&reduce_scatter),
                                      reinterpret_cast<void*>(&allgather)));
}

std::string parameters() {
  const headway::Context& me = headway::context();
  std::string text =
      "objective=binary num_leaves=15 learning_rate=0.2 max_bin=63 verbosity=-1 deterministic=true force_col_wise=true";
  text += " num_threads=" + std::to_string(me.cpus);
  if (me.world_size > 1) text += " tree_learner=data pre_partition=true num_machines=" + std::to_string(me.world_size);
  return text;
}

std::vector<double> predict(BoosterHandle model, const Table& table, int kind) {
  std::vector<double> values(table.labels.size());
  std::int64_t count = 0;
  check(LGBM_BoosterPredictForMat(model, table.features.data(), C_API_DTYPE_FLOAT64, table.size(), columns, 1, kind, 0,
                                  -1, parameters().c_str(), &count, values.data()));
  return values;
}

headway::Json metrics_of(BoosterHandle model, const Table& table) {
  const std::vector<double> chances = predict(model, table, C_API_PREDICT_NORMAL);
  double right = 0;
  double loss = 0;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    const bool label = table.labels[i] > 0;
    right += (chances[i] > 0.5) == label ? 1 : 0;
    loss -= std::log(std::max(label ? chances[i] : 1 - chances[i], 1e-15));
  }
  return {{"accuracy", right / table.size()}, {"logloss", loss / table.size()}};
}

/// A model that trains on the rows, after the trees of the checkpoint where there is one.
Model make_model(const Table& table, Dataset& rows) {
  Model before(nullptr, &LGBM_BoosterFree);
  if (const auto checkpoint = headway::get_checkpoint()) {
    const headway::CheckpointDirectory files = checkpoint->as_directory().value();
    BoosterHandle loaded = nullptr;
    int trees = 0;
    check(LGBM_BoosterCreateFromModelfile((files.path() + "/model.txt").c_str(), &trees, &loaded));
    before.reset(loaded);
    // LGBM_BoosterMerge takes over the trees, but computes no scores of the rows.
    const std::vector<double> scores = predict(loaded, table, C_API_PREDICT_RAW_SCORE);
    check(LGBM_DatasetSetField(rows.get(), "init_score", scores.data(), table.size(), C_API_DTYPE_FLOAT64));
  }
  BoosterHandle created = nullptr;
  check(LGBM_BoosterCreate(rows.get(), parameters().c_str(), &created));
  Model model(created, &LGBM_BoosterFree);
  if (before) check(LGBM_BoosterMerge(created, before.get()));
  return model;
}

Dataset make_dataset(const Table& table) {
  DatasetHandle created = nullptr;
  check(LGBM_DatasetCreateFromMat(table.features.data(), C_API_DTYPE_FLOAT64, table.size(), columns, 1,
                                  parameters().c_str(), nullptr, &created));
  Dataset rows(created, &LGBM_DatasetFree);
  check(LGBM_DatasetSetField(created, "label", table.labels.data(), table.size(), C_API_DTYPE_FLOAT32));
  return rows;
}

int trees_of(BoosterHandle model) {
  int trees = 0;
  check(LGBM_BoosterGetCurrentIteration(model, &trees));
  return trees;
}

/// The metrics are means over the ranks, of which each has looked at its share of the test rows.
void report(BoosterHandle model, const Table& test) {
  headway::Json metrics = metrics_of(model, test);
  metrics["trees"] = trees_of(model);
  std::optional<headway::Checkpoint> checkpoint;
  if (headway::context().world_rank == 0) {
    std::string folder = (std::filesystem::temp_directory_path() / "boosting_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary directory can be made");
    check(LGBM_BoosterSaveModel(model, 0, -1, C_API_FEATURE_IMPORTANCE_SPLIT, (folder + "/model.txt").c_str()));
    checkpoint = headway::Checkpoint::from_directory(folder);
  }
  headway::report(metrics, checkpoint, {.move = true, .reduce = headway::Reduce::mean});
}

headway::Json boost(const headway::Json& config) {
  const headway::Context& me = headway::context();
  const auto rounds = config.at("rounds").as_int();
  const Table training = make_table(0, training_rows, me.world_rank, me.world_size);
  const Table test = make_table(training_rows, test_rows, me.world_rank, me.world_size);
  connect_ranks();
  Dataset rows = make_dataset(training);
  const Model model = make_model(training, rows);
  int finished = 0;  // 1: LightGBM has found no further split.
  for (int trees = trees_of(model.get()); trees < rounds && finished == 0;) {
    check(LGBM_BoosterUpdateOneIter(model.get(), &finished));
    trees = trees_of(model.get());
    if (trees % rounds_per_report == 0 || trees == rounds || finished != 0) report(model.get(), test);
    const bool last = me.world_size > 1 && me.world_rank == me.world_size - 1;
    if (config.at("kill").as_bool() && me.attempt == 1 && last && trees == rounds / 2 + 2) raise(SIGKILL);
  }
  headway::Json outcome = metrics_of(model.get(), make_table(training_rows, test_rows));
  outcome["trees"] = trees_of(model.get());
  return outcome;
}
HEADWAY_TRAIN_LOOP(boost);

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  const char* kill = std::getenv("HEADWAY_EXAMPLE_KILL");
  headway::TrainerOptions options;
  options.config = {{"rounds", argc > 2 ? std::atoi(argv[2]) : 40},
                    {"kill", kill != nullptr && std::string_view(kill) == "1"}};
  options.scaling.num_workers = argc > 1 ? std::atoi(argv[1]) : 2;
  options.run = {
      .storage_path = argc > 3 ? argv[3] : "", .failure = {.max_failures = 1}, .checkpoint = {.num_to_keep = 2}};
  const auto result = headway::Trainer(boost, options).fit();
  if (!result) {
    std::cerr << result.error().message << '\n';
    return 1;
  }
  std::cout << "Trees: " << result->return_value.at("trees").as_int() << ", after " << result->attempts
            << " lives of the group\nTest accuracy: " << result->return_value.at("accuracy").as_double()
            << "\nThe model: " << result->checkpoint->path() << "/model.txt\n";
  return 0;
}
