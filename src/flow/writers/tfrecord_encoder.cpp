#include "flow/sources/tfrecord_records.hpp"
#include "flow/writers/file_encoder.hpp"

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/extension_type.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <utility>
#include <vector>

namespace headway::flow {
namespace {

using OutputFile = std::shared_ptr<arrow::io::FileOutputStream>;

constexpr std::size_t record_text_bytes = std::size_t{1} << 20;

/// What a column's values are as values of features.
std::shared_ptr<arrow::DataType> feature_type(const arrow::DataType& type) {
  const arrow::Type::type id = type.id();
  if (arrow::is_integer(id) || id == arrow::Type::BOOL) return arrow::int64();
  if (arrow::is_floating(id)) return arrow::float32();
  if (arrow::is_base_binary_like(id) || id == arrow::Type::FIXED_SIZE_BINARY) return arrow::binary();
  if (id == arrow::Type::EXTENSION) {
    return feature_type(*static_cast<const arrow::ExtensionType&>(type).storage_type());
  }
  if (arrow::is_list_like(id) && id != arrow::Type::MAP) {
    const auto value = feature_type(*type.field(0)->type());
    return value == nullptr || value->id() == arrow::Type::LIST ? nullptr : arrow::list(value);
  }
  return nullptr;
}

void take_values(const arrow::Array& values, std::int64_t begin, std::int64_t end, Feature& feature) {
  for (std::int64_t i = begin; i < end; ++i) {
    switch (feature.kind) {
      case Feature::Kind::integers:
        feature.integers.push_back(static_cast<const arrow::Int64Array&>(values).Value(i));
        break;
      case Feature::Kind::floats:
        feature.floats.push_back(static_cast<const arrow::FloatArray&>(values).Value(i));
        break;
      default: feature.bytes.push_back(static_cast<const arrow::BinaryArray&>(values).GetView(i));
    }
  }
}

Feature::Kind kind_of(const arrow::DataType& type) {
  if (type.id() == arrow::Type::LIST) return kind_of(*type.field(0)->type());
  if (type.id() == arrow::Type::INT64) return Feature::Kind::integers;
  return type.id() == arrow::Type::FLOAT ? Feature::Kind::floats : Feature::Kind::bytes;
}

class TfrecordEncoder : public FileEncoder {
 public:
  TfrecordEncoder(OutputFile out, arrow::MemoryPool* pool) : out_(std::move(out)), pool_(pool) {}

  arrow::Status write(const arrow::RecordBatch& rows) override {
    arrow::compute::ExecContext context(pool_);
    arrow::ArrayVector columns;
    for (const auto& column : rows.columns()) {
      auto values = column;
      if (values->type_id() == arrow::Type::EXTENSION)
        values = static_cast<const arrow::ExtensionArray&>(*values).storage();
      auto cast =
          arrow::compute::Cast(*values, feature_type(*values->type()), arrow::compute::CastOptions::Safe(), &context);
      if (!cast.ok()) return misfit(rows.column_name(static_cast<int>(columns.size())), cast.status().message());
      columns.push_back(cast.MoveValueUnsafe());
    }
    for (std::int64_t row = 0; row < rows.num_rows(); ++row, ++rows_) {
      ARROW_RETURN_NOT_OK(append_row(*rows.schema(), columns, row));
      if (text_.size() >= record_text_bytes) ARROW_RETURN_NOT_OK(flush());
    }
    return arrow::Status::OK();
  }

  arrow::Status finish() override {
    ARROW_RETURN_NOT_OK(flush());
    return out_->Close();
  }

 private:
  static arrow::Status misfit(const std::string& column, const std::string& why) {
    return arrow::Status::Invalid("tf.train.Example has no place for a value of the column ", column, ": ", why);
  }

  arrow::Status append_row(const arrow::Schema& schema, const arrow::ArrayVector& columns, std::int64_t row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const arrow::Array& values = *columns[i];
      if (values.IsNull(row)) continue;
      Feature feature;
      feature.kind = kind_of(*values.type());
      if (values.type_id() == arrow::Type::LIST) {
        const auto& lists = static_cast<const arrow::ListArray&>(values);
        if (lists.value_slice(row)->null_count() > 0) {
          return misfit(schema.field(static_cast<int>(i))->name(),
                        "a list with a missing value, in row " + std::to_string(rows_) + " of a file");
        }
        take_values(*lists.values(), lists.value_offset(row), lists.value_offset(row + 1), feature);
      } else {
        take_values(values, row, row + 1, feature);
      }
      example_.add(schema.field(static_cast<int>(i))->name(), feature);
    }
    append_record(example_.finish(), text_);
    return arrow::Status::OK();
  }

  arrow::Status flush() {
    ARROW_RETURN_NOT_OK(out_->Write(text_));
    text_.clear();
    return arrow::Status::OK();
  }

  OutputFile out_;
  arrow::MemoryPool* pool_;
  ExampleBuilder example_;
  std::string text_;
  std::int64_t rows_ = 0;
};

class TfrecordWriting : public FileWriting {
 public:
  explicit TfrecordWriting(arrow::MemoryPool* pool) : pool_(pool) {}
  const char* extension() const override { return ".tfrecords"; }
  EmptyFile empty_file() const override { return EmptyFile::plain; }

  arrow::Result<std::unique_ptr<FileEncoder>> begin(const std::string& path,
                                                    const std::shared_ptr<arrow::Schema>& schema) const override {
    for (const auto& field : schema->fields()) {
      if (feature_type(*field->type()) != nullptr) continue;
      return arrow::Status::Invalid("tf.train.Example has no place for the column ", field->name(), " of type ",
                                    field->type()->ToString(), "; it takes numbers, text, bytes and lists of these");
    }
    ARROW_ASSIGN_OR_RAISE(OutputFile out, arrow::io::FileOutputStream::Open(path));
    return std::make_unique<TfrecordEncoder>(std::move(out), pool_);
  }

 private:
  arrow::MemoryPool* pool_;
};

}  // namespace

WritingResult tfrecord_writing(const data::WriteNode&, arrow::MemoryPool* pool) {
  return std::make_unique<TfrecordWriting>(pool);
}

}  // namespace headway::flow
