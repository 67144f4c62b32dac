#pragma once

#include <boost/asio.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace headway::driver {

/// When a run's status.json is written: after the run has changed, but not sooner than one pause
/// after the last write, and one write at a time. A run that does not change costs nothing. On the
/// loop.
class StatusFile {
 public:
  /// Writes what the run looks like now. `done` is to be called on the loop.
  using Write = std::function<void(std::function<void()> done)>;

  StatusFile(boost::asio::io_context& loop, std::chrono::milliseconds pause, Write write);

  /// The run looks different.
  void changed();
  /// No write begins any more.
  void close();

 private:
  enum class State {
    up_to_date,
    due,       ///< The timer runs.
    writing,   ///< What is being written shows all that has happened.
    outdated,  ///< What is being written does not.
    closed
  };

  void wait();
  void write();
  void written();

  std::chrono::milliseconds pause_;
  Write write_;
  boost::asio::steady_timer timer_;
  /// The last write. The clock begins when the machine does, which may be less than a pause ago.
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::time_point::min();
  State state_ = State::up_to_date;
  /// For what is on its way to the loop.
  std::shared_ptr<StatusFile*> self_ = std::make_shared<StatusFile*>(this);
};

}  // namespace headway::driver
