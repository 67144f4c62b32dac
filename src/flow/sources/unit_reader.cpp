#include "flow/sources/unit_reader.hpp"

#include "core/location.hpp"
#include "flow/functions/wider_schema.hpp"
#include "flow/placed.hpp"
#include "flow/shared_ring.hpp"
#include "flow/sources/partitions.hpp"
#include "flow/sources/text_check.hpp"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace headway::flow {
namespace {

using BatchPointer = std::shared_ptr<arrow::RecordBatch>;

/// Batches that are smaller are joined with the next ones: joining copies.
constexpr std::int64_t joined_bytes = std::int64_t{256} << 10;

/// The first row whose value cannot be cast; found by halves.
std::int64_t bad_row(const arrow::Array& values, const std::shared_ptr<arrow::DataType>& type,
                     arrow::compute::ExecContext* context) {
  std::int64_t begin = 0;
  std::int64_t length = values.length();
  while (length > 1) {
    const std::int64_t half = length / 2;
    const auto first =
        arrow::compute::Cast(*values.Slice(begin, half), type, arrow::compute::CastOptions::Safe(), context);
    if (first.ok()) {
      begin += half;
      length -= half;
    } else {
      length = half;
    }
  }
  return begin;
}

class UnitReader : public arrow::RecordBatchReader {
 public:
  UnitReader(std::shared_ptr<const OpenedFiles> opened, std::span<const Piece> pieces, const std::vector<int>& columns,
             arrow::MemoryPool* pool)
      : opened_(std::move(opened)), pieces_(pieces), pool_(pool) {
    arrow::FieldVector fields;
    for (const int column : columns) {
      fields.push_back(opened_->schema->field(column));
      const int place = opened_->places[static_cast<std::size_t>(column)];
      places_.push_back(place);
      if (place < opened_->format_schema->num_fields()) format_columns_.push_back(place);
    }
    schema_ = arrow::schema(std::move(fields));
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(BatchPointer* out) override {
    if (!announced_) announce();
    std::vector<BatchPointer> waiting;
    std::int64_t bytes = 0;
    while (bytes < joined_bytes_) {
      BatchPointer next = std::exchange(later_, nullptr);
      if (next == nullptr) {
        ARROW_ASSIGN_OR_RAISE(next, next_batch());
      }
      if (next == nullptr) break;
      if (next->num_rows() == 0) continue;
      ARROW_ASSIGN_OR_RAISE(const std::int64_t size, arrow::util::ReferencedBufferSize(*next));
      // Text may have as many bytes in one batch as 32 bits count.
      if (!waiting.empty() && size > std::numeric_limits<std::int32_t>::max() - joined_bytes) {
        later_ = std::move(next);
        break;
      }
      bytes += size;
      waiting.push_back(std::move(next));
    }
    if (waiting.empty())
      *out = nullptr;
    else if (waiting.size() == 1)
      *out = std::move(waiting.front());
    else
      return arrow::ConcatenateRecordBatches(waiting, pool_).Value(out);
    return arrow::Status::OK();
  }

 private:
  /// Rows of a ring are announced before the first one is made, and lie side by side there.
  void announce() {
    announced_ = true;
    if (RingPlace::current() == nullptr || !opened_->format->has_row_buffers()) return;
    joined_bytes_ = 1;
    while (opened_ahead_.size() < pieces_.size() && (opened_ahead_.empty() || opened_ahead_.back().ok())) {
      opened_ahead_.push_back(open(opened_ahead_.size()));
    }
  }

  using Reader = arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>;
  Reader open(std::size_t piece) const {
    const Piece& opened = pieces_[piece];
    return opened_->format->read(opened_->found.files[opened.file], opened, format_columns_, pool_);
  }

  const SourceFile& file() const { return opened_->found.files[pieces_[at_].file]; }

  /// With the file and, unless the words have a row, the rows of the piece.
  arrow::Status named(const arrow::Status& failure, bool has_row = false) const {
    if (const auto wider = widened_schema(failure); wider != nullptr && opened_->wider != nullptr) {
      opened_->wider->add_types(opened_->source, wider);
      return failure;
    }
    const arrow::Status status = is_schema_widened(failure) ? failure.WithDetail(nullptr) : failure;
    const Piece& piece = pieces_[at_];
    std::string place = shown(file());
    // Those that come from a server name the file themselves.
    if (status.message().find(place) != std::string::npos) return placed(status, "");
    const bool is_one = piece.first_row == 0 && piece.rows == 1;  // An image.
    if (!has_row && piece.first_row >= 0 && piece.rows > 0 && !is_one) {
      place += ", rows " + std::to_string(piece.first_row) + " to " + std::to_string(piece.first_row + piece.rows - 1);
    }
    return placed(status, place);
  }

  /// The next batch of any piece, as the schema has it; null at the end.
  arrow::Result<BatchPointer> next_batch() {
    for (; at_ < pieces_.size(); ++at_, reader_.reset()) {
      if (reader_ == nullptr) {
        if (!pieces_[at_].failure.empty()) return placed(arrow::Status::Invalid(pieces_[at_].failure), "");
        Reader opened = at_ < opened_ahead_.size() ? std::move(opened_ahead_[at_]) : open(at_);
        if (!opened.ok()) return named(opened.status());
        reader_ = std::move(*opened);
        rows_before_ = 0;
      }
      BatchPointer batch;
      if (const arrow::Status read = reader_->ReadNext(&batch); !read.ok()) return named(read);
      if (batch == nullptr) continue;
      auto fitted = fit(*batch);
      if (!fitted.ok()) return named(fitted.status(), true);
      rows_before_ += batch->num_rows();
      return fitted;
    }
    return nullptr;
  }

  arrow::Status check_names(const arrow::RecordBatch& batch) const {
    for (const auto& field : batch.schema()->fields()) {
      const int index = opened_->format_schema->GetFieldIndex(field->name());
      if (index >= 0 || format_columns_.size() != static_cast<std::size_t>(opened_->format_schema->num_fields()))
        continue;
      return arrow::Status::Invalid("it has the additional column ", field->name(), " of type ",
                                    field->type()->ToString(), "; the columns are those of the first file");
    }
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::Array>> cast(const std::shared_ptr<arrow::Array>& values,
                                                    const arrow::Field& field) const {
    if (values->type()->Equals(*field.type())) return values;
    arrow::compute::ExecContext context(pool_);
    const auto safe = arrow::compute::CastOptions::Safe();
    const auto made = arrow::compute::Cast(*values, field.type(), safe, &context);
    if (made.ok()) return *made;
    const std::int64_t row = values->length() == 0 ? 0 : bad_row(*values, field.type(), &context);
    return made.status().WithMessage("column ", field.name(), " has type ", values->type()->ToString(), ", and ",
                                     field.type()->ToString(), " in the data set's schema; ", row_words(row), ": ",
                                     made.status().message());
  }

  arrow::Status check_text(const arrow::Array& values, const arrow::Field& field) const {
    const auto row = opened_->format->has_checked_text() ? std::nullopt : row_without_utf8(values);
    if (!row) return arrow::Status::OK();
    const char* const instead =
        is_kept(file().location)
            ? "; leave it out, or cast it to binary"
            : "; leave it out (columns), or read the file with pyarrow and cast the column to binary";
    return arrow::Status::Invalid("column ", field.name(), " has bytes that are no text (UTF-8) in ", row_words(*row),
                                  instead);
  }

  /// Of the batch that is read.
  std::string row_words(std::int64_t row) const {
    return "row " + std::to_string(std::max<std::int64_t>(pieces_[at_].first_row, 0) + rows_before_ + row);
  }

  arrow::Result<BatchPointer> fit(const arrow::RecordBatch& batch) const {
    ARROW_RETURN_NOT_OK(check_names(batch));
    arrow::ArrayVector columns;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto values, column(batch, places_[i], *schema_->field(static_cast<int>(i))));
      columns.push_back(std::move(values));
    }
    return arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(columns));
  }

