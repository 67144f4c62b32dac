#pragma once

#include <headway/torch/version.hpp>

#include <headway/data/batch.hpp>
#include <headway/result.hpp>

#include <torch/types.h>

#include <string>
#include <vector>

namespace headway::torch {

/// The dtype of a column's values. Throws `BadResult` (`invalid_argument`) for text and for what is
/// no number.
inline ::torch::ScalarType scalar_type(const headway::data::Column& column) {
  using headway::data::DType;
  switch (column.dtype()) {
    case DType::boolean: return ::torch::kBool;
    case DType::int8: return ::torch::kInt8;
    case DType::int16: return ::torch::kInt16;
    case DType::int32: return ::torch::kInt32;
    case DType::int64: return ::torch::kInt64;
    case DType::uint8: return ::torch::kUInt8;
    case DType::uint16: return ::torch::kUInt16;
    case DType::uint32: return ::torch::kUInt32;
    case DType::uint64: return ::torch::kUInt64;
    case DType::float16: return ::torch::kFloat16;
    case DType::float32: return ::torch::kFloat32;
    case DType::float64: return ::torch::kFloat64;
    default: break;
  }
  throw BadResult({ErrorKind::invalid_argument,
                   "column \"" + column.name() + "\" is of type " + column.type() + ", which is no tensor"});
}

/// A column as a tensor of its shape and dtype: the same memory, which lives as long as the tensor.
/// Lists of several lengths have no shape, and give one row of values. Throws as `scalar_type`.
///
///     for (const auto& batch : headway::get_dataset_shard("train").batches({.batch_size = 64})) {
///       const torch::Tensor images = headway::torch::tensor(batch["image"]).to(headway::torch::get_device());
///     }
inline ::torch::Tensor tensor(const headway::data::Column& column) {
  const ::torch::ScalarType type = scalar_type(column);
  std::int64_t count = 1;
  for (const std::int64_t length : column.shape()) count *= length;
  const auto bytes = column.bytes();
  const auto values = static_cast<std::int64_t>(bytes.size() / ::torch::elementSize(type));
  const std::vector<std::int64_t> shape = values == count ? column.shape() : std::vector<std::int64_t>{values};
  return ::torch::from_blob(bytes.data(), shape, [column](void*) {}, ::torch::TensorOptions(type));
}

}  // namespace headway::torch
