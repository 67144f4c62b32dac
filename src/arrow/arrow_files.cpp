#include "arrow/arrow_files.hpp"

#include "storage/remote/store.hpp"

#include <arrow/io/interfaces.h>
#include <arrow/util/io_util.h>

#include <cerrno>
#include <set>

namespace headway::arrow_library {

namespace fs = arrow::fs;

Error to_error(const arrow::Status& status) {
  const int number = arrow::internal::ErrnoFromStatus(status);
  const std::string& words = status.message();
  switch (number) {
    case ENOENT: return {ErrorKind::not_found, words};
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOSPC:
    case EDQUOT:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR: return {ErrorKind::refused, words};
    default: break;
  }
  if (status.IsInvalid() || status.IsKeyError()) return {ErrorKind::invalid_argument, words};
  if (status.IsNotImplemented() || storage::is_lasting_reason(words)) return {ErrorKind::refused, words};
  return {ErrorKind::unavailable, words};
}

namespace {

class ArrowReader : public storage::Reader {
 public:
  explicit ArrowReader(std::shared_ptr<arrow::io::InputStream> stream) : stream_(std::move(stream)) {}
  ~ArrowReader() override { (void)stream_->Close(); }
  ArrowReader(const ArrowReader&) = delete;
  ArrowReader& operator=(const ArrowReader&) = delete;

  Result<std::size_t> read(std::span<std::byte> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const auto got = stream_->Read(static_cast<std::int64_t>(buffer.size() - filled), buffer.data() + filled);
      if (!got.ok()) return to_error(got.status());
      if (*got == 0) break;
      filled += static_cast<std::size_t>(*got);
    }
    return filled;
  }

 private:
  std::shared_ptr<arrow::io::InputStream> stream_;
};

/// Arrow's own promise: ReadAt may be called by several threads at once.
class ArrowRandomFile : public storage::RandomFile {
 public:
  ArrowRandomFile(std::shared_ptr<arrow::io::RandomAccessFile> file, std::uint64_t size)
      : file_(std::move(file)), size_(size) {}
  ~ArrowRandomFile() override { (void)file_->Close(); }
  ArrowRandomFile(const ArrowRandomFile&) = delete;
  ArrowRandomFile& operator=(const ArrowRandomFile&) = delete;

  std::uint64_t size() const override { return size_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const auto got = file_->ReadAt(static_cast<std::int64_t>(offset + filled),
                                     static_cast<std::int64_t>(buffer.size() - filled), buffer.data() + filled);
      if (!got.ok()) return to_error(got.status());
      if (*got == 0) break;
      filled += static_cast<std::size_t>(*got);
    }
    return filled;
  }

 private:
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::uint64_t size_;
};

/// Arrow copies S3's parts and sends them in the background, however many there are. Flushing waits
/// for them.
class ArrowWriter : public storage::Writer {
 public:
  ArrowWriter(std::shared_ptr<arrow::io::OutputStream> stream, std::size_t memory_bytes)
      : stream_(std::move(stream)), memory_bytes_(memory_bytes) {}
  ~ArrowWriter() override {
    if (!stream_->closed()) (void)stream_->Abort();
  }
  ArrowWriter(const ArrowWriter&) = delete;
  ArrowWriter& operator=(const ArrowWriter&) = delete;

  Result<void> write(std::span<const std::byte> bytes) override {
    if (pending_ > 0 && pending_ + bytes.size() > memory_bytes_) {
      if (const arrow::Status flushed = stream_->Flush(); !flushed.ok()) return to_error(flushed);
      pending_ = 0;
    }
    const arrow::Status written = stream_->Write(bytes.data(), static_cast<std::int64_t>(bytes.size()));
    if (!written.ok()) return to_error(written);
    pending_ += bytes.size();
    return {};
  }

  Result<void> finish() override {
    const arrow::Status closed = stream_->Close();
    return closed.ok() ? Result<void>() : to_error(closed);
  }

 private:
  std::shared_ptr<arrow::io::OutputStream> stream_;
  std::size_t memory_bytes_;
  std::size_t pending_ = 0;
};

storage::Entry entry_of(const fs::FileInfo& info, std::string name) {
  storage::Entry entry;
  entry.name = std::move(name);
  entry.directory = info.type() == fs::FileType::Directory;
  if (!entry.directory) entry.size = static_cast<std::uint64_t>(info.size());
  return entry;
}

/// Of what lies below a directory: what lies in it, each folder once.
std::vector<storage::Entry> first_level(std::vector<storage::Entry> all) {
  std::vector<storage::Entry> entries;
  std::set<std::string> directories;
  for (storage::Entry& entry : all) {
    const std::size_t slash = entry.name.find('/');
    if (slash == std::string::npos && !entry.directory) {
      entries.push_back(std::move(entry));
    } else {
      directories.insert(entry.name.substr(0, slash));
    }
  }
  for (const std::string& name : directories) entries.push_back({.name = name, .directory = true, .size = 0});
  return entries;
}

}  // namespace

