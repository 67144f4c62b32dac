#pragma once

#include <arrow/status.h>
#include <arrow/type.h>

#include <memory>

/// Outputs of a function whose columns have other types than its first output had, and parts of
/// files whose columns have other types than samples had. Where a type has the values of both,
/// whoever runs the plan makes its stages again, and all rows have the wider type.
namespace headway::flow {

/// A schema for outputs that fit `schema`, and for those that are as `other`: tensors whose shapes
/// may differ for tensors of one shape, any type for one without values, fields that only one of
/// two structs has, doubles for integers and fractions, the wider of two numbers. The same where
/// there is no such type, and for arrays of 8-bit numbers.
std::shared_ptr<arrow::Schema> wider_schema(const std::shared_ptr<arrow::Schema>& schema, const arrow::Schema& other);

/// Whether rows of `from` are rows of `to`: `wider_schema` makes one of the other. Nothing is lost,
/// since large integers that double does not have are an error once they come.
bool is_wider(const std::shared_ptr<arrow::DataType>& to, const std::shared_ptr<arrow::DataType>& from);

/// Whether arrays (lists and tensors) of 8-bit numbers stay what they are: rows are counted by the
/// bytes of these, so that they end windows and units, and must count the same in every run. They
/// neither become wider nor come from wider ones, therefore.
bool keeps_bytes_in_arrays(const arrow::DataType& from, const arrow::DataType& to);

/// The failure of a plan that succeeds when its stages are made again. `schema` has the wider types
/// where they are kept for the next time: see `SeenRows`.
arrow::Status schema_widened(const arrow::Status& misfit, std::shared_ptr<arrow::Schema> schema = nullptr);
bool is_schema_widened(const arrow::Status& status);
std::shared_ptr<arrow::Schema> widened_schema(const arrow::Status& status);

/// So often at most are a plan's stages made again.
inline constexpr int widenings_max = 100;

/// Makes and runs a plan, again each time that a function's outputs got a wider type. `run` returns
/// a Status or a Result, and has begun anew when it is called again.
template <class Run>
auto until_wide_enough(Run run) {
  for (int widened = 0;; ++widened) {
    auto made = run();
    if (!is_schema_widened(arrow::ToStatus(made)) || widened == widenings_max) return made;
  }
}

}  // namespace headway::flow
