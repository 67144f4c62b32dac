#pragma once

#include "data/plan_nodes.hpp"

#include <arrow/result.h>

#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// A folder that gets new files all at once. They are made in a hidden folder beside their place
/// (whose name readers leave out), or in the machine's temporary folder for remote storage. Gone
/// without a commit: so are they. What a killed process leaves is hidden, and the next write to the
/// place removes it.
class StagedFolder {
 public:
  /// Null when the mode is `ignore` and there are files. Errors: AlreadyExists, IOError.
  static arrow::Result<std::unique_ptr<StagedFolder>> open(const std::string& location, data::WriteMode mode);

  virtual ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  /// Where to make a file of this name, which may have folders in it; they are made.
  arrow::Result<std::string> add(const std::string& name);

  /// Errors: AlreadyExists where a file of this name is in the place, and would stay there.
  virtual arrow::Status check_free(const std::string& name) const = 0;

  /// Where to make a file that stays behind.
  arrow::Result<std::string> trial() const;

  /// Puts the files that were added into their place; their locations, in the order of `add`. A
  /// file of the same name is replaced.
  virtual arrow::Result<std::vector<std::string>> commit() = 0;

  /// Different for each write: names begin with it, so that writes add to a folder.
  const std::string& id() const { return id_; }

 protected:
  StagedFolder(std::string id, std::string staging) : id_(std::move(id)), staging_(std::move(staging)) {}
  const std::string& staging() const { return staging_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string id_;
  std::string staging_;
  std::vector<std::string> names_;
};

}  // namespace headway::flow
