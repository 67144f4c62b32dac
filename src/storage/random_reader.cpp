#include "storage/random_reader.hpp"

#include "core/location.hpp"
#include "storage/disk/file.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace headway::storage {

class RandomReader::Source {
 public:
  explicit Source(std::uint64_t size) : size_(size) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::uint64_t size() const { return size_; }
  /// Fills `buffer`, which ends within the file.
  virtual Result<void> read(std::uint64_t offset, std::span<std::byte> buffer) = 0;

 protected:
  std::string became_shorter(std::uint64_t offset, std::size_t got) const {
    return "it ends after " + std::to_string(offset + got) + " bytes and had " + std::to_string(size_) +
           " when it was opened";
  }

 private:
  std::uint64_t size_;
};

class RandomReader::LocalSource : public Source {
 public:
  LocalSource(File file, std::uint64_t size) : Source(size), file_(std::move(file)) {}

  Result<void> read(std::uint64_t offset, std::span<std::byte> buffer) override {
    const Result<std::size_t> got = file_.read_at(buffer, offset);
    if (!got) return got.error();
    if (*got == buffer.size()) return {};
    return Error{ErrorKind::corrupted, "cannot read " + file_.path() + ": " + became_shorter(offset, *got)};
  }

 private:
  File file_;
};

class RandomReader::RemoteSource : public Source {
 public:
  RemoteSource(Remote remote, std::shared_ptr<RandomFile> file)
      : Source(file->size()), remote_(std::move(remote)), file_(std::move(file)) {}

  Result<void> read(std::uint64_t offset, std::span<std::byte> buffer) override {
    bool again = false;
    return remote_.store.attempt("read", remote_.path, [&](Files& files) -> Result<void> {
      // What has failed may be the connection that the open file holds.
      if (std::exchange(again, true)) {
        if (Result<void> opened = open_again(files); !opened) return opened;
      }
      const std::shared_ptr<RandomFile> file = current();
      const Result<std::size_t> got = file->read_at(offset, buffer);
      if (!got) return got.error();
      if (*got == buffer.size()) return {};
      return Error{ErrorKind::unavailable, became_shorter(offset, *got)};
    });
  }

 private:
  std::shared_ptr<RandomFile> current() {
    const std::lock_guard lock(mutex_);
    return file_;
  }

  Result<void> open_again(Files& files) {
    Result<std::unique_ptr<RandomFile>> opened = files.open_random(remote_.path);
    if (!opened) return opened.error();
    if ((*opened)->size() != size()) {
      return Error{ErrorKind::corrupted, "it has " + std::to_string((*opened)->size()) + " bytes and had " +
                                             std::to_string(size()) + " when it was opened"};
    }
    const std::lock_guard lock(mutex_);
    file_ = std::move(*opened);
    return {};
  }

  Remote remote_;
  std::mutex mutex_;
  std::shared_ptr<RandomFile> file_;
};

RandomReader::RandomReader(std::unique_ptr<Source> source) : source_(std::move(source)) {}
RandomReader::RandomReader(RandomReader&&) noexcept = default;
RandomReader& RandomReader::operator=(RandomReader&&) noexcept = default;
RandomReader::~RandomReader() = default;

Result<RandomReader> RandomReader::open(const std::string& location) {
  if (is_remote(location)) {
    const Result<Remote> remote = open_remote(location);
    if (!remote) return remote.error();
    return open(*remote);
  }
  Result<File> file = open_regular_file(location, ErrorKind::not_found);
  if (!file) return file.error();
  const Result<struct ::stat> status = file->status();
  if (!status) return status.error();
  const auto size = static_cast<std::uint64_t>(status->st_size);
  return RandomReader(std::make_unique<LocalSource>(std::move(*file), size));
}

Result<RandomReader> RandomReader::open(const Remote& remote) {
  std::shared_ptr<RandomFile> file;
  const Result<void> opened = remote.store.attempt("open", remote.path, [&](Files& files) -> Result<void> {
    const Result<Entry> entry = files.info(remote.path);
    if (!entry) return entry.error();
    if (entry->directory) return Error{ErrorKind::invalid_argument, "it is a directory"};
    Result<std::unique_ptr<RandomFile>> made = files.open_random(remote.path);
    if (!made) return made.error();
    file = std::move(*made);
    return {};
  });
  if (!opened) return opened.error();
  return RandomReader(std::make_unique<RemoteSource>(remote, std::move(file)));
}

std::uint64_t RandomReader::size() const { return source_->size(); }

Result<std::size_t> RandomReader::read_at(std::uint64_t offset, std::span<std::byte> buffer) const {
  if (offset >= size()) return std::size_t{0};
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size() - offset));
  if (wanted == 0) return std::size_t{0};
  if (Result<void> read = source_->read(offset, buffer.first(wanted)); !read) return read.error();
  return wanted;
}

}  // namespace headway::storage
