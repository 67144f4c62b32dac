#pragma once

#include "storage/checkpoint/artifact_copier.hpp"

#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace headway::driver {

/// This node's one copier of a run's artifacts. Its work is done on threads that nothing else of a
/// run waits for. Used on the driver's loop.
class ArtifactSync {
 public:
  /// The error of the copy, if there was one. Called on one of the threads.
  using Done = std::function<void(std::optional<std::string>)>;

  ArtifactSync(boost::asio::thread_pool& threads, std::string source, std::string target);
  ~ArtifactSync() { stop(); }
  ArtifactSync(const ArtifactSync&) = delete;
  ArtifactSync& operator=(const ArtifactSync&) = delete;

  /// Begins a copy once the one before has ended.
  void start(Done done);
  /// Ends the copy that was begun last within a megabyte or so; its `done` tells that it was
  /// stopped.
  void stop() { stop_.request_stop(); }

 private:
  boost::asio::strand<boost::asio::thread_pool::executor_type> strand_;
  std::shared_ptr<storage::ArtifactCopier> copier_;
  std::stop_source stop_;
};

}  // namespace headway::driver
