#include <headway/data/batch.hpp>
#include <headway/result.hpp>

#include "library/column_state.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headway {
namespace library {

std::size_t size_of(data::DType dtype) {
  using data::DType;
  switch (dtype) {
    case DType::boolean:
    case DType::int8:
    case DType::uint8:
    case DType::text: return 1;
    case DType::int16:
    case DType::uint16:
    case DType::float16: return 2;
    case DType::int32:
    case DType::uint32:
    case DType::float32: return 4;
    case DType::int64:
    case DType::uint64:
    case DType::float64: return 8;
    case DType::none: break;
  }
  return 0;
}

}  // namespace library

namespace data {
namespace {

/// By number.
constexpr std::array<const char*, 14> names = {"boolean", "int8",   "int16",   "int32",   "int64",   "uint8", "uint16",
                                               "uint32",  "uint64", "float16", "float32", "float64", "text",  "none"};

[[noreturn]] void refuse(std::string message) { throw BadResult({ErrorKind::invalid_argument, std::move(message)}); }

std::string described(const Column& column) {
  return "column \"" + column.name() + "\" is of type " + column.type() +
         " (data::DType::" + to_string(column.dtype()) + ")";
}

}  // namespace

const char* to_string(DType dtype) { return names.at(static_cast<std::size_t>(dtype)); }

const std::string& Column::name() const { return state_->name; }
const std::string& Column::type() const { return state_->type; }
DType Column::dtype() const { return state_->dtype; }
std::int64_t Column::rows() const { return state_->rows; }
const std::vector<std::int64_t>& Column::shape() const { return state_->shape; }
std::int64_t Column::null_count() const { return state_->null_count; }

bool Column::is_null(std::int64_t row) const {
  if (row < 0 || row >= state_->rows) {
    refuse("row is " + std::to_string(row) + " of column \"" + name() + "\"; allowed: 0 to " +
           std::to_string(state_->rows - 1));
  }
  if (state_->type == "null") return true;
  if (state_->validity.empty()) return false;
  const auto byte = static_cast<unsigned>(state_->validity[static_cast<std::size_t>(row / 8)]);
  return (byte >> static_cast<unsigned>(row % 8) & 1U) == 0;
}

std::span<std::byte> Column::bytes() const {
  if (state_->dtype == DType::none) refuse(described(*this) + ": " + state_->problem);
  if (state_->dtype == DType::text) refuse(described(*this) + "; allowed: text(row)");
  return state_->values;
}

std::span<std::byte> Column::values(DType wanted) const {
  const std::span<std::byte> all = bytes();
  const bool halves = state_->dtype == DType::float16 && wanted == DType::uint16;
  if (state_->dtype != wanted && !halves) {
    refuse(described(*this) + ", and was asked for as " + to_string(wanted) +
           "; allowed: as it is, or with_column(name, col(name).cast(type)) before");
  }
  return all;
}

std::pair<std::int64_t, std::int64_t> Column::range(std::int64_t row) const {
  (void)is_null(row);
  if (!state_->ends.empty()) {
    const auto place = static_cast<std::size_t>(row);
    return {state_->ends[place], state_->ends[place + 1]};
  }
  std::int64_t width = 1;
  for (std::size_t dimension = 1; dimension < state_->shape.size(); ++dimension) width *= state_->shape[dimension];
  return {row * width, (row + 1) * width};
}

std::string_view Column::text(std::int64_t row) const {
  if (state_->dtype != DType::text) refuse(described(*this) + ", which is no text; allowed: as<T>() or row<T>()");
  const auto [first, last] = range(row);
  const auto* letters = reinterpret_cast<const char*>(state_->values.data());
  return {letters + first, static_cast<std::size_t>(last - first)};
}

bool Batch::contains(std::string_view name) const {
  return std::ranges::any_of(columns_, [&](const Column& column) { return column.name() == name; });
}

const Column& Batch::operator[](std::string_view name) const {
  std::string there;
  for (const Column& column : columns_) {
    if (column.name() == name) return column;
    there += (there.empty() ? "" : ", ") + column.name();
  }
  refuse("there is no column \"" + std::string(name) + "\"; the batch has " + (there.empty() ? "none" : there));
}

void Batch::drop(std::string_view name) {
  (void)(*this)[name];
  std::erase_if(columns_, [&](const Column& column) { return column.name() == name; });
}

void Batch::put(const std::string& name, DType dtype, std::span<std::byte> values,
                const std::vector<std::int64_t>& shape, std::shared_ptr<const void> owner) {
  std::int64_t width = 1;
  for (const std::int64_t length : shape) {
    if (length < 0) refuse("shape of column \"" + name + "\" has " + std::to_string(length) + "; allowed: 0 or more");
    width *= length;
  }
  const auto given = static_cast<std::int64_t>(values.size() / library::size_of(dtype));
  if (given != rows_ * width) {
    refuse("values of column \"" + name + "\" are " + std::to_string(given) +
           "; allowed: " + std::to_string(rows_ * width) + ", " + std::to_string(width) + " for each of " +
           std::to_string(rows_) + " rows");
  }
  auto state = std::make_shared<Column::State>();
  state->name = name;
  state->type = dtype == DType::float32 ? "float" : dtype == DType::float64 ? "double" : to_string(dtype);
  state->dtype = dtype;
  state->rows = rows_;
  state->shape = {rows_};
  state->shape.insert(state->shape.end(), shape.begin(), shape.end());
  state->values = values;
  state->owner = std::move(owner);
  const auto there = std::ranges::find(columns_, name, &Column::name);
  if (there != columns_.end()) {
    *there = Column(std::move(state));
  } else {
    columns_.emplace_back(std::move(state));
  }
}

}  // namespace data
}  // namespace headway
