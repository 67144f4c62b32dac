#pragma once

#include "control/run_view.hpp"
#include "core/json.hpp"
#include "engine/engine_view.hpp"

#include <headway/result.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headway::driver {

/// A run, as it was when something about it last changed (`view.taken_unix_s`).
struct RunStatus {
  std::int64_t run_id = 0;  ///< Counts the runs of this driver, from 1.
  std::string path;         ///< The run's folder, without credentials.
  control::RunView view;
  // For this process alone:
  std::string location = {};    ///< The run's folder, as storage is asked for it.
  std::string local_path = {};  ///< Where its small files are while it is at work.
};

/// All that a driver does, at one moment. Immutable: any thread may keep and read it.
struct Snapshot {
  std::int64_t number = 0;  ///< Counts up with each.
  double taken_unix_s = 0;
  /// The last 64 that have ended, and those at work; by number.
  std::vector<std::shared_ptr<const RunStatus>> runs;
  engine::EngineView engine;
};
Json json_of(const Snapshot& snapshot);

/// Where the newest snapshot hangs. Any thread.
class SnapshotBoard {
 public:
  static constexpr int watchers_max = 64;

  /// False: there are too many already.
  bool add_watcher();
  void remove_watcher();
  bool is_watched() const;

  void hang_up(std::shared_ptr<const Snapshot> snapshot);
  /// Nothing is hung up any more.
  void close();

  std::shared_ptr<const Snapshot> newest() const;
  /// Returns when there is a newer one than `number`; null after `limit`, or when there will be
  /// none.
  std::shared_ptr<const Snapshot> wait_newer(std::int64_t number, std::chrono::milliseconds limit,
                                             const std::atomic<bool>& given_up) const;
  /// Whoever waits looks whether it was given up.
  void wake();
  bool is_closed() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<const Snapshot> newest_;
  int watchers_ = 0;
  bool closed_ = false;
};

/// Looks at a driver. As long as there is one, a snapshot is taken a quarter of a second after a
/// change, and at once when a run ends. A watch takes nobody's events, and nothing waits for it.
/// Any thread; it may outlive the runtime.
class Watch {
 public:
  explicit Watch(std::shared_ptr<SnapshotBoard> board);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// The newest one. Null until one was taken after the watch began.
  std::shared_ptr<const Snapshot> latest() const;
  /// Waits for one that this function has not returned yet. Null after `limit`, and when the
  /// runtime has ended.
  std::shared_ptr<const Snapshot> next(std::chrono::milliseconds limit);
  /// Whoever waits in `next` returns, now and from then on.
  void give_up();
  /// The runtime has ended: there will be no further snapshot.
  bool is_over() const { return board_->is_closed(); }
  bool is_given_up() const { return given_up_; }

 private:
  std::shared_ptr<SnapshotBoard> board_;
  std::int64_t seen_ = 0;
  std::int64_t first_ = 0;
  std::atomic<bool> given_up_ = false;
};

}  // namespace headway::driver
