#pragma once

#include <headway/result.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace headway::driver {

/// The journal of an experiment in remote storage. Object storage appends no lines to a file, so
/// the journal is written to a local folder, and a thread copies it to storage as it grows. A
/// driver that is killed leaves that folder: the next one on this machine continues with what had
/// not been copied. All functions block.
class ExperimentCopy {
 public:
  /// A local folder with the stored journal, or with a longer one that begins like it. Errors: of
  /// storage that cannot be read, or not be written; `unavailable`.
  static Result<std::unique_ptr<ExperimentCopy>> fetch(std::string location);
  ~ExperimentCopy();
  ExperimentCopy(const ExperimentCopy&) = delete;
  ExperimentCopy& operator=(const ExperimentCopy&) = delete;

  const std::string& path() const { return path_; }
  /// From here on the journal is copied every few seconds.
  void start();
  /// Copies it a last time, and removes the local folder. After an error, which names it, the
  /// folder stays.
  Result<void> close();

 private:
  ExperimentCopy(std::string location, std::string path) : location_(std::move(location)), path_(std::move(path)) {}
  Result<void> copy();
  void serve();
  void stop();

  std::string location_;
  std::string path_;
  std::optional<std::size_t> copied_;  ///< Bytes.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace headway::driver
