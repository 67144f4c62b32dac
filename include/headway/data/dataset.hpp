#pragma once

#include <headway/data/aggregate.hpp>
#include <headway/data/batch.hpp>
#include <headway/data/expression.hpp>
#include <headway/data/iterator.hpp>
#include <headway/data/write.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Data sets: what Python's `headway.data` has for plans that need no Python.
namespace headway::data {

/// A function of batches: it changes columns, adds some or takes some out; rows stay. What it
/// throws is thrown where the batch is asked for.
using BatchFunction = void (*)(Batch&);

/// What HEADWAY_BATCH_FUNCTION makes: the function under its name, in which a worker finds it
/// again.
class HEADWAY_API RegisteredBatchFunction {
 public:
  RegisteredBatchFunction(const char* name, BatchFunction function);
};

/// Registers a function for `Dataset::map_batches` under its name, at namespace scope. Names are
/// unique in a program.
///
///     void scale(headway::data::Batch& batch) {
///       for (float& value : batch["x"].as<float>()) value /= 255;
///     }
///     HEADWAY_BATCH_FUNCTION(scale);
#define HEADWAY_BATCH_FUNCTION(function) HEADWAY_BATCH_FUNCTION_AT(function, __COUNTER__)
#define HEADWAY_BATCH_FUNCTION_AT(function, place) HEADWAY_BATCH_FUNCTION_NAMED(function, place)
#define HEADWAY_BATCH_FUNCTION_NAMED(function, place)                                                               \
  [[maybe_unused]] static const ::headway::data::RegisteredBatchFunction headway_registered_batch_function_##place( \
      #function, function)

/// A column of a data set, as far as it is known without rows.
struct Field {
  std::string name;
  std::string type;                      ///< As `Column::type`.
  std::vector<std::int64_t> shape = {};  ///< Of a tensor, without the rows.
};

/// The order of a shuffle.
struct ShuffleOptions {
  /// From 0 to 2^63 - 1; none: one a run, which its restarts keep.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Whether each epoch has another order. Python's `random_shuffle(seed=1)` is `{.seed = 1,
  /// .reseed = false}`, and its `RandomSeedConfig(1)` is `{.seed = 1}`.
  bool reseed = true;
};

/// Which rows a join gives. A row of an outer join without a match has missing values; a semi join
/// gives the rows of one side that have a match, an anti join those that have none.
enum class JoinType {
  inner,
  left_outer,
  right_outer,
  full_outer,
  left_semi,
  right_semi,
  left_anti,
  right_anti,
};

/// The columns of a join.
struct JoinOptions {
  std::vector<std::string> on = {"id"};    ///< Of this data set.
  std::vector<std::string> right_on = {};  ///< Of the other one; empty: as `on`.
  std::string left_suffix = "";            ///< Behind columns of this one whose names both have.
  std::string right_suffix = "";           ///< Behind those of the other one.
};

class GroupedData;

/// Rows with named columns, as a plan: nothing is read before something asks for rows. A data set
/// never changes; each function returns another one. The plan runs in the data process of each
/// machine (`headway-data`), in its threads, within its memory budget: a quarter of the memory that
/// it may use, which is the machine's or the container's.
///
/// Functions throw `BadResult` (`invalid_argument`), naming the argument, when they are called, and
/// `not_found` for a local path that does not exist. What is wrong with the data is known when rows
/// are asked for; the error names file and rows.
///
///     namespace data = headway::data;
///     const data::Dataset trips = data::read_parquet("/data/trips", {.columns = {{"distance", "price"}}})
///                                     .filter(data::col("price") > 0)
///                                     .with_column("rate", data::col("price") / data::col("distance"))
///                                     .random_shuffle();
class HEADWAY_API Dataset {
 public:
  /// Only these columns, in this order.
  Dataset select_columns(const std::vector<std::string>& columns) const;
  /// All columns but these.
  Dataset drop_columns(const std::vector<std::string>& columns) const;
  /// From old names to new ones; the other columns stay. Asks for `schema`.
  Dataset rename_columns(const std::map<std::string, std::string>& names) const;
  /// A column that is computed from others; one of the same name is replaced.
  Dataset with_column(const std::string& name, const Expr& value) const;
  /// The rows for which the condition is true; a missing value is not true.
  Dataset filter(const Expr& condition) const;
  /// The first rows.
  Dataset limit(std::int64_t rows) const;
  /// All rows in a random order. They are kept in memory meanwhile. With a Python interpreter, as
  /// for `sort`, more than half of the budget is shuffled on disk; without, that is an error, and
  /// so is a shuffle after `limit` or another shuffle.
  Dataset random_shuffle(const ShuffleOptions& options = {}) const;
  /// Pieces of the data, such as row groups, in a random order; rows within a piece keep theirs.
  Dataset randomize_block_order(const ShuffleOptions& options = {}) const;
  /// Calls a function on each batch, in the process that asks for the batch: in a training, in each
  /// rank, on the thread of the loop. Functions run in the order in which they were given, behind
  /// all that the data process does: nothing but another `map_batches` may follow. `function` is
  /// registered by HEADWAY_BATCH_FUNCTION.
  Dataset map_batches(BatchFunction function) const;

