#pragma once

#include "driver/watch.hpp"

#include <boost/asio.hpp>

#include <deque>
#include <functional>

namespace headway::driver {

/// Takes snapshots of a driver while somebody watches: at most four in a second, and one more when
/// a run ends. On the loop, but for `watch`.
class Publisher {
 public:
  /// Fills in the runs that are at work, by number, and the engine.
  using Fill = std::function<void(Snapshot& snapshot)>;

  Publisher(boost::asio::io_context& loop, Fill fill);

  /// Any thread. Errors: `unavailable` when there are 64 watches.
  Result<std::shared_ptr<Watch>> watch();

  /// Something has changed. It costs a look at a flag, as a rule.
  void changed() {
    if (state_ == State::up_to_date) publish_at(last_taken_ + pause);
  }
  /// A run has ended; this is the last that is known of it.
  void run_ended(std::shared_ptr<const RunStatus> status);
  /// The runtime ends. A last snapshot is taken, if somebody watches.
  void close();

 private:
  enum class State {
    unwatched,
    up_to_date,  ///< The newest snapshot shows all that has happened.
    due          ///< The timer runs.
  };

  void publish_at(std::chrono::steady_clock::time_point when);
  void publish();

  static constexpr auto pause = std::chrono::milliseconds(250);
  static constexpr std::size_t ended_max = 64;

  boost::asio::io_context& loop_;
  Fill fill_;
  std::shared_ptr<SnapshotBoard> board_ = std::make_shared<SnapshotBoard>();
  boost::asio::steady_timer timer_;
  std::deque<std::shared_ptr<const RunStatus>> ended_;
  std::chrono::steady_clock::time_point last_taken_;
  std::int64_t taken_ = 0;
  State state_ = State::unwatched;
  /// For what is on its way to the loop.
  std::shared_ptr<Publisher*> self_ = std::make_shared<Publisher*>(this);
};

}  // namespace headway::driver
