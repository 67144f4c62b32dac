#include "flow/sources/large_pages.hpp"

#include <arrow/buffer.h>

#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>

#include <utility>

namespace headway::flow {
namespace {

/// A smaller page's memory is used for the next page.
constexpr std::int64_t large_page = std::int64_t{8} << 20;

class Pages : public parquet::PageReader {
 public:
  explicit Pages(std::unique_ptr<parquet::PageReader> pages) : pages_(std::move(pages)) {}

  /// A page's values were copied when the next page is asked for.
  std::shared_ptr<parquet::Page> NextPage() override {
    if (large_) PARQUET_THROW_NOT_OK(std::exchange(large_, nullptr)->Resize(0, /*shrink_to_fit=*/true));
    auto page = pages_->NextPage();
    if (page && page->size() >= large_page) {
      large_ = std::dynamic_pointer_cast<arrow::ResizableBuffer>(page->buffer());
    }
    return page;
  }

  void set_max_page_header_size(std::uint32_t size) override { pages_->set_max_page_header_size(size); }

 private:
  const std::unique_ptr<parquet::PageReader> pages_;
  std::shared_ptr<arrow::ResizableBuffer> large_;  ///< The last page's, if it is a large one.
};

class RowGroup : public parquet::RowGroupReader::Contents {
 public:
  RowGroup(std::shared_ptr<parquet::RowGroupReader> group, const parquet::ReaderProperties& properties)
      : group_(std::move(group)), properties_(properties) {}

  std::unique_ptr<parquet::PageReader> GetColumnPageReader(int column) override {
    return std::make_unique<Pages>(group_->GetColumnPageReader(column));
  }
  const parquet::RowGroupMetaData* metadata() const override { return group_->metadata(); }
  const parquet::ReaderProperties* properties() const override { return &properties_; }

 private:
  const std::shared_ptr<parquet::RowGroupReader> group_;
  const parquet::ReaderProperties properties_;
};

class File : public parquet::ParquetFileReader::Contents {
 public:
  File(std::unique_ptr<parquet::ParquetFileReader> file, const parquet::ReaderProperties& properties)
      : file_(std::move(file)), properties_(properties) {}

  void Close() override { file_->Close(); }
  std::shared_ptr<parquet::RowGroupReader> GetRowGroup(int group) override {
    return std::make_shared<parquet::RowGroupReader>(std::make_unique<RowGroup>(file_->RowGroup(group), properties_));
  }
  std::shared_ptr<parquet::FileMetaData> metadata() const override { return file_->metadata(); }
  std::shared_ptr<parquet::PageIndexReader> GetPageIndexReader() override { return file_->GetPageIndexReader(); }
  parquet::BloomFilterReader& GetBloomFilterReader() override { return file_->GetBloomFilterReader(); }

 private:
  const std::unique_ptr<parquet::ParquetFileReader> file_;
  const parquet::ReaderProperties properties_;
};

}  // namespace

std::unique_ptr<parquet::ParquetFileReader> without_used_pages(
    const std::shared_ptr<arrow::io::RandomAccessFile>& opened, const parquet::ReaderProperties& properties,
    std::shared_ptr<parquet::FileMetaData> metadata) {
  auto file = std::make_unique<parquet::ParquetFileReader>();
  file->Open(
      std::make_unique<File>(parquet::ParquetFileReader::Open(opened, properties, std::move(metadata)), properties));
  return file;
}

}  // namespace headway::flow
