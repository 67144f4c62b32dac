#include "node/log_capture.hpp"

#include "core/text.hpp"
#include "wire/fork_guard.hpp"
#include "wire/spawn.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace headway::node {

namespace asio = boost::asio;

LogCapture::LogCapture(asio::io_context& loop, int pipe_fd, const std::string& log_path, LineSink sink)
    : pipe_(loop, pipe_fd),
      resumed_(loop, asio::steady_timer::time_point::max()),
      sink_(std::move(sink)),
      log_path_(log_path) {
  pipe_.non_blocking(true);
  wire::drop_in_children(pipe_fd);
  if (log_path_.empty()) return;
  log_fd_ = open(log_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_fd_ < 0) note_trouble();
}

LogCapture::~LogCapture() { finish(); }

void LogCapture::start() {
  auto self = shared_from_this();
  wire::spawn(
      pipe_.get_executor(), [self] { return self->read_loop(); }, [self](const Error& error) { self->fail(error); });
}

void LogCapture::resume() {
  paused_ = false;
  resumed_.cancel();
}

asio::awaitable<void> LogCapture::read_loop() {
  while (!finished_) {
    if (paused_) {
      co_await resumed_.async_wait(asio::as_tuple(asio::use_awaitable));
      continue;
    }
    auto [failure] =
        co_await pipe_.async_wait(asio::posix::stream_descriptor::wait_read, asio::as_tuple(asio::use_awaitable));
    if (failure || finished_ || !read_some()) co_return;
  }
}

bool LogCapture::read_some() {
  char buffer[64 << 10];
  const ssize_t count = ::read(pipe_.native_handle(), buffer, sizeof(buffer));
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  take({buffer, static_cast<std::size_t>(count)});
  return count > 0;
}

void LogCapture::note_trouble() {
  if (trouble_.empty()) trouble_ = log_path_ + " lacks a part of the output: " + std::strerror(errno);
}

void LogCapture::write_log(std::string_view bytes) {
  while (log_fd_ >= 0 && !bytes.empty()) {
    const ssize_t written = ::write(log_fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return note_trouble();  // A full disk: the lines are still shown.
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void LogCapture::take(std::string_view bytes) {
  write_log(bytes);
  for (std::size_t newline = bytes.find('\n'); newline != std::string_view::npos; newline = bytes.find('\n')) {
    partial_ += bytes.substr(0, newline);
    take_long_parts();
    take_line(partial_);
    partial_.clear();
    bytes.remove_prefix(newline + 1);
  }
  partial_ += bytes;
  show_redrawn();
  take_long_parts();
}

/// A line that its writer draws over and over is shown as it is now, and keeps no more than that: the log has all of it.
void LogCapture::show_redrawn() {
  const std::size_t last = partial_.find_last_not_of('\r');
  if (last == std::string::npos) return;
  const std::size_t start = partial_.rfind('\r', last);
  if (start == std::string::npos && last + 1 == partial_.size()) return;
  if (start != std::string::npos) partial_.erase(0, start);
  const std::size_t shown = partial_.find_first_not_of('\r');
  std::string line = partial_.substr(shown, partial_.find('\r', shown) - shown);
  if (line.size() > line_bytes_max) return;
  line += '\r';
  if (!sink_(line)) paused_ = true;
}

void LogCapture::take_long_parts() {
  std::size_t taken = 0;
  for (; partial_.size() - taken > line_bytes_max; taken += line_bytes_max) {
    take_line(std::string_view(partial_).substr(taken, line_bytes_max));
  }
  partial_.erase(0, taken);
}

void LogCapture::take_line(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);     // That would say that it is not whole.
  tail_.emplace_back(line.substr(line.rfind('\r') + 1));  // As a terminal ends up with it.
  if (tail_.size() > tail_lines_max) tail_.pop_front();
  if (!sink_(line)) paused_ = true;
}

void LogCapture::finish() {
  if (finished_) return;
  finished_ = true;
  // Bounded: a pipe holds 64 KiB, but a grandchild may go on writing.
  for (int i = 0; i < 64; ++i) {
    char buffer[64 << 10];
    const ssize_t count = ::read(pipe_.native_handle(), buffer, sizeof(buffer));
    if (count <= 0) break;
    take({buffer, static_cast<std::size_t>(count)});
  }
  if (!partial_.empty()) take_line(std::exchange(partial_, {}));
  wire::keep_in_children(pipe_.native_handle());
  boost::system::error_code ignored;
  pipe_.close(ignored);
  resumed_.cancel();
  if (log_fd_ >= 0) ::close(std::exchange(log_fd_, -1));
}

void LogCapture::fail(const Error& error) {
  if (trouble_.empty()) trouble_ = "the output of a worker is no longer read: " + error.message;
  abandon();
}

void LogCapture::abandon() {
  sink_ = [](std::string_view) { return true; };
  finish();
}

std::string LogCapture::tail() const {
  std::string text;
  for (const std::string& line : tail_) text += to_utf8(line) + "\n";
  return text;
}

}  // namespace headway::node
