#include "flow/writers/partitioned_rows.hpp"

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace headway::flow {
namespace {

constexpr const char* null_value = "__HIVE_DEFAULT_PARTITION__";

bool can_name_folder(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_base_binary_like(type.id()) || type.id() == arrow::Type::BOOL ||
         type.id() == arrow::Type::DATE32 || type.id() == arrow::Type::DICTIONARY;
}

/// What a path or a reader of partitions would take for something else.
std::string folder_escaped(std::string_view value) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (const char character : value) {
    const auto byte = static_cast<unsigned char>(character);
    const bool plain = std::isalnum(byte) != 0 || byte >= 0x80 ||
                       std::string_view("-_. ,@+()").find(character) != std::string_view::npos;
    if (plain)
      text += character;
    else
      text.append({'%', digits[byte >> 4U], digits[byte & 15U]});
  }
  return text;
}

}  // namespace

arrow::Result<PartitionedRows> PartitionedRows::of(const std::shared_ptr<arrow::Schema>& schema,
                                                   const std::vector<std::string>& columns, arrow::MemoryPool* pool) {
  std::vector<int> places;
  std::vector<std::string> folders;
  for (const std::string& name : columns) {
    const int place = schema->GetFieldIndex(name);
    if (place < 0) return arrow::Status::Invalid("partition_cols names the column ", name, ", which is not there");
    if (!can_name_folder(*schema->field(place)->type())) {
      return arrow::Status::Invalid("partition_cols names the column ", name, " of type ",
                                    schema->field(place)->type()->ToString(),
                                    "; allowed are integers, text, truth values and dates");
    }
    places.push_back(place);
    folders.push_back(folder_escaped(name) + "=");
  }
  arrow::FieldVector fields;
  std::vector<int> kept;
  for (int i = 0; i < schema->num_fields(); ++i) {
    if (std::find(places.begin(), places.end(), i) != places.end()) continue;
    fields.push_back(schema->field(i));
    kept.push_back(i);
  }
  if (fields.empty() && !places.empty())
    return arrow::Status::Invalid("partition_cols names all columns; one must stay");
  return PartitionedRows(arrow::schema(std::move(fields)), std::move(places), std::move(folders), std::move(kept),
                         pool);
}

std::string PartitionedRows::null_folder() const {
  std::string folder;
  for (const std::string& name : folders_) folder += name + null_value + '/';
  return folder;
}

arrow::Result<std::vector<PartitionedRows::Part>> PartitionedRows::split(
    const std::shared_ptr<arrow::RecordBatch>& rows) const {
  if (places_.empty()) return std::vector<Part>{{"", rows}};
  arrow::compute::ExecContext context(pool_);
  std::vector<std::string> folders(static_cast<std::size_t>(rows->num_rows()));
  for (std::size_t each = 0; each < places_.size(); ++each) {
    ARROW_ASSIGN_OR_RAISE(const auto text, arrow::compute::Cast(*rows->column(places_[each]), arrow::utf8(),
                                                                arrow::compute::CastOptions::Safe(), &context));
    const auto& values = static_cast<const arrow::StringArray&>(*text);
    for (std::size_t i = 0; i < folders.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      folders[i] += folders_[each];
      folders[i] += values.IsNull(row) ? null_value : folder_escaped(values.GetView(row));
      folders[i] += '/';
    }
  }
  std::map<std::string_view, std::size_t> numbers;
  std::vector<std::vector<std::int64_t>> indices;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const auto [found, is_new] = numbers.try_emplace(folders[i], parts.size());
    if (is_new) {
      parts.push_back({folders[i], nullptr});
      indices.emplace_back();
    }
    indices[found->second].push_back(static_cast<std::int64_t>(i));
  }
  ARROW_ASSIGN_OR_RAISE(const auto kept, rows->SelectColumns(kept_));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto chosen = std::make_shared<arrow::Int64Array>(static_cast<std::int64_t>(indices[i].size()),
                                                            arrow::Buffer::FromVector(indices[i]));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken,
                          arrow::compute::Take(arrow::Datum(kept), arrow::Datum(chosen),
                                               arrow::compute::TakeOptions::NoBoundsCheck(), &context));
    parts[i].rows = taken.record_batch();
  }
  return parts;
}

}  // namespace headway::flow