  /// The rows of this data set and then those of others, which have the same columns.
  Dataset union_(const std::vector<Dataset>& others) const;
  /// Rows in the order of columns, from the most important on; rows with equal values keep their
  /// order, missing values come last. `descending` has one value for each key; empty: all ascend.
  ///
  /// Sorts, groups and joins are done by DuckDB, which spills what memory does not hold, in a
  /// process of Python. The environment variable HEADWAY_PYTHON names an interpreter with the
  /// packages headway and duckdb; an installed wheel finds its own.
  Dataset sort(const std::vector<std::string>& keys, const std::vector<bool>& descending = {}) const;
  /// Groups of rows with equal values in columns; no columns: all rows are one group.
  GroupedData groupby(const std::vector<std::string>& keys) const;
  /// A row with a column for each value over all rows.
  Dataset aggregate(const std::vector<Aggregate>& values) const;
  /// Rows of this data set beside those of another that have equal values in columns. No order is
  /// promised but that it is the same each time.
  Dataset join(const Dataset& right, JoinType type, const JoinOptions& options = {}) const;

  /// How many rows there are. Reads no more than it must.
  std::int64_t count() const;
  /// The columns that the data process gives; `map_batches` may change them.
  std::vector<Field> schema() const;
  /// Gives the rows to this process, epoch after epoch.
  DataIterator iterator() const;
  /// Batches of all rows, for this process: `iterator().batches(options)`.
  Epochs batches(const BatchOptions& options = {}) const { return iterator().batches(options); }

  /// Writes files to a folder: a path or a URL. They are complete once the function has returned.
  /// Not after `map_batches`.
  void write_parquet(const std::string& path, const WriteOptions& options = {},
                     const ParquetOptions& parquet = {}) const;
  /// Each file begins with the columns' names.
  void write_csv(const std::string& path, const WriteOptions& options = {}) const;
  /// An object a line.
  void write_json(const std::string& path, const WriteOptions& options = {}) const;
  void write_orc(const std::string& path, const WriteOptions& options = {}) const;
  /// A column as `.npy` files.
  void write_numpy(const std::string& path, const std::string& column = "data", const WriteOptions& options = {}) const;
  /// A row is an example.
  void write_tfrecords(const std::string& path, const WriteOptions& options = {}) const;
  /// Tar files in the form of WebDataset.
  void write_webdataset(const std::string& path, const WriteOptions& options = {}) const;

  /// For Headway's own use: plan and functions, as they travel to workers.
  Json json() const;
  static Dataset from_json(const Json& json);
  const Json& plan() const { return plan_; }
  const std::vector<std::string>& functions() const { return functions_; }
  /// A data set that reads. Checked.
  static Dataset source(const char* op, const Json& arguments);

 private:
  Dataset(Json plan, std::vector<std::string> functions) : plan_(std::move(plan)), functions_(std::move(functions)) {}
  /// With one more node. Throws `BadResult` where a function comes before it.
  Dataset then(const char* called, const char* op, const Json& arguments) const;
  /// This data set and others as inputs of one more node.
  Dataset combined(const char* called, const std::vector<Dataset>& others, const char* op, const Json& arguments) const;
  void check_no_functions(const char* called) const;
  void write(const char* called, const char* format, const std::string& path, const WriteOptions& options,
             Json more) const;
  friend class GroupedData;