ArrowFiles::ArrowFiles(std::shared_ptr<fs::FileSystem> filesystem, std::shared_ptr<fs::FileSystem> patient)
    : filesystem_(std::move(filesystem)), patient_(std::move(patient)) {
  const std::string kind = filesystem_->type_name();
  has_directories_ = kind != "s3" && kind != "gcs" && kind != "abfs";
  lists_directories_ = kind != "gcs";
}

Result<std::string> ArrowFiles::path_of(const std::string& location) {
  auto path = filesystem_->PathFromUri(location);
  if (!path.ok()) return to_error(path.status());
  while (path->size() > 1 && path->back() == '/') path->pop_back();
  return *path;
}

std::string ArrowFiles::shown(const std::string& path) {
  const std::string kind = filesystem_->type_name();
  return (kind == "gcs" ? "gs" : kind) + "://" + path;
}

Result<storage::Entry> ArrowFiles::info(const std::string& path) {
  const auto info = filesystem_->GetFileInfo(path);
  if (!info.ok()) return to_error(info.status());
  if (info->type() == fs::FileType::NotFound) return Error{ErrorKind::not_found, "there is nothing"};
  return entry_of(*info, "");
}

Result<std::vector<storage::Entry>> ArrowFiles::list(const std::string& path, bool recursive) {
  fs::FileSelector selector;
  selector.base_dir = path;
  selector.allow_not_found = true;
  selector.recursive = recursive || !lists_directories_;
  const auto infos = filesystem_->GetFileInfo(selector);
  if (!infos.ok()) return to_error(infos.status());
  std::vector<storage::Entry> entries;
  for (const fs::FileInfo& info : *infos) {
    std::string name = info.path().substr(std::min(info.path().size(), path.size()));
    name.erase(0, name.find_first_not_of('/'));
    entries.push_back(entry_of(info, std::move(name)));
  }
  return selector.recursive == recursive ? entries : first_level(std::move(entries));
}

Result<std::unique_ptr<storage::Reader>> ArrowFiles::open_reader(const std::string& path) {
  auto stream = filesystem_->OpenInputStream(path);
  if (!stream.ok()) return to_error(stream.status());
  return std::unique_ptr<storage::Reader>(std::make_unique<ArrowReader>(std::move(*stream)));
}

Result<std::unique_ptr<storage::RandomFile>> ArrowFiles::open_random(const std::string& path) {
  auto file = filesystem_->OpenInputFile(path);
  if (!file.ok()) return to_error(file.status());
  const auto size = (*file)->GetSize();
  if (!size.ok()) return to_error(size.status());
  return std::unique_ptr<storage::RandomFile>(
      std::make_unique<ArrowRandomFile>(std::move(*file), static_cast<std::uint64_t>(*size)));
}

std::uint64_t ArrowFiles::file_bytes_max() const {
  // S3 takes 10 000 parts (docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html), and Arrow's
  // parts do not grow.
  if (filesystem_->type_name() == "s3") return std::uint64_t{10'000} * storage::Store::piece_bytes;
  return Files::file_bytes_max();
}

Result<std::unique_ptr<storage::Writer>> ArrowFiles::open_writer(const std::string& path, std::uint64_t size,
                                                                 std::size_t memory_bytes) {
  const bool one_part = size <= storage::Store::piece_bytes;
  auto stream = (one_part || !patient_ ? filesystem_ : patient_)->OpenOutputStream(path);
  if (!stream.ok()) return to_error(stream.status());
  return std::unique_ptr<storage::Writer>(std::make_unique<ArrowWriter>(std::move(*stream), memory_bytes));
}

Result<void> ArrowFiles::make_directory(const std::string& path) {
  if (!has_directories_) return {};
  const arrow::Status made = filesystem_->CreateDir(path, true);
  return made.ok() ? Result<void>() : to_error(made);
}

Result<void> ArrowFiles::remove_file(const std::string& path) {
  const arrow::Status removed = filesystem_->DeleteFile(path);
  if (removed.ok()) return {};
  Error error = to_error(removed);
  return error.kind == ErrorKind::not_found ? Result<void>() : error;
}

Result<void> ArrowFiles::remove_tree(const std::string& path) {
  // Some filesystems refuse a directory that is not there with words alone.
  const auto info = filesystem_->GetFileInfo(path);
  if (!info.ok()) return to_error(info.status());
  if (info->type() == fs::FileType::NotFound) return {};
  const arrow::Status removed =
      info->type() == fs::FileType::Directory ? filesystem_->DeleteDir(path) : filesystem_->DeleteFile(path);
  if (removed.ok()) return {};
  Error error = to_error(removed);
  return error.kind == ErrorKind::not_found ? Result<void>() : error;
}

}  // namespace headway::arrow_library
