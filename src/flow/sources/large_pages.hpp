#pragma once

#include <arrow/io/interfaces.h>

#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <memory>

namespace headway::flow {

/// A reader of a Parquet file that gives back a large page's memory as soon as its values were
/// copied. Arrow's own keeps it until the next page has come, and copies it where that is larger.
/// The page of a dictionary, which may hold all of a column whose values are large and differ,
/// stays beside the copy and the rows that are made of it. Nobody may ask the reader to buffer
/// ranges beforehand.
std::unique_ptr<parquet::ParquetFileReader> without_used_pages(
    const std::shared_ptr<arrow::io::RandomAccessFile>& opened, const parquet::ReaderProperties& properties,
    std::shared_ptr<parquet::FileMetaData> metadata);

}  // namespace headway::flow
