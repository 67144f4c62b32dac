#include "flow/sources/numpy_header.hpp"
#include "flow/sources/read_options.hpp"
#include "flow/tensor_rows.hpp"
#include "flow/writers/file_encoder.hpp"
#include "flow/writers/json_values.hpp"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/variable_shape_tensor.h>
#include <arrow/extension_type.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <string_view>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

using EncoderResult = arrow::Result<std::unique_ptr<FileEncoder>>;
using OutputFile = std::shared_ptr<arrow::io::FileOutputStream>;

constexpr std::size_t json_text_bytes = std::size_t{1} << 20;

class JsonEncoder : public FileEncoder {
 public:
  JsonEncoder(OutputFile out, arrow::MemoryPool* pool) : out_(std::move(out)), pool_(pool) {}

  arrow::Status write(const arrow::RecordBatch& rows) override {
    std::vector<std::pair<std::string, std::unique_ptr<JsonValues>>> columns;
    for (int i = 0; i < rows.num_columns(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto values, JsonValues::of(rows.column(i), pool_));
      std::string name;
      append_json_text(rows.column_name(i), name);
      columns.emplace_back((i == 0 ? "{" : ",") + name + ":", std::move(values));
    }
    for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
      for (const auto& [name, values] : columns) {
        text_ += name;
        values->append(row, text_);
      }
      text_ += columns.empty() ? "{}\n" : "}\n";
      if (text_.size() >= json_text_bytes) ARROW_RETURN_NOT_OK(flush());
    }
    return arrow::Status::OK();
  }

  arrow::Status finish() override {
    ARROW_RETURN_NOT_OK(flush());
    return out_->Close();
  }

 private:
  arrow::Status flush() {
    ARROW_RETURN_NOT_OK(out_->Write(text_));
    text_.clear();
    return arrow::Status::OK();
  }

  OutputFile out_;
  arrow::MemoryPool* pool_;
  std::string text_;
};

class JsonWriting : public FileWriting {
 public:
  explicit JsonWriting(arrow::MemoryPool* pool) : pool_(pool) {}
  const char* extension() const override { return ".json"; }
  EmptyFile empty_file() const override { return EmptyFile::plain; }

  EncoderResult begin(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) const override {
    for (const auto& field : schema->fields()) {
      ARROW_ASSIGN_OR_RAISE(const auto empty, arrow::MakeEmptyArray(field->type(), pool_));
      const auto values = JsonValues::of(empty, pool_);
      if (!values.ok()) return values.status().WithMessage("column ", field->name(), ": ", values.status().message());
    }
    ARROW_ASSIGN_OR_RAISE(OutputFile out, arrow::io::FileOutputStream::Open(path));
    return std::make_unique<JsonEncoder>(std::move(out), pool_);
  }

 private:
  arrow::MemoryPool* pool_;
};

/// What a column's values are without lists of a fixed size around them.
struct FlatColumn {
  std::shared_ptr<arrow::DataType> value_type;
  std::vector<std::int64_t> shape;
};

FlatColumn flat_column(const arrow::DataType& type) {
  if (type.id() == arrow::Type::EXTENSION) {
    const auto& extension = static_cast<const arrow::ExtensionType&>(type);
    if (extension.extension_name() == "arrow.fixed_shape_tensor") {
      const auto& tensor = static_cast<const arrow::extension::FixedShapeTensorType&>(type);
      return {tensor.value_type(), tensor.shape()};
    }
    if (is_variable_tensor(type)) {  // Its rows show the shape.
      return {static_cast<const arrow::extension::VariableShapeTensorType&>(type).value_type(), {}};
    }
    return flat_column(*extension.storage_type());
  }
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
    FlatColumn inner = flat_column(*list.value_type());
    inner.shape.insert(inner.shape.begin(), list.list_size());
    return inner;
  }
  return {type.GetSharedPtr(), {}};
}

/// Its header says how many rows follow, so the rows wait for the file's end.
class NumpyEncoder : public FileEncoder {
 public:
  NumpyEncoder(OutputFile out, std::string column, FlatColumn flat)
      : out_(std::move(out)), column_(std::move(column)), flat_(std::move(flat)) {}

  arrow::Status write(const arrow::RecordBatch& rows) override {
    auto values = rows.GetColumnByName(column_);
    if (values->null_count() == 0 && is_variable_tensor(*values->type())) {
      if (rows_ == 0) {
        ARROW_ASSIGN_OR_RAISE(flat_.shape, first_shape(*values));
      }
      auto alike = with_row_type(values, arrow::extension::fixed_shape_tensor(flat_.value_type, flat_.shape));
      if (!alike.ok()) return alike.status().WithMessage("column ", column_, ": ", alike.status().message());
      values = alike.MoveValueUnsafe();
    }
    rows_ += rows.num_rows();
    while (values->type_id() == arrow::Type::EXTENSION || values->type_id() == arrow::Type::FIXED_SIZE_LIST) {
      if (values->null_count() > 0) break;
      if (values->type_id() == arrow::Type::EXTENSION) {
        values = static_cast<const arrow::ExtensionArray&>(*values).storage();
      } else {
        ARROW_ASSIGN_OR_RAISE(values, static_cast<const arrow::FixedSizeListArray&>(*values).Flatten());
      }
    }
    if (values->null_count() > 0) {
      return arrow::Status::Invalid("the column ", column_, " has nulls, which numpy's files have no place for");
    }
    return add_bytes(*values);
  }

