#pragma once

#include <headway/result.hpp>

#include <boost/asio.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace headway::node {

/// Takes one worker's standard output and error from a pipe: all of it, in order, into a log file, and line by line to a sink.
/// Lives on the agent's event loop.
class LogCapture : public std::enable_shared_from_this<LogCapture> {
 public:
  /// Gets whole lines without their newline, in order. A line that ends with '\r' is not whole: it is how a line that is drawn over
  /// and over (a progress bar) looks now. False stops the reading (the writer then waits) until `resume`.
  using LineSink = std::function<bool(std::string_view line)>;

  /// Takes `pipe_fd`. `log_path` is appended to; an empty one keeps no file. One that can't be written costs the file, not the output.
  LogCapture(boost::asio::io_context& loop, int pipe_fd, const std::string& log_path, LineSink sink);
  ~LogCapture();

  void start();
  void resume();

  /// The process is gone: takes what is still in the pipe and ends, though a grandchild may hold the pipe open.
  void finish();

  /// Ends without another word to the sink.
  void abandon();

  /// Why the log file lacks a part of the output; empty when it has all.
  const std::string& trouble() const { return trouble_; }

  /// The last lines of the output, at most 20.
  std::string tail() const;

 private:
  boost::asio::awaitable<void> read_loop();
  /// Takes what is there now. False at the end of the stream.
  bool read_some();
  void take(std::string_view bytes);
  void write_log(std::string_view bytes);
  void note_trouble();
  void take_long_parts();
  void show_redrawn();
  void take_line(std::string_view line);
  /// An exception has left the reading: the pipe ends, so that its writer does not wait forever.
  void fail(const Error& error);

  static constexpr std::size_t line_bytes_max = 64 << 10;  ///< Longer lines are shown in parts.
  static constexpr std::size_t tail_lines_max = 20;

  boost::asio::posix::stream_descriptor pipe_;
  boost::asio::steady_timer resumed_;
  LineSink sink_;
  std::string log_path_;
  int log_fd_ = -1;
  std::string trouble_;
  std::string partial_;
  std::deque<std::string> tail_;
  bool paused_ = false;
  bool finished_ = false;
};

}  // namespace headway::node
