#pragma once

#include "data/plan_nodes.hpp"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// The names of so many files of a write, from the file `first` on, counted from 0: what the client
/// says. Waits for it.
using AskForNames = std::function<arrow::Result<std::vector<std::string>>(std::size_t first, std::size_t count)>;

/// The names of the files of one write, without their folders.
class FileNames {
 public:
  FileNames() = default;
  FileNames(const FileNames&) = delete;
  FileNames& operator=(const FileNames&) = delete;
  virtual ~FileNames() = default;

  /// Whether a user has thought of them: two may be the same, or one may be there already.
  virtual bool are_users() const { return true; }
  /// Of the next file, whose first row is the first one of `rows`. Errors: Invalid for what is no
  /// file's name.
  virtual arrow::Result<std::string> next(const arrow::RecordBatch& rows) = 0;
};

/// By `node.options`: `asks_names` (true: the client says them), `name_column` (text, for a file a
/// row); else `id`, a number and `extension`.
arrow::Result<std::unique_ptr<FileNames>> file_names(const data::WriteNode& node, const AskForNames& ask,
                                                     const std::string& id, const std::string& extension);

/// Whether files may have the name. Errors: Invalid for one with a folder, one that readers leave
/// out, and one that is no text.
arrow::Status check_file_name(const std::string& name);

}  // namespace headway::flow
