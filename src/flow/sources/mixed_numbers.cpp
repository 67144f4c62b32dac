#include "flow/sources/mixed_numbers.hpp"

#include "core/text.hpp"

#include <arrow/array.h>
#include <arrow/table.h>

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

namespace headway::flow {
namespace {

constexpr double large = 9007199254740992.0;  ///< 2^53: all integers below are doubles.

bool has_large(const arrow::Array& values) {
  switch (values.type_id()) {
    case arrow::Type::DOUBLE: {
      const auto& doubles = static_cast<const arrow::DoubleArray&>(values);
      for (std::int64_t i = 0; i < doubles.length(); ++i) {
        if (doubles.IsValid(i) && std::abs(doubles.Value(i)) >= large) return true;
      }
      return false;
    }
    case arrow::Type::LIST: return has_large(*static_cast<const arrow::ListArray&>(values).values());
    case arrow::Type::STRUCT: {
      const arrow::ArrayVector fields = static_cast<const arrow::StructArray&>(values).fields();
      return std::ranges::any_of(fields, [](const auto& field) { return has_large(*field); });
    }
    default: return false;
  }
}

template <class Integer>
bool is_double(Integer value) {
  return static_cast<long double>(value) == static_cast<long double>(static_cast<double>(value));
}

/// An integer in a value of JSON that no double has.
std::optional<std::string> lost_integer(const boost::json::value& value) {
  if (value.is_int64() && !is_double(value.get_int64())) return std::to_string(value.get_int64());
  if (value.is_uint64() && !is_double(value.get_uint64())) return std::to_string(value.get_uint64());
  if (const auto* array = value.if_array()) {
    for (const auto& each : *array) {
      if (auto lost = lost_integer(each)) return lost;
    }
  }
  if (const auto* object = value.if_object()) {
    for (const auto& [key, each] : *object) {
      if (auto lost = lost_integer(each)) return lost;
    }
  }
  return {};
}

bool is_lost_integer(std::string_view text) {
  const auto fits = [&](auto& value) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() && end == text.data() + text.size();
  };
  std::int64_t number = 0;
  std::uint64_t natural = 0;
  if (fits(number)) return !is_double(number);
  return fits(natural) && !is_double(natural);
}

arrow::Status lost(const std::string& column, const std::string& integer, const std::string& place) {
  return arrow::Status::Invalid("column ", column, " has fractions, and as one of them the integer ", integer, place,
                                " would be another number: it is beyond 2^53; column_types sets the type");
}

}  // namespace

std::vector<std::string> columns_to_check(const arrow::Table& table, const arrow::Schema& narrow) {
  std::vector<std::string> names;
  for (const auto& field : table.schema()->fields()) {
    const auto before = narrow.GetFieldByName(field->name());
    if (before == nullptr || before->type()->Equals(*field->type())) continue;
    const arrow::ArrayVector& chunks = table.GetColumnByName(field->name())->chunks();
    if (std::ranges::any_of(chunks, [](const auto& chunk) { return has_large(*chunk); }))
      names.push_back(field->name());
  }
  return names;
}

arrow::Status check_json_integers(std::string_view lines, const std::vector<std::string>& columns) {
  for (std::int64_t row = 0; !columns.empty() && !lines.empty(); ++row) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    boost::system::error_code failure;
    const boost::json::value value = boost::json::parse(lines.substr(0, end), failure);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (failure || !value.is_object()) continue;
    for (const std::string& name : columns) {
      const auto* found = value.get_object().if_contains(name);
      const auto integer = found == nullptr ? std::nullopt : lost_integer(*found);
      if (integer) return lost(name, *integer, " in row " + std::to_string(row));
    }
  }
  return arrow::Status::OK();
}

arrow::Status check_text_integers(const arrow::Table& texts) {
  for (int column = 0; column < texts.num_columns(); ++column) {
    for (const auto& chunk : texts.column(column)->chunks()) {
      const auto& values = static_cast<const arrow::StringArray&>(*chunk);
      for (std::int64_t row = 0; row < values.length(); ++row) {
        const std::string_view text = values.IsValid(row) ? trimmed(values.GetView(row)) : "";
        if (is_lost_integer(text)) return lost(texts.field(column)->name(), std::string(text), "");
      }
    }
  }
  return arrow::Status::OK();
}

}  // namespace headway::flow