  arrow::Result<std::shared_ptr<arrow::Array>> column(const arrow::RecordBatch& batch, int place,
                                                      const arrow::Field& field) const {
    const int formats = opened_->format_schema->num_fields();
    if (place < formats) {
      auto values = batch.GetColumnByName(field.name());
      if (values == nullptr) return arrow::Status::Invalid("the column ", field.name(), " is missing");
      ARROW_ASSIGN_OR_RAISE(values, cast(values, field));
      ARROW_RETURN_NOT_OK(check_text(*values, field));
      return values;
    }
    const auto partition = static_cast<std::size_t>(place - formats);
    if (partition < opened_->found.partition_fields.size()) {
      return partition_column(field, file().partition_values[partition], batch.num_rows(), pool_);
    }
    return arrow::MakeArrayFromScalar(arrow::StringScalar(std::string(users_path(file().location))), batch.num_rows(),
                                      pool_);
  }

  std::shared_ptr<const OpenedFiles> opened_;
  std::span<const Piece> pieces_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<int> places_;          ///< Of the columns that are given.
  std::vector<int> format_columns_;  ///< What the format is asked for.
  arrow::MemoryPool* pool_;
  BatchPointer later_;  ///< Too large for the batch before it.
  bool announced_ = false;
  std::int64_t joined_bytes_ = joined_bytes;
  std::vector<Reader> opened_ahead_;  ///< Of the first pieces.
  std::size_t at_ = 0;
  std::int64_t rows_before_ = 0;
  std::shared_ptr<arrow::RecordBatchReader> reader_;
};

}  // namespace

std::shared_ptr<arrow::RecordBatchReader> read_unit(std::shared_ptr<const OpenedFiles> opened,
                                                    std::span<const Piece> pieces, const std::vector<int>& columns,
                                                    arrow::MemoryPool* pool) {
  return std::make_shared<UnitReader>(std::move(opened), pieces, columns, pool);
}

}  // namespace headway::flow
