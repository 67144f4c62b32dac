#include "core/location.hpp"
#include "flow/sources/files.hpp"
#include "storage/random_reader.hpp"

#include <arrow/buffer.h>
#include <arrow/io/compressed.h>
#include <arrow/io/file.h>
#include <arrow/io/interfaces.h>
#include <arrow/io/memory.h>
#include <arrow/util/compression.h>

#include <algorithm>
#include <array>
#include <mutex>

namespace headway::flow {
namespace {

arrow::Status status_of(const Error& error) {
  if (error.kind == ErrorKind::invalid_argument) return arrow::Status::Invalid(error.message);
  return arrow::Status::IOError(error.message);
}

/// What storage/ reads, as Arrow's readers want it.
class StorageFile : public arrow::io::RandomAccessFile {
 public:
  StorageFile(storage::RandomReader reader, arrow::MemoryPool* pool) : reader_(std::move(reader)), pool_(pool) {}

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<std::int64_t> Tell() const override { return position_; }
  arrow::Status Seek(std::int64_t position) override {
    if (position < 0) return arrow::Status::Invalid("a file has no place ", position);
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<std::int64_t> GetSize() override { return static_cast<std::int64_t>(reader_.size()); }

  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t bytes, void* out) override {
    const auto got = reader_.read_at(static_cast<std::uint64_t>(position),
                                     {static_cast<std::byte*>(out), static_cast<std::size_t>(bytes)});
    if (!got) return status_of(got.error());
    return static_cast<std::int64_t>(*got);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position, std::int64_t bytes) override {
    const std::int64_t rest = static_cast<std::int64_t>(reader_.size()) - position;
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(std::clamp<std::int64_t>(rest, 0, bytes), pool_));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t got, ReadAt(position, buffer->size(), buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(got));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t got, ReadAt(position_, bytes, out));
    position_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, bytes));
    position_ += buffer->size();
    return buffer;
  }

 private:
  storage::RandomReader reader_;
  arrow::MemoryPool* pool_;
  std::int64_t position_ = 0;
  bool closed_ = false;
};

struct Ending {
  const char* text;
  arrow::Compression::type codec;
};
constexpr std::array<Ending, 6> endings = {{{".gz", arrow::Compression::GZIP},
                                            {".bz2", arrow::Compression::BZ2},
                                            {".zst", arrow::Compression::ZSTD},
                                            {".zstd", arrow::Compression::ZSTD},
                                            {".lz4", arrow::Compression::LZ4_FRAME},
                                            {".br", arrow::Compression::BROTLI}}};

const Ending* ending_of(const std::string& location) {
  const std::string name = name_of(location);
  const auto* found =
      std::find_if(endings.begin(), endings.end(), [&](const Ending& one) { return name.ends_with(one.text); });
  return found == endings.end() ? nullptr : found;
}

/// Keeps the codec as long as the stream that uses it.
class DecompressedFile : public arrow::io::InputStream {
 public:
  DecompressedFile(std::unique_ptr<arrow::util::Codec> codec, std::shared_ptr<arrow::io::CompressedInputStream> stream)
      : codec_(std::move(codec)), stream_(std::move(stream)) {}

  arrow::Status Close() override { return stream_->Close(); }
  bool closed() const override { return stream_->closed(); }
  arrow::Result<std::int64_t> Tell() const override { return stream_->Tell(); }
  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override { return stream_->Read(bytes, out); }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override { return stream_->Read(bytes); }

 private:
  std::unique_ptr<arrow::util::Codec> codec_;
  std::shared_ptr<arrow::io::CompressedInputStream> stream_;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open_file(const std::string& location,
                                                                      arrow::MemoryPool* pool) {
  if (!is_remote(location)) {
    const Result<std::string> path = local_path(location);
    if (!path) return status_of(path.error());
    return arrow::io::ReadableFile::Open(*path, pool);
  }
  Result<storage::RandomReader> reader = storage::RandomReader::open(location);
  if (!reader) return status_of(reader.error());
  return std::make_shared<StorageFile>(std::move(*reader), pool);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> read_bytes(const std::string& location, std::int64_t begin,
                                                         std::int64_t end, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const auto file, open_file(location, pool));
  return file->ReadAt(begin, end - begin);
}

std::string_view users_path(std::string_view location) {
  if (!location.starts_with(python_scheme_prefix)) return location;
  const std::size_t separator = location.find("://");
  return separator == std::string_view::npos ? location : location.substr(separator + 3);
}

bool is_kept(const std::string& location) {
  const std::size_t end = location.rfind('/');
  if (end == std::string::npos || end == 0 || !location.ends_with(".arrow")) return false;
  const std::size_t begin = location.rfind('/', end - 1) + 1;
  return std::string_view(location).substr(begin, end - begin).starts_with("headway-data-");
}

std::string shown(const SourceFile& file) {
  return is_kept(file.location) ? "data in memory" : shown_location(users_path(file.location));
}

bool is_compressed(const std::string& location) { return ending_of(location) != nullptr; }

arrow::Result<std::shared_ptr<arrow::io::InputStream>> open_decompressed(const std::string& location,
                                                                         arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, open_file(location, pool));
  const Ending* ending = ending_of(location);
  if (ending == nullptr) return file;
  ARROW_ASSIGN_OR_RAISE(auto codec, arrow::util::Codec::Create(ending->codec));
  ARROW_ASSIGN_OR_RAISE(auto stream, arrow::io::CompressedInputStream::Make(codec.get(), file, pool));
  return std::make_shared<DecompressedFile>(std::move(codec), std::move(stream));
}

}  // namespace headway::flow
