#pragma once

#include <headway/data/batch.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headway::data {

/// What a column views. Made once, and not changed; the values it views may be.
struct Column::State {
  std::string name;
  std::string type;
  DType dtype = DType::none;
  std::int64_t rows = 0;
  std::vector<std::int64_t> shape;  ///< With the rows.
  std::int64_t null_count = 0;
  std::span<const std::byte> validity = {};  ///< A bit a row; empty: nothing is missing.
  std::span<std::byte> values = {};          ///< Of all rows.
  /// Where each row begins among the values, and where the last one ends; empty: rows are equal.
  std::vector<std::int64_t> ends = {};
  std::shared_ptr<const void> owner = nullptr;  ///< Of the memory.
  std::string problem = {};                     ///< Of `DType::none`: why nothing can be read.
};

}  // namespace headway::data

namespace headway::library {

/// Bytes of a value; 1 for text, 0 for `DType::none`.
std::size_t size_of(data::DType dtype);

}  // namespace headway::library
