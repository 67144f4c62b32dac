#include "flow/writers/writer.hpp"

#include "flow/sources/read_options.hpp"
#include "flow/writers/file_encoder.hpp"
#include "flow/writers/partitioned_rows.hpp"
#include "flow/writers/staged_folder.hpp"
#include "wire/fd.hpp"

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/io_util.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace headway::flow {
namespace {

/// A file of the default size is written and read in one go, and is large enough for object stores.
constexpr std::int64_t file_bytes_default = std::int64_t{128} << 20;
/// Files that are open at a time, for different partitions.
constexpr std::size_t open_files_max = 64;

struct FileRows {
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool by_bytes = true;  ///< Neither was given.
};

struct KnownWriting {
  std::string_view name;
  WritingResult (*make)(const data::WriteNode&, arrow::MemoryPool*);
};

constexpr std::array<KnownWriting, 8> writings = {{{"bytes", bytes_writing},
                                                   {"csv", csv_writing},
                                                   {"json", json_writing},
                                                   {"numpy", numpy_writing},
                                                   {"orc", orc_writing},
                                                   {"parquet", parquet_writing},
                                                   {"tfrecord", tfrecord_writing},
                                                   {"webdataset", webdataset_writing}}};

/// One file after the other, for rows that belong together.
struct OpenFile {
  std::unique_ptr<FileEncoder> encoder;
  std::string path;  ///< Where it will be.
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  std::uint64_t used = 0;  ///< When rows came last.
};

/// With the file's name and the system's reason, such as a disk that is full: Arrow says neither.
arrow::Status named(const arrow::Status& status, const OpenFile& file) {
  const int number = status.IsIOError() ? arrow::internal::ErrnoFromStatus(status) : 0;
  return number == 0 ? status : status.WithMessage("cannot write ", file.path, ": ", wire::reason_of(number));
}

class FolderWriter : public Writer {
 public:
  FolderWriter(std::string path, std::unique_ptr<StagedFolder> folder, std::unique_ptr<FileNames> names,
               std::unique_ptr<FileWriting> writing, PartitionedRows partitions, FileRows file_rows, bool knows_columns)
      : path_(std::move(path)),
        folder_(std::move(folder)),
        names_(std::move(names)),
        writing_(std::move(writing)),
        partitions_(std::move(partitions)),
        file_rows_(file_rows),
        knows_columns_(knows_columns) {}

  arrow::Status write(const std::shared_ptr<arrow::RecordBatch>& rows) override {
    ARROW_ASSIGN_OR_RAISE(const auto parts, partitions_.split(rows));
    for (const PartitionedRows::Part& part : parts) ARROW_RETURN_NOT_OK(write_to(part.folder, *part.rows));
    return arrow::Status::OK();
  }

  arrow::Result<std::vector<std::string>> finish() override {
    if (!has_begun_ && makes_empty_file()) {
      ARROW_ASSIGN_OR_RAISE(const auto none, arrow::RecordBatch::MakeEmpty(partitions_.schema()));
      const std::string folder = partitions_.null_folder();
      ARROW_RETURN_NOT_OK(begin(folder, *none, files_[folder]));
    }
    for (auto& [folder, file] : files_) {
      if (file.encoder != nullptr) ARROW_RETURN_NOT_OK(named(file.encoder->finish(), file));
    }
    files_.clear();
    return folder_->commit();
  }

 private:
  bool makes_empty_file() const {
    const EmptyFile kind = writing_->empty_file();
    return kind == EmptyFile::plain || (kind == EmptyFile::with_columns && knows_columns_);
  }

  arrow::Status write_to(const std::string& folder, const arrow::RecordBatch& rows) {
    OpenFile& file = files_[folder];
    file.used = ++uses_;
    std::int64_t at = 0;
    while (at < rows.num_rows()) {
      if (file.encoder == nullptr) ARROW_RETURN_NOT_OK(begin(folder, *rows.Slice(at), file));
      const std::int64_t count = std::min(rows.num_rows() - at, file_rows_.most - file.rows);
      const auto part = rows.Slice(at, count);
      ARROW_RETURN_NOT_OK(named(file.encoder->write(*part), file));
      ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes, arrow::util::ReferencedBufferSize(*part));
      file.rows += count;
      file.bytes += bytes;
      at += count;
      if (is_full(file)) ARROW_RETURN_NOT_OK(end(file));
    }
    return arrow::Status::OK();
  }

  bool is_full(const OpenFile& file) const {
    if (file.rows >= file_rows_.most) return true;
    if (file_rows_.by_bytes) return file.bytes >= file_bytes_default;
    return file_rows_.least > 0 && file.rows >= file_rows_.least && file.bytes >= file_bytes_default;
  }

  /// A file whose first rows are these.
  arrow::Status begin(const std::string& folder, const arrow::RecordBatch& rows, OpenFile& file) {
    if (rows.num_rows() > 0 && rows.num_columns() == 0 && writing_->empty_file() == EmptyFile::with_columns) {
      return arrow::Status::Invalid("the rows have no columns, and files of this format have rows only of columns; ",
                                    "write JSON, or add a column first");
    }
    has_begun_ = true;
    ARROW_RETURN_NOT_OK(make_room());
    ARROW_ASSIGN_OR_RAISE(std::string name, names_->next(rows));
    name = folder + name;
    file.path = path_ + '/' + name;
    if (names_->are_users()) {
      if (!names_seen_.insert(name).second) {
        return arrow::Status::Invalid("two files would be ", file.path, "; each file of a write needs its own name");
      }
      ARROW_RETURN_NOT_OK(folder_->check_free(name));
    }
    ARROW_ASSIGN_OR_RAISE(const std::string path, folder_->add(name));
    auto begun = writing_->begin(path, rows.schema());
    if (!begun.ok()) return named(begun.status(), file);
    file.encoder = std::move(*begun);
    return arrow::Status::OK();
  }

  static arrow::Status end(OpenFile& file) {
    ARROW_RETURN_NOT_OK(named(file.encoder->finish(), file));
    file = {.encoder = nullptr, .path = "", .rows = 0, .bytes = 0, .used = file.used};
    return arrow::Status::OK();
  }

  /// Ends the file that has waited longest where too many are open.
  arrow::Status make_room() {
    OpenFile* oldest = nullptr;
    std::size_t open = 0;
    for (auto& [folder, file] : files_) {
      if (file.encoder == nullptr) continue;
      ++open;
      if (oldest == nullptr || file.used < oldest->used) oldest = &file;
    }
    return open < open_files_max ? arrow::Status::OK() : end(*oldest);
  }

  std::string path_;
  std::unique_ptr<StagedFolder> folder_;
  std::unique_ptr<FileNames> names_;
  std::unique_ptr<FileWriting> writing_;
  PartitionedRows partitions_;
  FileRows file_rows_;
  bool knows_columns_;
  std::set<std::string> names_seen_;  ///< Where they are the user's.
  std::map<std::string, OpenFile> files_;
  bool has_begun_ = false;  ///< Any file.
  std::uint64_t uses_ = 0;
};

arrow::Result<FileRows> file_rows_of(const OptionView& options) {
  FileRows rows;
  ARROW_ASSIGN_OR_RAISE(const std::int64_t least, options.integer("min_rows_per_file", 0));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t most, options.integer("max_rows_per_file", rows.most));
  if (least < 0) return options.misfit("min_rows_per_file", "an integer above 0");
  if (most < 1) return options.misfit("max_rows_per_file", "an integer above 0");
  if (least > most) return options.misfit("min_rows_per_file", "at most max_rows_per_file");
  rows.by_bytes = least == 0 && most == rows.most;
  rows.least = least;
  rows.most = most;
  return rows;
}

