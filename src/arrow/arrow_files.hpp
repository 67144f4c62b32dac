#pragma once

#include "storage/files.hpp"

#include <arrow/filesystem/api.h>

namespace headway::arrow_library {

/// An Arrow filesystem as Headway uses it.
class ArrowFiles : public storage::Files {
 public:
  /// Files of several parts go by way of `patient`, where there is one: the same, but it waits
  /// longer for an answer.
  explicit ArrowFiles(std::shared_ptr<arrow::fs::FileSystem> filesystem,
                      std::shared_ptr<arrow::fs::FileSystem> patient = nullptr);

  Result<std::string> path_of(const std::string& location) override;
  std::string shown(const std::string& path) override;
  Result<storage::Entry> info(const std::string& path) override;
  Result<std::vector<storage::Entry>> list(const std::string& path, bool recursive) override;
  Result<std::unique_ptr<storage::Reader>> open_reader(const std::string& path) override;
  Result<std::unique_ptr<storage::RandomFile>> open_random(const std::string& path) override;
  std::uint64_t file_bytes_max() const override;
  Result<std::unique_ptr<storage::Writer>> open_writer(const std::string& path, std::uint64_t size,
                                                       std::size_t memory_bytes) override;
  Result<void> make_directory(const std::string& path) override;
  Result<void> remove_file(const std::string& path) override;
  Result<void> remove_tree(const std::string& path) override;

 private:
  std::shared_ptr<arrow::fs::FileSystem> filesystem_;
  std::shared_ptr<arrow::fs::FileSystem> patient_;
  /// Object stores have none: making one costs a request and an empty object.
  bool has_directories_;
  /// Google's store answers with the names of folders, which Arrow leaves out of what lies in a
  /// folder.
  bool lists_directories_;
};

/// An Arrow error with the kind that says what to do about it.
Error to_error(const arrow::Status& status);

}  // namespace headway::arrow_library
