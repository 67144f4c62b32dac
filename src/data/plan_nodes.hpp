#pragma once

#include "core/json.hpp"
#include "data/expression.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The nodes of a plan. Each struct is the `args` of one operation, whose name is `op`; an argument
/// that is not given has the default that stands here. A `blob` is an index into the list of byte
/// strings that comes with a plan: pickled functions and what else only Python understands.
namespace headway::data {

struct FileShuffle {
  std::optional<std::uint64_t> seed;
  bool reseed = true;  ///< Another order in each epoch.
};
BOOST_DESCRIBE_STRUCT(FileShuffle, (), (seed, reseed))

struct ReadNode {
  static constexpr const char* op = "read";
  std::string format;  ///< One of `read_formats`.
  std::vector<std::string> paths;
  /// `columns` (a list of names, or null: all), and what the format knows.
  JsonObject options;
  std::optional<FileShuffle> shuffle_files;
  /// A blob, where the paths are on a filesystem that exists only in Python: what reads its files.
  std::optional<std::int64_t> blob;
};
BOOST_DESCRIBE_STRUCT(ReadNode, (), (format, paths, options, shuffle_files, blob))

struct RangeNode {
  static constexpr const char* op = "range";
  std::int64_t rows = -1;
  /// Not given: the column `id`; else the column `data` of tensors of this shape.
  std::optional<std::vector<std::int64_t>> tensor_shape;
};
BOOST_DESCRIBE_STRUCT(RangeNode, (), (rows, tensor_shape))

/// Unit i is what the function returns for i.
struct PythonSourceNode {
  static constexpr const char* op = "python_source";
  std::int64_t function = -1;  ///< A blob.
  std::int64_t units = -1;
  std::optional<std::vector<std::int64_t>> rows;  ///< Of each unit.
};
BOOST_DESCRIBE_STRUCT(PythonSourceNode, (), (function, units, rows))

/// Makes columns. With `keep` all columns of the input stay: one of the same name is replaced where
/// it stands, a new one comes last. Each expression reads the input, never a column that this node
/// makes.
struct ProjectNode {
  static constexpr const char* op = "project";
  std::vector<NamedExpression> columns;
  bool keep = false;
};
BOOST_DESCRIBE_STRUCT(ProjectNode, (), (columns, keep))

struct DropNode {
  static constexpr const char* op = "drop";
  std::vector<std::string> columns;
};
BOOST_DESCRIBE_STRUCT(DropNode, (), (columns))

/// Rows for which the expression is true stay; null is not true.
struct FilterNode {
  static constexpr const char* op = "filter";
  Expression where;
};
BOOST_DESCRIBE_STRUCT(FilterNode, (), (where))

enum class FunctionKind { map_batches, map, flat_map, filter };
BOOST_DESCRIBE_ENUM(FunctionKind, map_batches, map, flat_map, filter)

enum class BatchFormat { numpy, pandas, pyarrow };
BOOST_DESCRIBE_ENUM(BatchFormat, numpy, pandas, pyarrow)

/// One function in a worker.
struct FunctionStep {
  FunctionKind kind = FunctionKind::map_batches;
  std::int64_t blob = -1;
  std::optional<std::int64_t> batch_size;  ///< Rows; not given: the whole unit.
  std::optional<BatchFormat> batch_format;
  bool changes_rows = true;  ///< Whether it may return another number of rows than it got.
  std::string name;          ///< For people.
  /// What identifies the function from one process to the next; empty: the blob's bytes.
  std::string digest;
};
BOOST_DESCRIBE_STRUCT(FunctionStep, (), (kind, blob, batch_size, batch_format, changes_rows, name, digest))

/// A function that runs in workers. Batches never span units: a batch is a function of its unit
/// alone.
struct FunctionNode : FunctionStep {
  static constexpr const char* op = "function";
  /// What the same worker applies to what this function returns, batch by batch; the optimiser adds
  /// these.
  std::vector<FunctionStep> then;
  std::optional<std::vector<int>> workers;  ///< The least and the most.
  bool seeded = true;                       ///< Random generators are seeded before each unit.
  double num_gpus = 0;
  double num_cpus = 1;  ///< What a worker is given on another node.
};
BOOST_DESCRIBE_STRUCT(FunctionNode, (),
                      (kind, blob, batch_size, batch_format, changes_rows, name, digest, then, workers, seeded,
                       num_gpus, num_cpus))

struct LimitNode {
  static constexpr const char* op = "limit";
  std::int64_t rows = -1;
};
BOOST_DESCRIBE_STRUCT(LimitNode, (), (rows))

/// Each row stays with the same chance.
struct SampleNode {
  static constexpr const char* op = "sample";
  double fraction = -1;
  std::uint64_t seed = 0;
};
BOOST_DESCRIBE_STRUCT(SampleNode, (), (fraction, seed))

/// The rows of the inputs, one input after the other.
struct UnionNode {
  static constexpr const char* op = "union";
};
BOOST_DESCRIBE_STRUCT(UnionNode, (), ())

/// The columns of the inputs side by side.
struct ZipNode {
  static constexpr const char* op = "zip";
};
BOOST_DESCRIBE_STRUCT(ZipNode, (), ())

enum class MixStop { shortest, longest_drop };
BOOST_DESCRIBE_ENUM(MixStop, shortest, longest_drop)

/// Rows of the inputs in turn, by weight.
struct MixNode {
  static constexpr const char* op = "mix";
  std::vector<double> weights;
  MixStop stop = MixStop::shortest;
};
BOOST_DESCRIBE_STRUCT(MixNode, (), (weights, stop))

enum class ShuffleKind { blocks, windows, exact };
BOOST_DESCRIBE_ENUM(ShuffleKind, blocks, windows, exact)

struct ShuffleNode {
  static constexpr const char* op = "shuffle";
  ShuffleKind kind = ShuffleKind::exact;
  std::optional<std::uint64_t> seed;
  bool reseed = true;  ///< Another order in each epoch.
  std::optional<std::int64_t> window_bytes;
};
BOOST_DESCRIBE_STRUCT(ShuffleNode, (), (kind, seed, reseed, window_bytes))

/// Numbers between which rows lie that are sorted by a column: a row is in the part of as many
/// boundaries as are not above its value.
struct Boundaries {
  std::string column;
  JsonArray values;  ///< From the least to the greatest.
  bool descending = false;
};
BOOST_DESCRIBE_STRUCT(Boundaries, (), (column, values, descending))

/// Into so many blocks, or into blocks of so many rows, or into parts between boundaries.
struct RepartitionNode {
  static constexpr const char* op = "repartition";
  std::optional<std::int64_t> blocks;
  std::optional<std::int64_t> rows;
  std::optional<Boundaries> at;
};
BOOST_DESCRIBE_STRUCT(RepartitionNode, (), (blocks, rows, at))

/// What needs all rows at once, such as `sort` or `join`; `options` are the operation's.
struct WholeNode {
  static constexpr const char* op = "whole";
  std::string operation;
  JsonObject options;
  std::optional<std::int64_t> blob;
};
BOOST_DESCRIBE_STRUCT(WholeNode, (), (operation, options, blob))

enum class WriteMode { append, create, overwrite, ignore, error };
BOOST_DESCRIBE_ENUM(WriteMode, append, create, overwrite, ignore, error)

struct WriteNode {
  static constexpr const char* op = "write";
  std::string format;
  std::string path;
  WriteMode mode = WriteMode::append;
  JsonObject options;
  std::optional<std::int64_t> blob;
};
BOOST_DESCRIBE_STRUCT(WriteNode, (), (format, path, mode, options, blob))

}  // namespace headway::data
