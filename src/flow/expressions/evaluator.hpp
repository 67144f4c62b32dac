#pragma once

#include "data/expression.hpp"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Expressions over the columns of a batch, by Arrow's kernels.
///
/// A call's name is that of a function of Arrow compute which makes one value of a row from values
/// of that row ("scalar" functions: arithmetic, comparisons, `and_kleene`, `if_else`, `coalesce`,
/// `utf8_*`, `match_substring`, `year`, `list_element`, `struct_field`, …), with the options that
/// pyarrow.compute has for it. Beside these:
///
/// | call | options | value |
/// | --- | --- | --- |
/// | `true_divide` | | double, also of integers; by zero: inf or nan |
/// | `floor_divide`, `modulo` | | as Python's `//` and `%`; integers by zero fail, doubles are nan
/// or inf | | `cast` | `type`, `safe` = true | unsafe casts truncate and wrap |
/// | `is_in`, `not_in` | `values`, `type`, `skip_nulls` = false | whether the value is one of the
/// list | | `list_sort` | `descending` = false, `nulls_last` = true | each list in order |
/// | `list_join` | | lists of lists with one level less |
/// | `map_keys`, `map_values` | | lists |
/// | `random` | `seed` = 0 | a double in [0, 1) |
/// | `uuid` | | text of 36 characters |
/// | `monotonically_increasing_id` | | int64: the unit · 2³³ + the row in it |
///
/// Nulls: a null argument makes a null, except where the function is about nulls (`is_null`,
/// `is_valid`, `coalesce`, `and_kleene`, `or_kleene`, `if_else`) and for `is_in` and `not_in`,
/// which are false and true for null unless `values` has a null.
namespace headway::flow {

/// Where a batch's rows come from: what random values depend on, so that each epoch can be
/// repeated.
struct RowPlace {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t unit = 0;
  std::int64_t first_row = 0;  ///< Of the batch within its unit.
  /// The unit where `monotonically_increasing_id` counts them, as a union behind the expression
  /// numbers them anew. Unset: `unit`.
  std::optional<std::int64_t> unit_before_union = {};
};

/// An expression with its literals and options made. Any thread may use it, several at once.
///
/// Errors are Invalid (or what a kernel gave) and name the expression, and the columns in it with
/// their types.
class Evaluator {
 public:
  static arrow::Result<Evaluator> compile(const data::Expression& expression);

  /// A value for each row.
  arrow::Result<std::shared_ptr<arrow::Array>> evaluate(const arrow::RecordBatch& batch, const RowPlace& place,
                                                        arrow::MemoryPool* pool) const;

  /// What `evaluate` gives for batches of this schema.
  arrow::Result<std::shared_ptr<arrow::DataType>> type(const arrow::Schema& schema) const;

  struct Node;  ///< What it is compiled to.

 private:
  explicit Evaluator(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

/// The rows of `batch` for which `where` is true.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> filter_rows(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                               const Evaluator& where, const RowPlace& place,
                                                               arrow::MemoryPool* pool);

/// A column that an expression makes.
struct NamedEvaluator {
  std::string name;
  Evaluator value;
};

arrow::Result<std::vector<NamedEvaluator>> compile_all(const std::vector<data::NamedExpression>& columns);

/// The columns that are made, in their order. With `keep` the batch's own stay before them, and one
/// that is made anew is replaced where it stands.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> project_rows(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                                const std::vector<NamedEvaluator>& columns, bool keep,
                                                                const RowPlace& place, arrow::MemoryPool* pool);

}  // namespace headway::flow