  Json plan_;
  std::vector<std::string> functions_;
};

/// Groups of rows with equal values: what `Dataset::groupby` gives.
class HEADWAY_API GroupedData {
 public:
  /// A row for each group, with its keys and values, in the order of the keys. Names must differ.
  Dataset aggregate(const std::vector<Aggregate>& values) const;
  /// The number of rows of each group, "count()".
  Dataset count() const { return aggregate({aggregate::count()}); }

 private:
  friend class Dataset;
  GroupedData(Dataset of, std::vector<std::string> keys) : of_(std::move(of)), keys_(std::move(keys)) {}

  Dataset of_;
  std::vector<std::string> keys_;
};

/// One path or URL, or several: files, or folders whose files are read. Relative paths and "~" are
/// resolved at once. URLs are those of storage, such as s3://bucket/folder.
struct Paths {
  Paths(const char* path) : all{path} {}
  Paths(const std::string& path) : all{path} {}
  Paths(std::vector<std::string> paths) : all(std::move(paths)) {}
  Paths(std::initializer_list<std::string> paths) : all(paths) {}

  std::vector<std::string> all;
};

/// What all readers of files have.
struct ReadOptions {
  std::optional<std::vector<std::string>> columns = std::nullopt;  ///< Only these; none: all.
  bool include_paths = false;         ///< Whether each row has its file in the column `path`.
  bool ignore_missing_paths = false;  ///< Whether a path that does not exist is left out.
  /// Only files of a folder whose names end so ("csv"); none: those that the reader names.
  std::optional<std::vector<std::string>> file_extensions = std::nullopt;
  /// The order of files is shuffled.
  std::optional<ShuffleOptions> shuffle = std::nullopt;
};

/// How CSV files are written.
struct CsvOptions {
  char delimiter = ',';
  std::vector<std::string> column_names = {};  ///< Of files without a first line of names.
  std::int64_t skip_rows = 0;                  ///< Lines before the names.
};

/// How images are decoded.
struct ImageOptions {
  std::optional<std::array<int, 2>> size = std::nullopt;  ///< Height and width; none: its own.
  std::string mode = "";                                  ///< "RGB", "L" …; empty: its own.
};

/// Parquet files. Folders such as `year=2026` are columns.
HEADWAY_API Dataset read_parquet(const Paths& paths, const ReadOptions& options = {});
/// CSV files; folders as for Parquet.
HEADWAY_API Dataset read_csv(const Paths& paths, const ReadOptions& options = {}, const CsvOptions& csv = {});
/// JSON files: an object a line, or one list of them; folders as for Parquet.
HEADWAY_API Dataset read_json(const Paths& paths, const ReadOptions& options = {});
/// Lines of text files, in the column `text`; empty ones are left out.
HEADWAY_API Dataset read_text(const Paths& paths, const ReadOptions& options = {});
/// ORC files.
HEADWAY_API Dataset read_orc(const Paths& paths, const ReadOptions& options = {});
/// Arrays of `.npy` files: each row of them is a row's `data`.
HEADWAY_API Dataset read_numpy(const Paths& paths, const ReadOptions& options = {});
/// Images (JPEG, PNG), in the column `image`.
HEADWAY_API Dataset read_images(const Paths& paths, const ReadOptions& options = {}, const ImageOptions& images = {});
/// Whole files, each a row, in the column `bytes`.
HEADWAY_API Dataset read_binary_files(const Paths& paths, const ReadOptions& options = {});
/// Examples of TFRecord files, with a column for each feature.
HEADWAY_API Dataset read_tfrecords(const Paths& paths, const ReadOptions& options = {});
/// Samples of tar files in the form of WebDataset, with a column for each suffix.
HEADWAY_API Dataset read_webdataset(const Paths& paths, const ReadOptions& options = {});
/// The numbers from 0 on, in the column `id`.
HEADWAY_API Dataset range(std::int64_t rows);

}  // namespace headway::data
