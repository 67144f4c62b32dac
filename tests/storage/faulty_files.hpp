#pragma once

#include "storage/files.hpp"
#include "storage/remote/remote_checkpoint.hpp"
#include "storage/remote/retry.hpp"
#include "storage/scratch.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

/// Remote filesystems for tests: one on a local directory, and one around it that breaks on
/// command.
namespace headway::storage {

/// What any remote filesystem can do, on a local directory: no rename, and a writer that dies
/// leaves part of a file.
class DirectoryFiles : public Files {
 public:
  explicit DirectoryFiles(std::string root) : root_(std::move(root)) {}

  Result<std::string> path_of(const std::string& location) override {
    return location.substr(location.find("://") + 3);
  }
  std::string shown(const std::string& path) override { return "test://" + path; }

  Result<Entry> info(const std::string& path) override {
    const fs::path at = where(path);
    if (!fs::exists(at)) return Error{ErrorKind::not_found, "there is nothing"};
    if (fs::is_directory(at)) return Entry{"", true, 0};
    return Entry{"", false, fs::file_size(at)};
  }

  Result<std::vector<Entry>> list(const std::string& path, bool recursive) override {
    std::vector<Entry> entries;
    if (!fs::is_directory(where(path))) return entries;
    const auto add = [&](const fs::directory_entry& each) {
      const bool directory = each.is_directory();
      entries.push_back(
          {each.path().lexically_relative(where(path)).string(), directory, directory ? 0 : each.file_size()});
    };
    if (recursive) {
      for (const auto& each : fs::recursive_directory_iterator(where(path))) add(each);
    } else {
      for (const auto& each : fs::directory_iterator(where(path))) add(each);
    }
    return entries;
  }

  Result<std::unique_ptr<Reader>> open_reader(const std::string& path) override {
    if (!fs::is_regular_file(where(path))) return Error{ErrorKind::not_found, "there is no such file"};
    return std::unique_ptr<Reader>(std::make_unique<StreamReader>(where(path)));
  }

  Result<std::unique_ptr<RandomFile>> open_random(const std::string& path) override {
    if (!fs::is_regular_file(where(path))) return Error{ErrorKind::not_found, "there is no such file"};
    return std::unique_ptr<RandomFile>(std::make_unique<StreamRandomFile>(where(path)));
  }

  Result<std::unique_ptr<Writer>> open_writer(const std::string& path, std::uint64_t, std::size_t) override {
    auto writer = std::make_unique<StreamWriter>(where(path));
    if (!writer->file) return Error{ErrorKind::refused, "the directory is not there"};
    return std::unique_ptr<Writer>(std::move(writer));
  }

  Result<void> make_directory(const std::string& path) override {
    fs::create_directories(where(path));
    return {};
  }
  Result<void> remove_file(const std::string& path) override {
    fs::remove(where(path));
    return {};
  }
  Result<void> remove_tree(const std::string& path) override {
    fs::remove_all(where(path));
    return {};
  }

 private:
  struct StreamReader : Reader {
    explicit StreamReader(const fs::path& path) : file(path, std::ios::binary) {}
    Result<std::size_t> read(std::span<std::byte> buffer) override {
      file.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
      return static_cast<std::size_t>(file.gcount());
    }
    std::ifstream file;
  };
  struct StreamRandomFile : RandomFile {
    explicit StreamRandomFile(fs::path at) : path(std::move(at)), bytes(fs::file_size(path)) {}
    std::uint64_t size() const override { return bytes; }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) override {
      std::ifstream file(path, std::ios::binary);
      file.seekg(static_cast<std::streamoff>(offset));
      file.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
      return static_cast<std::size_t>(file.gcount());
    }
    fs::path path;
    std::uint64_t bytes;
  };
  struct StreamWriter : Writer {
    explicit StreamWriter(const fs::path& path) : file(path, std::ios::binary) {}
    Result<void> write(std::span<const std::byte> bytes) override {
      file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      file.flush();
      return {};
    }
    Result<void> finish() override {
      file.close();
      return {};
    }
    std::ofstream file;
  };

  fs::path where(const std::string& path) const { return fs::path(root_) / path; }
  std::string root_;
};

enum class Fault {
  none,
  network,      ///< An error that may pass.
  denied,       ///< One that will not.
  disk_full,    ///< One that will not, in the middle of the bytes.
  short_write,  ///< Half of the bytes arrive, and success is reported.
  lie,          ///< Nothing is done, and success is reported.
  short_read,   ///< The file seems to end early, and success is reported.
};

/// Breaks an operation on the paths that end so, so many times.
class FaultyFiles : public Files {
 public:
  explicit FaultyFiles(std::shared_ptr<Files> sound) : sound_(std::move(sound)) {}

  void break_on(std::string operation, std::string end, Fault fault, int times = 1'000'000) {
    plans_.push_back({std::move(operation), std::move(end), fault, times});
  }
  void mend() { plans_.clear(); }
  std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max();
  int calls(const std::string& operation) {
    const std::lock_guard lock(mutex_);
    return calls_[operation];
  }

  Result<std::string> path_of(const std::string& location) override { return sound_->path_of(location); }
  std::string shown(const std::string& path) override { return sound_->shown(path); }

