#pragma once

#include <boost/asio.hpp>

#include <functional>
#include <memory>

namespace headway::driver {

/// SIGTERM to this process, heard on a loop.
///
/// A program that handles or ignores SIGTERM itself is left alone, also where it begins to later.
/// A process that is forked from this one ends by it, as if nobody handled the signal. One object
/// of a process hears the signal at a time. On the loop's thread.
class Termination {
 public:
  /// `heard` is called on the loop for each SIGTERM; some that come at once are one.
  Termination(boost::asio::io_context& loop, std::function<void()> heard);
  ~Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  /// From now on the signal is heard. Nothing changes when it is already.
  void watch();
  /// From now on the system handles it. One that came and was not heard ends the process.
  void leave();
  /// The next one ends the process at once, with the exit status that a shell shows for SIGTERM.
  void end_at_next();

 private:
  void wait();

  boost::asio::posix::stream_descriptor event_;
  std::function<void()> heard_;
  std::shared_ptr<Termination*> self_ = std::make_shared<Termination*>(this);  ///< For what waits.
};

/// What a shell shows as the exit status of a process that SIGTERM has ended.
inline constexpr int terminated_status = 143;

}  // namespace headway::driver
