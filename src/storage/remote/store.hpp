#pragma once

#include "storage/disk/checksum.hpp"
#include "storage/files.hpp"
#include "storage/remote/retry.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headway::storage {

/// Whole operations on a remote filesystem, each tried again as the policy says. Errors name what
/// was tried and the path as people know it. Copies share one filesystem; any thread. `on_bytes`
/// counts bytes again when they are read or sent again.
class Store {
 public:
  Store(std::shared_ptr<Files> files, RetryPolicy policy, std::shared_ptr<Patience> patience)
      : files_(std::move(files)), policy_(policy), patience_(std::move(patience)) {}

  /// The same filesystem with less or more patience.
  Store with(RetryPolicy policy) const { return {files_, policy, patience_}; }
  const RetryPolicy& policy() const { return policy_; }

  Result<std::string> path_of(const std::string& location) const { return files_->path_of(location); }
  std::string shown(const std::string& path) const { return files_->shown(path); }

  Result<Entry> info(const std::string& path) const;
  Result<std::vector<Entry>> list(const std::string& path, bool recursive) const;

  /// The whole of a small file. Errors: `not_found`; `corrupted` when it is larger than
  /// `bytes_max`.
  Result<std::string> read(const std::string& path, std::size_t bytes_max = std::size_t{256} << 20) const;
  /// One object in one piece. The directory must be there, on filesystems that have them.
  Result<void> write(const std::string& path, std::string_view content) const;

  /// Brings a local file, in pieces of `piece_bytes`, and asks for its size afterwards. At most
  /// `memory_bytes` are held beside one piece. A file that changes its size meanwhile:
  /// `invalid_argument`; one that is larger than the storage takes: `refused`, before anything is
  /// sent.
  Result<Content> put(const std::string& local_file, const std::string& path, std::size_t memory_bytes,
                      const OnBytes& on_bytes = {}) const;
  /// Fetches a file of `size` bytes into a new local file, which a failure leaves behind.
  Result<Content> get(const std::string& path, std::uint64_t size, const std::string& local_file,
                      const OnBytes& on_bytes = {}) const;
  /// Reads a file and says what it holds.
  Result<Content> digest(const std::string& path, const OnBytes& on_bytes = {}) const;

  Result<void> make_directory(const std::string& path) const;
  Result<void> remove_file(const std::string& path) const;
  Result<void> remove_tree(const std::string& path) const;

  /// As S3's parts have it in Arrow: such a piece is sent as it is, without another copy.
  static constexpr std::size_t piece_bytes = std::size_t{10} << 20;

  /// One attempt of an operation on the filesystem itself, tried again as the others are. "cannot
  /// <doing> <path>: ..." is the error.
  using Attempt = std::function<Result<void>(Files& files)>;
  Result<void> attempt(const char* doing, const std::string& path, const Attempt& once) const;

 private:
  Result<void> retried(const char* doing, const std::string& path, const std::function<Result<void>()>& attempt) const;
  Result<Content> put_once(const std::string& local_file, const std::string& path, std::size_t memory_bytes,
                           const OnBytes& on_bytes) const;
  Result<Content> read_through(const std::string& path,
                               const std::function<Result<void>(std::span<const std::byte>)>& take) const;

  std::shared_ptr<Files> files_;
  RetryPolicy policy_;
  std::shared_ptr<Patience> patience_;
};

}  // namespace headway::storage
