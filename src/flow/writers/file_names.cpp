#include "flow/writers/file_names.hpp"

#include "core/text.hpp"
#include "flow/sources/read_options.hpp"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace headway::flow {
namespace {

constexpr std::size_t names_at_once_max = 1024;
constexpr std::size_t name_bytes_max = 255;  ///< Of file systems.

class NumberedNames : public FileNames {
 public:
  NumberedNames(std::string id, std::string extension) : id_(std::move(id)), extension_(std::move(extension)) {}

  bool are_users() const override { return false; }
  arrow::Result<std::string> next(const arrow::RecordBatch&) override {
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "_%06zu", next_++);
    return id_ + number.data() + extension_;
  }

 private:
  std::string id_;
  std::string extension_;
  std::size_t next_ = 0;
};

/// Asks for as many names as there were before, so that many small files cost few questions.
class AskedNames : public FileNames {
 public:
  explicit AskedNames(AskForNames ask) : ask_(std::move(ask)) {}

  arrow::Result<std::string> next(const arrow::RecordBatch&) override {
    if (next_ == names_.size()) {
      const std::size_t count = std::clamp<std::size_t>(first_ + next_, 1, names_at_once_max);
      first_ += std::exchange(next_, 0);
      ARROW_ASSIGN_OR_RAISE(names_, ask_(first_, count));
      if (names_.size() != count) {
        return arrow::Status::Invalid("the client gave ", names_.size(), " names for ", count, " files");
      }
    }
    std::string name = names_[next_++];
    ARROW_RETURN_NOT_OK(check_file_name(name));
    return name;
  }

 private:
  AskForNames ask_;
  std::vector<std::string> names_;
  std::size_t first_ = 0;  ///< The number of the file that the first of the names is for.
  std::size_t next_ = 0;   ///< Of the names.
};

class NamesInColumn : public FileNames {
 public:
  explicit NamesInColumn(std::string column) : column_(std::move(column)) {}

  arrow::Result<std::string> next(const arrow::RecordBatch& rows) override {
    const auto values = rows.GetColumnByName(column_);
    if (values == nullptr || values->type_id() != arrow::Type::STRING || values->length() == 0 || values->IsNull(0)) {
      return arrow::Status::Invalid("the column ", column_, " names files and is text; it has none for a row");
    }
    std::string name = static_cast<const arrow::StringArray&>(*values).GetString(0);
    ARROW_RETURN_NOT_OK(check_file_name(name));
    return name;
  }

 private:
  std::string column_;
};

}  // namespace

arrow::Result<std::unique_ptr<FileNames>> file_names(const data::WriteNode& node, const AskForNames& ask,
                                                     const std::string& id, const std::string& extension) {
  const OptionView options(node.options, node.format);
  ARROW_ASSIGN_OR_RAISE(std::string column, options.text("name_column", ""));
  if (!column.empty()) return std::make_unique<NamesInColumn>(std::move(column));
  ARROW_ASSIGN_OR_RAISE(const bool asks, options.flag("asks_names", false));
  if (!asks) return std::make_unique<NumberedNames>(id, extension);
  if (!ask) return options.misfit("asks_names", "false: nobody is there who says names");
  return std::make_unique<AskedNames>(ask);
}

arrow::Status check_file_name(const std::string& name) {
  const auto refused = [&](const char* why) {
    return arrow::Status::Invalid("a file cannot have the name ", shown_value(Json(to_utf8(name))), ": ", why);
  };
  if (name.empty()) return refused("it is empty");
  if (!is_utf8(name) || name.find('\0') != std::string::npos) return refused("it is no text (UTF-8)");
  if (name.size() > name_bytes_max) return refused("it has more than 255 bytes");
  if (name.find('/') != std::string::npos) return refused("it is in a folder, and the write has one for all its files");
  if (name.front() == '.' || name.front() == '_') return refused("readers leave out names that begin with . or _");
  return arrow::Status::OK();
}

}  // namespace headway::flow