  Result<Entry> info(const std::string& path) override {
    const Fault fault = next("info", path);
    if (fails(fault)) return error_of(fault);
    return sound_->info(path);
  }
  Result<std::vector<Entry>> list(const std::string& path, bool recursive) override {
    const Fault fault = next("list", path);
    if (fails(fault)) return error_of(fault);
    return sound_->list(path, recursive);
  }
  Result<std::unique_ptr<Reader>> open_reader(const std::string& path) override {
    const Fault fault = next("read", path);
    if (fails(fault)) return error_of(fault);
    Result<std::unique_ptr<Reader>> reader = sound_->open_reader(path);
    if (!reader || fault != Fault::short_read) return reader;
    return std::unique_ptr<Reader>(std::make_unique<ShortReader>(std::move(*reader)));
  }
  Result<std::unique_ptr<RandomFile>> open_random(const std::string& path) override {
    const Fault fault = next("open", path);
    if (fails(fault)) return error_of(fault);
    Result<std::unique_ptr<RandomFile>> file = sound_->open_random(path);
    if (!file) return file;
    return std::unique_ptr<RandomFile>(std::make_unique<FaultyRandomFile>(*this, path, std::move(*file)));
  }
  std::uint64_t file_bytes_max() const override { return bytes_max; }
  Result<std::unique_ptr<Writer>> open_writer(const std::string& path, std::uint64_t size,
                                              std::size_t memory_bytes) override {
    const Fault fault = next("write", path);
    if (fault == Fault::network || fault == Fault::denied) return error_of(fault);
    if (fault == Fault::lie) return std::unique_ptr<Writer>(std::make_unique<BrokenWriter>(nullptr, fault));
    Result<std::unique_ptr<Writer>> writer = sound_->open_writer(path, size, memory_bytes);
    if (!writer || fault == Fault::none) return writer;
    return std::unique_ptr<Writer>(std::make_unique<BrokenWriter>(std::move(*writer), fault));
  }
  Result<void> make_directory(const std::string& path) override {
    const Fault fault = next("make", path);
    return fails(fault) ? Result<void>(error_of(fault)) : sound_->make_directory(path);
  }
  Result<void> remove_file(const std::string& path) override {
    const Fault fault = next("remove", path);
    if (fault == Fault::lie) return {};
    return fails(fault) ? Result<void>(error_of(fault)) : sound_->remove_file(path);
  }
  Result<void> remove_tree(const std::string& path) override {
    const Fault fault = next("remove", path);
    if (fault == Fault::lie) return {};
    return fails(fault) ? Result<void>(error_of(fault)) : sound_->remove_tree(path);
  }

 private:
  struct Plan {
    std::string operation;
    std::string end;
    Fault fault;
    int times;
  };
  struct BrokenWriter : Writer {
    BrokenWriter(std::unique_ptr<Writer> into, Fault kind) : sound(std::move(into)), fault(kind) {}
    Result<void> write(std::span<const std::byte> bytes) override {
      if (sound == nullptr) return {};
      const Result<void> half = sound->write(bytes.first(bytes.size() / 2));
      return fault == Fault::disk_full ? Result<void>(FaultyFiles::error_of(fault)) : half;
    }
    Result<void> finish() override { return sound == nullptr ? Result<void>() : sound->finish(); }
    std::unique_ptr<Writer> sound;
    Fault fault;
  };
  struct FaultyRandomFile : RandomFile {
    FaultyRandomFile(FaultyFiles& all, std::string at, std::unique_ptr<RandomFile> from)
        : files(all), path(std::move(at)), sound(std::move(from)) {}
    std::uint64_t size() const override { return sound->size(); }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) override {
      const Fault fault = files.next("read", path);
      if (fails(fault)) return error_of(fault);
      return sound->read_at(offset, fault == Fault::short_read ? buffer.first(buffer.size() / 2) : buffer);
    }
    FaultyFiles& files;
    std::string path;
    std::unique_ptr<RandomFile> sound;
  };
  struct ShortReader : Reader {
    explicit ShortReader(std::unique_ptr<Reader> from) : sound(std::move(from)) {}
    Result<std::size_t> read(std::span<std::byte> buffer) override {
      const Result<std::size_t> got = sound->read(buffer);
      return got ? Result<std::size_t>(*got / 2) : got;
    }
    std::unique_ptr<Reader> sound;
  };

  static bool fails(Fault fault) { return fault == Fault::network || fault == Fault::denied; }
  static Error error_of(Fault fault) {
    if (fault == Fault::network) return {ErrorKind::unavailable, "the connection was reset"};
    if (fault == Fault::disk_full) return {ErrorKind::refused, "no space left on device"};
    return {ErrorKind::refused, "access denied"};
  }
  Fault next(const std::string& operation, const std::string& path) {
    const std::lock_guard lock(mutex_);
    ++calls_[operation];
    for (Plan& plan : plans_) {
      if (plan.times > 0 && plan.operation == operation && path.ends_with(plan.end)) {
        --plan.times;
        return plan.fault;
      }
    }
    return Fault::none;
  }

  std::shared_ptr<Files> sound_;
  std::mutex mutex_;
  std::vector<Plan> plans_;
  std::map<std::string, int> calls_;
};

/// Whether every file of a committed checkpoint is what its manifest says.
inline bool is_whole(const Remote& checkpoint) {
  const Result<Manifest> manifest = remote::read_manifest(checkpoint);
  return manifest && std::all_of(manifest->files.begin(), manifest->files.end(), [&](const FileRecord& file) {
           const Result<Content> found = checkpoint.store.digest(checkpoint.path + "/" + file.name);
           return found && found->size == file.size && found->checksum == file.checksum;
         });
}

/// Waits cost no time, and are counted.
struct CountedPatience : Patience {
  std::chrono::milliseconds now() override { return std::chrono::milliseconds(time.load()); }
  bool wait(std::chrono::milliseconds duration) override {
    time += duration.count();
    ++waits;
    return true;
  }
  double random() override { return 1; }
  std::atomic<std::int64_t> time{0};
  std::atomic<int> waits{0};
};

}  // namespace headway::storage
