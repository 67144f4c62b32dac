#include "core/location.hpp"
#include "flow/expressions/type_names.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/inference.hpp"
#include "flow/sources/read_options.hpp"
#include "flow/sources/tfrecord_records.hpp"

#include <arrow/array/builder_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/buffered.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <boost/json.hpp>

#include <algorithm>

namespace headway::flow {
namespace {

using SchemaResult = arrow::Result<std::shared_ptr<arrow::Schema>>;

constexpr std::int64_t record_buffer_bytes = std::int64_t{1} << 20;
constexpr std::int64_t record_batch_bytes = std::int64_t{4} << 20;
constexpr std::int64_t sampled_records = 1000;
constexpr std::int64_t sampled_bytes = std::int64_t{4} << 20;

std::shared_ptr<arrow::DataType> type_of(Feature::Kind kind) {
  switch (kind) {
    case Feature::Kind::bytes: return arrow::binary();
    case Feature::Kind::floats: return arrow::float32();
    case Feature::Kind::integers: return arrow::int64();
    case Feature::Kind::none: break;
  }
  return arrow::null();
}

const char* words_for(Feature::Kind kind) {
  switch (kind) {
    case Feature::Kind::bytes: return "bytes";
    case Feature::Kind::floats: return "floats";
    case Feature::Kind::integers: return "integers";
    case Feature::Kind::none: break;
  }
  return "nothing";
}

arrow::Result<std::shared_ptr<arrow::io::InputStream>> open_records(const SourceFile& file, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto raw, open_decompressed(file.location, pool));
  return arrow::io::BufferedInputStream::Create(record_buffer_bytes, pool, std::move(raw));
}

/// One column's values, a feature a row.
class FeatureColumn {
 public:
  FeatureColumn(const std::shared_ptr<arrow::Field>& field, arrow::MemoryPool* pool) : field_(field) {
    list_ = field->type()->id() == arrow::Type::LIST;
    value_type_ = list_ ? field->type()->field(0)->type() : field->type();
    builder_ = arrow::MakeBuilder(field->type(), pool).ValueOrDie();  // Of types that have one.
  }

  arrow::Status append(const Feature& feature) {
    if (feature.count() == 0 && !list_) return builder_->AppendNull();
    if (feature.count() > 1 && !list_) {
      return arrow::Status::Invalid("has ", feature.count(), " values of ", field_->name(),
                                    ", and one in the data set's schema; a list type in tf_schema allows more");
    }
    arrow::ArrayBuilder* values = builder_.get();
    if (list_) {
      auto& list = static_cast<arrow::ListBuilder&>(*builder_);
      ARROW_RETURN_NOT_OK(list.Append());
      values = list.value_builder();
    }
    return append_values(feature, *values);
  }

  arrow::Status append_null() { return builder_->AppendNull(); }
  arrow::Result<std::shared_ptr<arrow::Array>> finish() { return builder_->Finish(); }

 private:
  arrow::Status append_values(const Feature& feature, arrow::ArrayBuilder& values) {
    const arrow::Type::type id = value_type_->id();
    if (feature.kind == Feature::Kind::bytes && (id == arrow::Type::BINARY || id == arrow::Type::STRING)) {
      for (const std::string_view each : feature.bytes) {
        ARROW_RETURN_NOT_OK(static_cast<arrow::BinaryBuilder&>(values).Append(each));
      }
      return arrow::Status::OK();
    }
    if (feature.kind == Feature::Kind::floats && id == arrow::Type::FLOAT) {
      return static_cast<arrow::FloatBuilder&>(values).AppendValues(feature.floats);
    }
    if (feature.kind == Feature::Kind::integers && id == arrow::Type::INT64) {
      return static_cast<arrow::Int64Builder&>(values).AppendValues(feature.integers);
    }
    if (feature.count() == 0) return arrow::Status::OK();
    return arrow::Status::Invalid("has ", words_for(feature.kind), " as ", field_->name(),
                                  ", whose type in the data set's schema is ", field_->type()->ToString());
  }

  std::shared_ptr<arrow::Field> field_;
  bool list_ = false;
  std::shared_ptr<arrow::DataType> value_type_;
  std::unique_ptr<arrow::ArrayBuilder> builder_;
};

class ExampleReader : public arrow::RecordBatchReader {
 public:
  ExampleReader(std::shared_ptr<arrow::io::InputStream> stream, const arrow::Schema& all,
                std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool)
      : records_(std::move(stream)), all_(all), schema_(std::move(schema)), pool_(pool) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    std::vector<FeatureColumn> columns;
    for (const auto& field : schema_->fields()) columns.emplace_back(field, pool_);
    std::int64_t rows = 0;
    std::int64_t bytes = 0;
    while (bytes < record_batch_bytes) {
      ARROW_ASSIGN_OR_RAISE(const auto record, records_.next());
      if (record == nullptr) break;
      const arrow::Status appended = append(std::string_view(*record), columns);
      if (!appended.ok()) return appended.WithMessage("record ", records_before_ + rows, " ", appended.message());
      bytes += record->size();
      ++rows;
    }
    records_before_ += rows;
    if (rows == 0) {
      *out = nullptr;
      return arrow::Status::OK();
    }
    arrow::ArrayVector arrays;
    for (FeatureColumn& column : columns) {
      ARROW_ASSIGN_OR_RAISE(auto values, column.finish());
      arrays.push_back(std::move(values));
    }
    *out = arrow::RecordBatch::Make(schema_, rows, std::move(arrays));
    return arrow::Status::OK();
  }