/// Nothing is written before it is known that the format has a place for each column.
arrow::Status try_schema(const FileWriting& writing, const std::shared_ptr<arrow::Schema>& schema,
                         StagedFolder& folder) {
  ARROW_ASSIGN_OR_RAISE(const std::string path, folder.trial());
  return writing.begin(path, schema).status();
}

}  // namespace

arrow::Result<std::unique_ptr<Writer>> open_writer(const data::WriteNode& node,
                                                   const std::shared_ptr<arrow::Schema>& schema,
                                                   arrow::MemoryPool* pool, const AskForNames& ask) {
  const auto* known =
      std::find_if(writings.begin(), writings.end(), [&](const KnownWriting& one) { return one.name == node.format; });
  if (known == writings.end()) return arrow::Status::NotImplemented("nothing writes the format ", node.format);
  const OptionView options(node.options, node.format);
  ARROW_ASSIGN_OR_RAISE(const FileRows file_rows, file_rows_of(options));
  ARROW_ASSIGN_OR_RAISE(auto writing, known->make(node, pool));
  const bool knows_columns = schema != nullptr;
  std::vector<std::string> columns;
  ARROW_ASSIGN_OR_RAISE(auto named_columns, options.texts("partition_cols"));
  if (knows_columns && named_columns) columns = std::move(*named_columns);
  ARROW_ASSIGN_OR_RAISE(PartitionedRows partitions,
                        PartitionedRows::of(knows_columns ? schema : arrow::schema({}), columns, pool));
  ARROW_ASSIGN_OR_RAISE(auto folder, StagedFolder::open(node.path, node.mode));
  if (folder == nullptr) return nullptr;
  if (knows_columns) ARROW_RETURN_NOT_OK(try_schema(*writing, partitions.schema(), *folder));
  ARROW_ASSIGN_OR_RAISE(auto names, file_names(node, ask, folder->id(), writing->extension()));
  return std::make_unique<FolderWriter>(node.path, std::move(folder), std::move(names), std::move(writing),
                                        std::move(partitions), file_rows, knows_columns);
}

}  // namespace headway::flow
