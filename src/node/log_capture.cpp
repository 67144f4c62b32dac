#include "node/log_capture.hpp"

#include "core/text.hpp"
#include "wire/fork_guard.hpp"
#include "wire/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <unistd.h>

namespace headway::node {

namespace asio = boost::asio;

namespace {

/// Whether a byte is not the first one of a character of UTF-8.
bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

LogCapture::LogCapture(LogThreads& threads, int pipe_fd, const std::string& log_path, LineSink sink)
    : pipe_(threads.loop(), pipe_fd),
      resumed_(threads.loop(), asio::steady_timer::time_point::max()),
      sink_(std::move(sink)),
      log_name_(std::filesystem::path(log_path).filename()) {
  pipe_.non_blocking(true);
  wire::drop_in_children(pipe_fd);
  if (!log_path.empty()) file_ = std::make_shared<LogFile>(threads, log_path);
}

LogCapture::~LogCapture() { close_pipe(); }

void LogCapture::start() {
  if (file_) {
    file_->on_space = [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->file_full_ = false;
      self->resumed_.cancel();
    };
    file_->open();
  }
  auto self = shared_from_this();
  wire::spawn(
      pipe_.get_executor(), [self] { return self->read_loop(); }, [self](const Error& error) { self->fail(error); });
}

void LogCapture::fail(const Error& error) {
  failure_ = "the output of a worker is no longer read: " + error.message;
  close_pipe();
}

void LogCapture::close_pipe() {
  if (!pipe_.is_open()) return;
  wire::keep_in_children(pipe_.native_handle());
  boost::system::error_code ignored;
  pipe_.close(ignored);
}

void LogCapture::resume() {
  paused_ = false;
  resumed_.cancel();
}

asio::awaitable<void> LogCapture::read_loop() {
  while (!finished_) {
    if (paused_ || file_full_) {
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

void LogCapture::take(std::string_view bytes) {
  if (file_ && !file_->append(bytes)) file_full_ = true;
  for (std::size_t newline = bytes.find('\n'); newline != std::string_view::npos; newline = bytes.find('\n')) {
    partial_ += bytes.substr(0, newline);
    end_line();
    bytes.remove_prefix(newline + 1);
  }
  partial_ += bytes;
  show_redrawn();
  cut_long_line();
}

/// A line that its writer draws over and over is shown as it is now, and keeps no more than that
/// and the drawing before: the log has all of it.
void LogCapture::show_redrawn() {
  const std::size_t last = partial_.find_last_not_of('\r');
  if (last == std::string::npos) return;
  const std::size_t start = partial_.rfind('\r', last);
  if (start == std::string::npos && last + 1 == partial_.size()) return;
  const std::size_t shown = start == std::string::npos ? 0 : start + 1;
  std::string line = partial_.substr(shown, last + 1 - shown);
  const std::size_t before = partial_.find_last_not_of('\r', start);
  if (start != std::string::npos && before != std::string::npos) {
    if (const std::size_t kept = partial_.rfind('\r', before); kept != std::string::npos) partial_.erase(0, kept);
  }
  if (line.size() > line_bytes_max) return;
  line += '\r';
  if (!sink_(line)) paused_ = true;
}

void LogCapture::cut_long_line() {
  if (partial_.size() <= line_bytes_max) return;
  if (!std::exchange(is_cut_, true)) {
    std::size_t begin = cut_line_begin_bytes;
    while (begin > 0 && continues_character(partial_[begin])) --begin;
    take_line(partial_.substr(0, begin) + " [" +
              (log_name_.empty() ? "the rest of this line is not shown" : log_name_ + " has the whole line") + "]");
  }
  keep_end();
}

void LogCapture::keep_end() {
  std::size_t begin = partial_.size() - std::min(partial_.size(), cut_line_end_bytes);
  while (begin < partial_.size() && continues_character(partial_[begin])) ++begin;
  partial_.erase(0, begin);
}

void LogCapture::end_line() {
  cut_long_line();
  if (is_cut_) {
    keep_end();
    partial_.insert(0, "... ");
  }
  take_line(partial_);
  partial_.clear();
  is_cut_ = false;
}

void LogCapture::take_line(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);     // That would say that it is not whole.
  tail_.emplace_back(line.substr(line.rfind('\r') + 1));  // As a terminal ends up with it.
  if (tail_.size() > tail_lines_max) tail_.pop_front();
  if (!sink_(line)) paused_ = true;
}

bool LogCapture::finish(std::function<void()> finished, std::chrono::milliseconds patience) {
  if (std::exchange(finished_, true)) return false;
  // Bounded: a pipe holds 64 KiB, but a grandchild may go on writing.
  for (int i = 0; i < 64 && pipe_.is_open(); ++i) {
    char buffer[64 << 10];
    const ssize_t count = ::read(pipe_.native_handle(), buffer, sizeof(buffer));
    if (count <= 0) break;
    take({buffer, static_cast<std::size_t>(count)});
  }
  if (!partial_.empty()) end_line();
  close_pipe();
  resumed_.cancel();
  if (file_) {
    file_->close(std::move(finished), patience);
  } else {
    asio::post(pipe_.get_executor(), std::move(finished));
  }
  return true;
}

void LogCapture::abandon(std::function<void()> finished) {
  sink_ = [](std::string_view) { return true; };
  finish(std::move(finished));
}

std::string LogCapture::tail() const {
  std::string text;
  for (const std::string& line : tail_) text += to_utf8(line) + "\n";
  return text;
}

}  // namespace headway::node