 private:
  arrow::Status append(std::string_view record, std::vector<FeatureColumn>& columns) const {
    ARROW_ASSIGN_OR_RAISE(const auto features, parse_example(record));
    for (int i = 0; i < schema_->num_fields(); ++i) {
      const auto found = features.find(schema_->field(i)->name());
      FeatureColumn& column = columns[static_cast<std::size_t>(i)];
      ARROW_RETURN_NOT_OK(found == features.end() ? column.append_null() : column.append(found->second));
    }
    for (const auto& [name, feature] : features) {
      if (all_.GetFieldIndex(std::string(name)) >= 0) continue;
      return arrow::Status::Invalid("has the additional feature ", std::string(name),
                                    "; the columns are those of a sample: tf_schema names them all");
    }
    return arrow::Status::OK();
  }

  RecordReader records_;
  const arrow::Schema& all_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::MemoryPool* pool_;
  std::int64_t records_before_ = 0;
};

class TfrecordFormat : public FileFormat {
 public:
  explicit TfrecordFormat(std::shared_ptr<arrow::Schema> schema) : schema_(std::move(schema)) {}

  SchemaResult open(const std::vector<SourceFile>& files, arrow::MemoryPool* pool) override {
    if (schema_ != nullptr) return schema_;
    for (const SourceFile* file : {&files.front(), &files.back()}) {
      auto seen = sample(*file, pool);
      if (!seen.ok()) return seen.status().WithMessage(shown_location(file->location), ": ", seen.status().message());
      if (schema_ == nullptr) {
        schema_ = std::move(*seen);
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(schema_, joined(*schema_, **seen));
    }
    return schema_;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece&,
                                                                const std::vector<int>& columns,
                                                                arrow::MemoryPool* pool) const override {
    ARROW_ASSIGN_OR_RAISE(auto stream, open_records(file, pool));
    arrow::FieldVector fields;
    for (const int column : columns) fields.push_back(schema_->field(column));
    return std::make_shared<ExampleReader>(std::move(stream), *schema_, arrow::schema(std::move(fields)), pool);
  }

 private:
  /// A list where one of both is, of what both have values of.
  static std::shared_ptr<arrow::DataType> wider(const std::shared_ptr<arrow::DataType>& one,
                                                const std::shared_ptr<arrow::DataType>& other) {
    if (other->id() == arrow::Type::NA) return one;
    if (one->id() == arrow::Type::NA || other->id() == arrow::Type::LIST) return other;
    return one;
  }

  static SchemaResult joined(const arrow::Schema& one, const arrow::Schema& other) {
    arrow::FieldVector fields = one.fields();
    for (const auto& field : other.fields()) {
      const int place = one.GetFieldIndex(field->name());
      if (place < 0) {
        fields.push_back(field);
        continue;
      }
      auto& same = fields[static_cast<std::size_t>(place)];
      same = same->WithType(wider(same->type(), field->type()));
    }
    return arrow::schema(std::move(fields));
  }

  static SchemaResult sample(const SourceFile& file, arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(auto stream, open_records(file, pool));
    RecordReader records(std::move(stream));
    std::map<std::string, std::shared_ptr<arrow::DataType>, std::less<>> types;
    std::int64_t bytes = 0;
    for (std::int64_t i = 0; i < sampled_records && bytes < sampled_bytes; ++i) {
      ARROW_ASSIGN_OR_RAISE(const auto record, records.next());
      if (record == nullptr) break;
      bytes += record->size();
      const auto features = parse_example(std::string_view(*record));
      if (!features.ok()) return features.status().WithMessage("record ", i, " ", features.status().message());
      for (const auto& [name, feature] : *features) {
        auto type = type_of(feature.kind);
        if (feature.count() > 1) type = arrow::list(type);
        auto& known = types.try_emplace(std::string(name), arrow::null()).first->second;
        known = wider(known, type);
      }
    }
    arrow::FieldVector fields;
    for (const auto& [name, type] : types) fields.push_back(arrow::field(name, type));
    return arrow::schema(std::move(fields));
  }

  std::shared_ptr<arrow::Schema> schema_;
};

bool is_feature_type(const arrow::DataType& type) {
  const arrow::Type::type id = type.id();
  if (id == arrow::Type::LIST)
    return type.field(0)->type()->id() != arrow::Type::LIST && is_feature_type(*type.field(0)->type());
  return id == arrow::Type::BINARY || id == arrow::Type::STRING || id == arrow::Type::FLOAT || id == arrow::Type::INT64;
}

}  // namespace

FormatResult tfrecord_format(const data::ReadNode& read) {
  const OptionView options(read.options, read.format);
  ARROW_ASSIGN_OR_RAISE(const OptionView given, options.object("tf_schema"));
  arrow::FieldVector fields;
  for (const auto& [name, type] : given.all()) {
    if (!type.is_string()) return options.misfit("tf_schema", "an object of type names");
    ARROW_ASSIGN_OR_RAISE(auto made, type_of_name(type.get_string()));
    if (!is_feature_type(*made)) {
      return options.misfit("tf_schema", "an object of the types binary, string, float, int64 and lists of these");
    }
    fields.push_back(arrow::field(std::string(name), std::move(made)));
  }
  return std::make_unique<TfrecordFormat>(fields.empty() ? nullptr : arrow::schema(std::move(fields)));
}

}  // namespace headway::flow
