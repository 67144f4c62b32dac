#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <memory>
#include <string>

namespace headway::flow {

/// A local file whose ranges are read without a copy (MappedRange).
class MappedFile : public arrow::io::RandomAccessFile {
 public:
  /// Larger ranges are read as others are: what is mapped counts as this process's memory.
  static constexpr std::int64_t range_max = std::int64_t{128} << 20;

  /// Errors: as opening has them.
  static arrow::Result<std::shared_ptr<MappedFile>> open(const std::string& path, arrow::MemoryPool* pool);

  /// Whether ranges are mapped: not on a filesystem of another machine, or of a program, where they
  /// are read.
  virtual bool maps() const = 0;
  /// An error where a page was missing, such as that of a file that was cut short: what was read
  /// until now is not the file's.
  virtual arrow::Status check() const = 0;
};

}  // namespace headway::flow