  arrow::Status finish() override {
    std::vector<std::int64_t> shape = flat_.shape;
    shape.insert(shape.begin(), rows_);
    ARROW_ASSIGN_OR_RAISE(const std::string header, numpy_header_text(*flat_.value_type, shape));
    ARROW_RETURN_NOT_OK(out_->Write(header));
    ARROW_RETURN_NOT_OK(out_->Write(bytes_));
    return out_->Close();
  }

 private:
  arrow::Status add_bytes(const arrow::Array& values) {
    if (values.type_id() == arrow::Type::BOOL) {
      const auto& truth = static_cast<const arrow::BooleanArray&>(values);
      for (std::int64_t i = 0; i < truth.length(); ++i) bytes_ += truth.Value(i) ? '\1' : '\0';
      return arrow::Status::OK();
    }
    const std::int64_t width = values.type()->byte_width();
    const auto& buffer = values.data()->buffers[1];
    if (buffer == nullptr || values.length() == 0) return arrow::Status::OK();
    const auto* begin = reinterpret_cast<const char*>(buffer->data()) + values.offset() * width;
    bytes_.append(begin, static_cast<std::size_t>(values.length() * width));
    return arrow::Status::OK();
  }

  OutputFile out_;
  std::string column_;
  FlatColumn flat_;
  std::int64_t rows_ = 0;
  std::string bytes_;
};

class NumpyWriting : public FileWriting {
 public:
  explicit NumpyWriting(std::string column) : column_(std::move(column)) {}
  const char* extension() const override { return ".npy"; }

  EncoderResult begin(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) const override {
    const auto field = schema->GetFieldByName(column_);
    if (field == nullptr) return arrow::Status::Invalid("there is no column ", column_, " to write");
    FlatColumn flat = flat_column(*field->type());
    const auto header = numpy_header_text(*flat.value_type, {0});
    if (!header.ok()) return header.status().WithMessage("column ", column_, ": ", header.status().message());
    ARROW_ASSIGN_OR_RAISE(OutputFile out, arrow::io::FileOutputStream::Open(path));
    return std::make_unique<NumpyEncoder>(std::move(out), column_, std::move(flat));
  }

 private:
  std::string column_;
};

/// A row's bytes are its file.
class BytesEncoder : public FileEncoder {
 public:
  BytesEncoder(OutputFile out, std::string column) : out_(std::move(out)), column_(std::move(column)) {}

  arrow::Status write(const arrow::RecordBatch& rows) override {
    const auto values = rows.GetColumnByName(column_);
    for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
      if (values->IsNull(row)) return arrow::Status::Invalid("the column ", column_, " has a null, which is no file");
      ARROW_RETURN_NOT_OK(out_->Write(bytes_of(*values, row)));
    }
    return arrow::Status::OK();
  }

  arrow::Status finish() override { return out_->Close(); }

 private:
  static std::string_view bytes_of(const arrow::Array& values, std::int64_t row) {
    if (values.type_id() == arrow::Type::BINARY) return static_cast<const arrow::BinaryArray&>(values).GetView(row);
    return static_cast<const arrow::LargeBinaryArray&>(values).GetView(row);
  }

  OutputFile out_;
  std::string column_;
};

class BytesWriting : public FileWriting {
 public:
  BytesWriting(std::string column, std::string extension)
      : column_(std::move(column)), extension_(std::move(extension)) {}
  const char* extension() const override { return extension_.c_str(); }
  EmptyFile empty_file() const override { return EmptyFile::none; }

  EncoderResult begin(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) const override {
    const auto field = schema->GetFieldByName(column_);
    if (field == nullptr) return arrow::Status::Invalid("there is no column ", column_, " to write");
    if (field->type()->id() != arrow::Type::BINARY && field->type()->id() != arrow::Type::LARGE_BINARY) {
      return arrow::Status::Invalid("column ", column_, " is ", field->type()->ToString(), "; a file is made of bytes");
    }
    ARROW_ASSIGN_OR_RAISE(OutputFile out, arrow::io::FileOutputStream::Open(path));
    return std::make_unique<BytesEncoder>(std::move(out), column_);
  }

 private:
  std::string column_;
  std::string extension_;
};

}  // namespace

WritingResult json_writing(const data::WriteNode&, arrow::MemoryPool* pool) {
  return std::make_unique<JsonWriting>(pool);
}

WritingResult bytes_writing(const data::WriteNode& node, arrow::MemoryPool*) {
  const OptionView options(node.options, node.format);
  ARROW_ASSIGN_OR_RAISE(std::string column, options.text("column", "bytes"));
  ARROW_ASSIGN_OR_RAISE(std::string extension, options.text("extension", "bin"));
  return std::make_unique<BytesWriting>(std::move(column), "." + extension);
}

WritingResult numpy_writing(const data::WriteNode& node, arrow::MemoryPool*) {
  ARROW_ASSIGN_OR_RAISE(std::string column, OptionView(node.options, node.format).text("column", "data"));
  return std::make_unique<NumpyWriting>(std::move(column));
}

}  // namespace headway::flow
