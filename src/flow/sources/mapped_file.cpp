#include "flow/sources/mapped_file.hpp"

#include "flow/sources/mapped_range.hpp"

#include <arrow/buffer.h>
#include <arrow/io/file.h>

#include <algorithm>
#include <array>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <utility>

namespace headway::flow {
namespace {

/// A mapping of less costs more than it saves.
constexpr std::int64_t range_min = 64 << 10;

/// ext, XFS, Btrfs, F2FS, ZFS, tmpfs, overlay: those of <linux/magic.h> that keep pages here.
bool is_of_this_machine(int fd) {
  static constexpr std::array<std::uint32_t, 7> magic = {0xEF53,     0x58465342, 0x9123683E, 0xF2F52010,
                                                         0x2FC12FC1, 0x01021994, 0x794C7630};
  struct statfs found{};
  return fstatfs(fd, &found) == 0 && std::ranges::find(magic, static_cast<std::uint32_t>(found.f_type)) != magic.end();
}

class FileOfRanges : public MappedFile {
 public:
  /// `size`: of what may be mapped.
  FileOfRanges(std::shared_ptr<arrow::io::ReadableFile> file, std::int64_t size)
      : file_(std::move(file)), size_(size) {}

  arrow::Status Close() override { return file_->Close(); }
  bool closed() const override { return file_->closed(); }
  arrow::Result<std::int64_t> Tell() const override { return file_->Tell(); }
  arrow::Status Seek(std::int64_t position) override { return file_->Seek(position); }
  arrow::Result<std::int64_t> GetSize() override { return file_->GetSize(); }
  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override { return file_->Read(bytes, out); }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override { return file_->Read(bytes); }
  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t bytes, void* out) override {
    return file_->ReadAt(position, bytes, out);
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position, std::int64_t bytes) override {
    const bool fits = bytes >= range_min && bytes <= range_max && position >= 0 && position <= size_ - bytes;
    if (fits) {
      if (auto range = MappedRange::map(file_->file_descriptor(), position, bytes, broken_)) return range;
    }
    return file_->ReadAt(position, bytes);
  }

  bool maps() const override { return size_ > 0; }
  arrow::Status check() const override {
    return *broken_ ? arrow::Status::IOError("the file was cut short while it was read, or its disk fails")
                    : arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::io::ReadableFile> file_;
  std::int64_t size_;
  std::shared_ptr<std::atomic<bool>> broken_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

arrow::Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string& path, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path, pool));
  struct stat found{};
  const int fd = file->file_descriptor();
  const bool maps = fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && is_of_this_machine(fd);
  return std::make_shared<FileOfRanges>(std::move(file), maps ? static_cast<std::int64_t>(found.st_size) : 0);
}

}  // namespace headway::flow
