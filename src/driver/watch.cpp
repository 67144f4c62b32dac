#include "driver/watch.hpp"

namespace headway::driver {

bool SnapshotBoard::add_watcher() {
  const std::lock_guard lock(mutex_);
  if (watchers_ == watchers_max) return false;
  ++watchers_;
  return true;
}

void SnapshotBoard::remove_watcher() {
  const std::lock_guard lock(mutex_);
  --watchers_;
}

bool SnapshotBoard::is_watched() const {
  const std::lock_guard lock(mutex_);
  return watchers_ > 0;
}

void SnapshotBoard::hang_up(std::shared_ptr<const Snapshot> snapshot) {
  {
    const std::lock_guard lock(mutex_);
    newest_.swap(snapshot);
  }
  changed_.notify_all();
  // The former one goes here, without the lock.
}

void SnapshotBoard::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

std::shared_ptr<const Snapshot> SnapshotBoard::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

std::shared_ptr<const Snapshot> SnapshotBoard::wait_newer(std::int64_t number, std::chrono::milliseconds limit,
                                                          const std::atomic<bool>& given_up) const {
  std::unique_lock lock(mutex_);
  const auto is_newer = [&] { return newest_ && newest_->number > number; };
  changed_.wait_for(lock, limit, [&] { return closed_ || given_up || is_newer(); });
  return is_newer() ? newest_ : nullptr;
}

void SnapshotBoard::wake() {
  // Whoever has just found that nobody gave it up waits by now.
  {
    const std::lock_guard lock(mutex_);
  }
  changed_.notify_all();
}

bool SnapshotBoard::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

Watch::Watch(std::shared_ptr<SnapshotBoard> board) : board_(std::move(board)) {
  if (const auto newest = board_->newest()) first_ = seen_ = newest->number;
}

Watch::~Watch() { board_->remove_watcher(); }

std::shared_ptr<const Snapshot> Watch::latest() const {
  auto newest = board_->newest();
  return newest && newest->number > first_ ? newest : nullptr;
}

std::shared_ptr<const Snapshot> Watch::next(std::chrono::milliseconds limit) {
  auto newer = board_->wait_newer(seen_, limit, given_up_);
  if (newer) seen_ = newer->number;
  return newer;
}

void Watch::give_up() {
  given_up_ = true;
  board_->wake();
}

Json json_of(const Snapshot& snapshot) {
  JsonArray runs;
  for (const auto& run : snapshot.runs) {
    Json view = headway::to_json(run->view);
    view.as_object()["run_id"] = run->run_id;
    view.as_object()["path"] = run->path;
    runs.push_back(std::move(view));
  }
  return JsonObject{{"number", snapshot.number},
                    {"taken_unix_s", snapshot.taken_unix_s},
                    {"runs", std::move(runs)},
                    {"engine", headway::to_json(snapshot.engine)}};
}

}  // namespace headway::driver
