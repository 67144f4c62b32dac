#include "storage/remote/store.hpp"

#include "storage/disk/copy.hpp"
#include "storage/disk/file.hpp"

#include <fcntl.h>

#include <algorithm>

namespace headway::storage {

Result<void> Store::retried(const char* doing, const std::string& path,
                            const std::function<Result<void>()>& attempt) const {
  Result<void> outcome = with_retries(policy_, *patience_, attempt);
  if (outcome) return outcome;
  return Error{outcome.error().kind,
               std::string("cannot ") + doing + " " + files_->shown(path) + ": " + outcome.error().message};
}

Result<void> Store::attempt(const char* doing, const std::string& path, const Attempt& once) const {
  return retried(doing, path, [&] { return once(*files_); });
}

Result<Entry> Store::info(const std::string& path) const {
  Entry entry;
  const Result<void> done = retried("look for", path, [&]() -> Result<void> {
    Result<Entry> found = files_->info(path);
    if (!found) return found.error();
    entry = std::move(*found);
    return {};
  });
  if (!done) return done.error();
  return entry;
}

Result<std::vector<Entry>> Store::list(const std::string& path, bool recursive) const {
  std::vector<Entry> entries;
  const Result<void> done = retried("list", path, [&]() -> Result<void> {
    Result<std::vector<Entry>> found = files_->list(path, recursive);
    if (!found) return found.error();
    entries = std::move(*found);
    return {};
  });
  if (!done) return done.error();
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

/// One pass over a file's bytes; what they are when it is through.
Result<Content> Store::read_through(const std::string& path,
                                    const std::function<Result<void>(std::span<const std::byte>)>& take) const {
  Result<std::unique_ptr<Reader>> reader = files_->open_reader(path);
  if (!reader) return reader.error();
  const Result<Buffer> buffer = Buffer::make(piece_bytes);
  if (!buffer) return buffer.error();
  Checksum checksum;
  Content content;
  for (;;) {
    const Result<std::size_t> got = (*reader)->read(buffer->span());
    if (!got) return got.error();
    const auto bytes = buffer->span().first(*got);
    checksum.add(bytes);
    content.size += *got;
    if (Result<void> taken = take(bytes); !taken) return taken.error();
    if (*got < buffer->span().size()) break;
  }
  content.checksum = checksum.text();
  return content;
}

Result<std::string> Store::read(const std::string& path, std::size_t bytes_max) const {
  std::string text;
  const Result<void> done = retried("read", path, [&]() -> Result<void> {
    text.clear();
    const auto take = [&](std::span<const std::byte> bytes) -> Result<void> {
      if (text.size() + bytes.size() > bytes_max)
        return Error{ErrorKind::corrupted, "it has more than " + std::to_string(bytes_max) + " bytes"};
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return {};
    };
    const Result<Content> content = read_through(path, take);
    return content ? Result<void>() : content.error();
  });
  if (!done) return done.error();
  return text;
}

Result<void> Store::write(const std::string& path, std::string_view content) const {
  return retried("write", path, [&]() -> Result<void> {
    Result<std::unique_ptr<Writer>> writer = files_->open_writer(path, content.size(), content.size() + piece_bytes);
    if (!writer) return writer.error();
    if (Result<void> written = (*writer)->write(std::as_bytes(std::span(content))); !written) return written;
    return (*writer)->finish();
  });
}

Result<Content> Store::put_once(const std::string& local_file, const std::string& path, std::size_t memory_bytes,
                                const OnBytes& on_bytes) const {
  const Result<File> file = open_regular_file(local_file, ErrorKind::invalid_argument);
  // The local side is not what retries are for.
  if (!file) return Error{ErrorKind::invalid_argument, file.error().message};
  const Result<struct ::stat> status = file->status();
  if (!status) return Error{ErrorKind::invalid_argument, status.error().message};
  const auto size = static_cast<std::uint64_t>(status->st_size);
  if (const std::uint64_t most = files_->file_bytes_max(); size > most) {
    return Error{ErrorKind::refused, local_file + " has " + std::to_string(size) +
                                         " bytes, and a file there has at most " + std::to_string(most) +
                                         ": save it as several files"};
  }
  const Result<Buffer> buffer = Buffer::make(std::min<std::size_t>(piece_bytes, size + 1));
  if (!buffer) return buffer.error();
  Result<std::unique_ptr<Writer>> writer = files_->open_writer(path, size, memory_bytes);
  if (!writer) return writer.error();
  Checksum checksum;
  for (std::uint64_t done = 0; done < size;) {
    const auto piece = buffer->span().first(std::min<std::size_t>(piece_bytes, size - done));
    if (Result<void> read = read_exactly(*file, piece, done, size); !read)
      return Error{ErrorKind::invalid_argument, read.error().message};
    checksum.add(piece);
    if (Result<void> written = (*writer)->write(piece); !written) return written.error();
    done += piece.size();
    if (on_bytes) on_bytes(piece.size());
  }
  if (Result<void> finished = (*writer)->finish(); !finished) return finished.error();
  return Content{size, checksum.text()};
}

Result<Content> Store::put(const std::string& local_file, const std::string& path, std::size_t memory_bytes,
                           const OnBytes& on_bytes) const {
  Content content;
  const Result<void> done = retried("write", path, [&]() -> Result<void> {
    Result<Content> sent = put_once(local_file, path, memory_bytes, on_bytes);
    if (!sent) return sent.error();
    content = *sent;
    const Result<Entry> there = files_->info(path);
    if (!there && there.error().kind != ErrorKind::not_found) return there.error();
    if (!there || there->size != content.size) {
      return Error{ErrorKind::unavailable,
                   "it was stored without an error, and is there with " +
                       (there ? std::to_string(there->size) + " bytes" : std::string("nothing")) + " instead of " +
                       std::to_string(content.size) + " bytes"};
    }
    return {};
  });
  if (!done) return done.error();
  return content;
}

Result<Content> Store::get(const std::string& path, std::uint64_t size, const std::string& local_file,
                           const OnBytes& on_bytes) const {
  Content got;
  const Result<void> done = retried("read", path, [&]() -> Result<void> {
    const Result<File> file = open_file(local_file, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file) return Error{ErrorKind::refused, file.error().message};
    std::uint64_t written = 0;
    const auto take = [&](std::span<const std::byte> bytes) -> Result<void> {
      if (Result<void> put = file->write_at(bytes, written, size); !put)
        return Error{ErrorKind::refused, put.error().message};
      written += bytes.size();
      if (on_bytes) on_bytes(bytes.size());
      return {};
    };
    const Result<Content> content = read_through(path, take);
    if (!content) return content.error();
    got = *content;
    if (content->size == size) return {};
    return Error{ErrorKind::unavailable,
                 "it ended after " + std::to_string(content->size) + " of " + std::to_string(size) + " bytes"};
  });
  if (!done) return done.error();
  return got;
}

Result<Content> Store::digest(const std::string& path, const OnBytes& on_bytes) const {
  Content content;
  const Result<void> done = retried("read", path, [&]() -> Result<void> {
    Result<Content> found = read_through(path, [&](std::span<const std::byte> bytes) {
      if (on_bytes) on_bytes(bytes.size());
      return Result<void>();
    });
    if (!found) return found.error();
    content = *found;
    return {};
  });
  if (!done) return done.error();
  return content;
}

Result<void> Store::make_directory(const std::string& path) const {
  return retried("make the directory", path, [&] { return files_->make_directory(path); });
}

Result<void> Store::remove_file(const std::string& path) const {
  return retried("remove", path, [&] { return files_->remove_file(path); });
}

Result<void> Store::remove_tree(const std::string& path) const {
  return retried("remove", path, [&] { return files_->remove_tree(path); });
}

}  // namespace headway::storage
