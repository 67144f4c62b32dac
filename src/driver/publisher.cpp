#include "driver/publisher.hpp"

#include "driver/unix_time.hpp"

#include <algorithm>

namespace headway::driver {

namespace asio = boost::asio;
using std::chrono::steady_clock;

Publisher::Publisher(asio::io_context& loop, Fill fill) : loop_(loop), fill_(std::move(fill)), timer_(loop) {}

Result<std::shared_ptr<Watch>> Publisher::watch() {
  if (!board_->add_watcher()) {
    return Error{ErrorKind::unavailable,
                 "there are " + std::to_string(SnapshotBoard::watchers_max) + " watches already, which is the limit"};
  }
  auto watch = std::make_shared<Watch>(board_);
  // What it sees first is no older than itself.
  asio::post(loop_, [weak = std::weak_ptr(self_)] {
    const auto self = weak.lock();
    if (!self) return;
    if ((*self)->state_ == State::unwatched) (*self)->state_ = State::up_to_date;
    (*self)->changed();
  });
  return watch;
}

void Publisher::run_ended(std::shared_ptr<const RunStatus> status) {
  ended_.push_back(std::move(status));
  if (ended_.size() > ended_max) ended_.pop_front();
  if (state_ != State::unwatched) publish_at(steady_clock::now());
}

void Publisher::publish_at(steady_clock::time_point when) {
  state_ = State::due;
  timer_.expires_at(when);
  timer_.async_wait([weak = std::weak_ptr(self_)](const boost::system::error_code& failure) {
    const auto self = weak.lock();
    if (failure || !self) return;
    Publisher& publisher = **self;
    if (publisher.board_->is_watched()) {
      publisher.publish();
    } else {
      publisher.state_ = State::unwatched;
    }
  });
}

void Publisher::publish() {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->number = ++taken_;
  snapshot->taken_unix_s = unix_seconds();
  snapshot->runs.assign(ended_.begin(), ended_.end());
  fill_(*snapshot);
  std::ranges::sort(snapshot->runs, {}, [](const auto& run) { return run->run_id; });
  board_->hang_up(std::move(snapshot));
  last_taken_ = steady_clock::now();
  state_ = State::up_to_date;
}

void Publisher::close() {
  timer_.cancel();
  self_.reset();
  if (state_ != State::unwatched) publish();
  state_ = State::unwatched;
  board_->close();
}

}  // namespace headway::driver
