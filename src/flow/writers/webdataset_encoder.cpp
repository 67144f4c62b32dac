#include "flow/sources/tar_files.hpp"
#include "flow/writers/file_encoder.hpp"
#include "flow/writers/json_values.hpp"

#include <arrow/array.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <array>
#include <cstdio>
#include <unordered_set>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

using OutputFile = std::shared_ptr<arrow::io::FileOutputStream>;

constexpr const char* sample_key = "__key__";

bool is_bytes(const arrow::DataType& type) {
  return type.id() == arrow::Type::BINARY || type.id() == arrow::Type::STRING;
}

/// What readers take for the name of the sample of a file that begins with this key.
std::string name_of(const std::string& key) { return key.substr(0, key.find('.', key.rfind('/') + 1)); }

/// A column as files of samples.
struct SampleColumn {
  std::string suffix;
  std::shared_ptr<arrow::Array> array;
  std::unique_ptr<JsonValues> values;  ///< Null: the bytes as they are.
};

class WebdatasetEncoder : public FileEncoder {
 public:
  WebdatasetEncoder(OutputFile out, arrow::MemoryPool* pool) : out_(std::move(out)), pool_(pool) {}

  arrow::Status write(const arrow::RecordBatch& rows) override {
    std::vector<SampleColumn> columns;
    for (int i = 0; i < rows.num_columns(); ++i) {
      // The sample's key, and where it was read.
      if (rows.column_name(i).starts_with("__")) continue;
      SampleColumn column{.suffix = "." + rows.column_name(i), .array = rows.column(i), .values = nullptr};
      if (!is_bytes(*column.array->type())) {
        ARROW_ASSIGN_OR_RAISE(column.values, JsonValues::of(column.array, pool_));
      }
      columns.push_back(std::move(column));
    }
    const auto keys = rows.GetColumnByName(sample_key);
    for (std::int64_t row = 0; row < rows.num_rows(); ++row, ++rows_) {
      const std::string key = key_of(keys.get(), row);
      if (const std::string name = name_of(key); !names_.insert(name).second) {
        return arrow::Status::Invalid("two rows of a file have the __key__ ", key,
                                      name == key ? "" : " up to its first dot",
                                      ", and readers would take them for one sample; give each row its own key");
      }
      std::string files;
      for (const SampleColumn& column : columns) ARROW_RETURN_NOT_OK(add_file(column, row, key, files));
      if (files.empty()) {
        return arrow::Status::Invalid("row ", rows_,
                                      " of a file has no values, and a sample of WebDataset has at least ",
                                      "one: leave such rows out, or add a column");
      }
      ARROW_RETURN_NOT_OK(out_->Write(files));
    }
    return arrow::Status::OK();
  }

  arrow::Status finish() override {
    ARROW_RETURN_NOT_OK(out_->Write(tar_end()));
    return out_->Close();
  }

 private:
  std::string key_of(const arrow::Array* keys, std::int64_t row) const {
    if (keys != nullptr && keys->IsValid(row)) return static_cast<const arrow::StringArray&>(*keys).GetString(row);
    std::array<char, 24> number{};
    std::snprintf(number.data(), number.size(), "%09lld", static_cast<long long>(rows_));
    return number.data();
  }

  static arrow::Status add_file(const SampleColumn& column, std::int64_t row, const std::string& key,
                                std::string& files) {
    if (column.array->IsNull(row)) return arrow::Status::OK();
    if (column.values == nullptr) {
      return append_tar_file(key + column.suffix, static_cast<const arrow::BinaryArray&>(*column.array).GetView(row),
                             files);
    }
    std::string text;
    column.values->append(row, text);
    return append_tar_file(key + column.suffix, text, files);
  }

  OutputFile out_;
  arrow::MemoryPool* pool_;
  std::int64_t rows_ = 0;
  std::unordered_set<std::string> names_;  ///< Of the samples so far. Readers keep them, too.
};

class WebdatasetWriting : public FileWriting {
 public:
  explicit WebdatasetWriting(arrow::MemoryPool* pool) : pool_(pool) {}
  const char* extension() const override { return ".tar"; }
  EmptyFile empty_file() const override { return EmptyFile::plain; }

  arrow::Result<std::unique_ptr<FileEncoder>> begin(const std::string& path,
                                                    const std::shared_ptr<arrow::Schema>& schema) const override {
    const auto key = schema->GetFieldByName(sample_key);
    if (key != nullptr && key->type()->id() != arrow::Type::STRING) {
      return arrow::Status::Invalid("the column __key__ names samples and is text; found ", key->type()->ToString());
    }
    ARROW_ASSIGN_OR_RAISE(OutputFile out, arrow::io::FileOutputStream::Open(path));
    return std::make_unique<WebdatasetEncoder>(std::move(out), pool_);
  }

 private:
  arrow::MemoryPool* pool_;
};

}  // namespace

WritingResult webdataset_writing(const data::WriteNode&, arrow::MemoryPool* pool) {
  return std::make_unique<WebdatasetWriting>(pool);
}

}  // namespace headway::flow
