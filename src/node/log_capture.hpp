#pragma once

#include "node/log_file.hpp"

#include <headway/result.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace headway::node {

/// Takes one worker's standard output and error from a pipe: all of it, in order, into a log file,
/// and line by line to a sink, which gets begin and end of a very long line. Lives on the agent's
/// event loop, which never waits for the file: when the file's disk is slow, the pipe is not read
/// and the writer waits.
class LogCapture : public std::enable_shared_from_this<LogCapture> {
 public:
  /// Gets whole lines without their newline, in order. A line that ends with '\r' is not whole: it
  /// is how a line that is drawn over and over (a progress bar) looks now. False stops the reading
  /// (the writer then waits) until `resume`.
  using LineSink = std::function<bool(std::string_view line)>;

  /// Takes `pipe_fd`. `log_path` is appended to; an empty one keeps no file. One that can't be
  /// written costs the file, not the output. `threads` must outlive all calls but the destructor.
  LogCapture(LogThreads& threads, int pipe_fd, const std::string& log_path, LineSink sink);
  ~LogCapture();

  void start();
  void resume();

  /// The process is gone: takes what is still in the pipe and ends, even if a grandchild holds the
  /// pipe open. `finished` is called on the loop when the log file has it all, or after `patience`.
  /// False, and nothing is called, when it had ended already.
  bool finish(std::function<void()> finished, std::chrono::milliseconds patience = LogFile::disk_patience);

  /// As `finish`, without another word to the sink.
  void abandon(std::function<void()> finished);

  /// Why the log file lacks a part of the output; empty when it has all. Known once `finished` is
  /// called.
  std::string trouble() const { return file_ && failure_.empty() ? file_->trouble() : failure_; }

  /// The last lines of the output, at most 20.
  std::string tail() const;

 private:
  boost::asio::awaitable<void> read_loop();
  /// Takes what is there now. False at the end of the stream.
  bool read_some();
  void take(std::string_view bytes);
  /// Of a line longer than `line_bytes_max` the begin is shown at once, and the end with its last
  /// byte; what is between is in the log file alone.
  void cut_long_line();
  void keep_end();
  void end_line();
  void show_redrawn();
  void take_line(std::string_view line);
  /// An exception has left the reading: the pipe ends, so that its writer does not wait forever.
  void fail(const Error& error);
  void close_pipe();

  static constexpr std::size_t line_bytes_max = 64 << 10;  ///< Longer lines are cut.
  static constexpr std::size_t cut_line_begin_bytes = 4 << 10;
  static constexpr std::size_t cut_line_end_bytes = 1 << 10;
  static constexpr std::size_t tail_lines_max = 20;

  boost::asio::posix::stream_descriptor pipe_;
  boost::asio::steady_timer resumed_;
  LineSink sink_;
  const std::string log_name_;  ///< Without its folders; empty: no file.
  std::shared_ptr<LogFile> file_;
  std::string failure_;
  std::string partial_;  ///< Of the line that has not ended.
  bool is_cut_ = false;  ///< The begin of that line is shown.
  std::deque<std::string> tail_;
  bool paused_ = false;     ///< By the sink.
  bool file_full_ = false;  ///< It is written more slowly than the pipe is filled.
  bool finished_ = false;
};

}  // namespace headway::node
