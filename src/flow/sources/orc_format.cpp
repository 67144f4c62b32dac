#include "core/location.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/inference.hpp"

#include <arrow/adapters/orc/adapter.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

using OrcReader = std::unique_ptr<arrow::adapters::orc::ORCFileReader>;

/// Of a part of a stripe, as the file has them: decoded they may be twice as many.
constexpr std::int64_t stripe_part_bytes = std::int64_t{8} << 20;

class OrcFormat : public FileFormat {
 public:
  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                     arrow::MemoryPool* pool) override {
    const auto schema = schema_of(files.front(), pool);
    if (!schema.ok()) {
      return schema.status().WithMessage(shown_location(files.front().location), ": ", schema.status().message());
    }
    schema_ = (*schema)->RemoveMetadata();
    return schema_;
  }

  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    ARROW_ASSIGN_OR_RAISE(const OrcReader reader, reader_of(file, arrow::default_memory_pool()));
    ARROW_ASSIGN_OR_RAISE(const auto schema, reader->ReadSchema());
    ARROW_RETURN_NOT_OK(check_same_fields(*schema_, *schema));
    std::vector<Piece> pieces;
    for (std::int64_t i = 0; i < reader->NumberOfStripes(); ++i) {
      const auto stripe = reader->GetStripeInformation(i);
      pieces.push_back({.file = index, .begin = i, .end = i + 1, .rows = stripe.num_rows, .bytes = stripe.length});
    }
    return pieces;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece& piece,
                                                                const std::vector<int>& columns,
                                                                arrow::MemoryPool* pool) const override {
    ARROW_ASSIGN_OR_RAISE(OrcReader reader, reader_of(file, pool));
    ARROW_ASSIGN_OR_RAISE(const auto schema, reader->ReadSchema());
    std::vector<int> places;
    for (const int column : columns) places.push_back(schema->GetFieldIndex(schema_->field(column)->name()));
    ARROW_RETURN_NOT_OK(reader->Seek(reader->GetStripeInformation(piece.begin).first_row_id));
    ARROW_ASSIGN_OR_RAISE(auto parts, reader->NextStripeReader(rows_of_a_part(piece, stripe_part_bytes), places));
    auto kept = std::make_shared<std::pair<OrcReader, std::shared_ptr<arrow::RecordBatchReader>>>(std::move(reader),
                                                                                                  std::move(parts));
    return std::shared_ptr<arrow::RecordBatchReader>(kept, kept->second.get());
  }

 private:
  static arrow::Result<OrcReader> reader_of(const SourceFile& file, arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
    return arrow::adapters::orc::ORCFileReader::Open(opened, pool);
  }

  static arrow::Result<std::shared_ptr<arrow::Schema>> schema_of(const SourceFile& file, arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(const OrcReader reader, reader_of(file, pool));
    return reader->ReadSchema();
  }

  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

FormatResult orc_format(const data::ReadNode&) { return std::make_unique<OrcFormat>(); }

}  // namespace headway::flow
