#include "node/log_file.hpp"

#include "wire/fd.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace headway::node {

namespace asio = boost::asio;

namespace {

/// As many files may be stuck until all wait.
constexpr int log_threads = 4;

}  // namespace

/// How a thread comes back to the loop, for as long as that is there.
struct LogThreads::Way {
  std::mutex mutex;
  LogThreads* threads = nullptr;
};

LogThreads::LogThreads(asio::io_context& loop) : loop_(loop), way_(std::make_shared<Way>()) { way_->threads = this; }

LogThreads::~LogThreads() {
  {
    const std::lock_guard lock(way_->mutex);
    way_->threads = nullptr;
  }
  if (!pool_) return;
  if (under_way_.empty()) {
    pool_->join();
  } else {
    (void)pool_.release();  // NOLINT(bugprone-unused-return-value): a thread may never return.
  }
}

void LogThreads::run(std::function<void()> work, std::function<void()> done) {
  const std::int64_t number = next_++;
  under_way_[number] = std::move(done);
  if (!busy_) busy_.emplace(loop_.get_executor());
  auto step = [way = way_, number, work = std::move(work)] {
    work();
    const std::lock_guard lock(way->mutex);
    if (way->threads == nullptr) return;
    asio::post(way->threads->loop_, [way, number] {
      if (way->threads != nullptr) way->threads->done(number);
    });
  };
  if (start_threads()) {
    asio::post(*pool_, std::move(step));
  } else {
    asio::post(loop_, std::move(step));
  }
}

bool LogThreads::start_threads() {
  if (pool_) return true;
  Result<std::unique_ptr<wire::ThreadPool>> started = wire::ThreadPool::start(log_threads);
  if (started) pool_ = std::move(*started);
  return started.has_value();
}

/// On the loop, which alone makes an end of the way.
void LogThreads::done(std::int64_t number) {
  const auto node = under_way_.extract(number);
  if (under_way_.empty()) busy_.reset();
  node.mapped()();
}

/// A thread holds it while it writes, even if the file's owner is gone.
struct LogFile::Writer {
  void open() {
    if (opened) return;
    opened = true;
    file = wire::Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file.is_open() && error == 0) error = errno;
  }

  void write(std::string_view bytes) {
    open();
    while (file.is_open() && !bytes.empty()) {
      const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {  // A full disk: what comes later may be written again.
        if (error == 0) error = errno;
        break;
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (keep == Opened::for_each_write) {
      file.close();
      opened = false;
    }
  }

  std::string path;
  Opened keep = Opened::once;
  bool opened = false;
  wire::Fd file;
  int error = 0;  ///< The first one.
};

LogFile::LogFile(LogThreads& threads, std::string path, Opened opened)
    : threads_(threads), path_(std::move(path)), writer_(std::make_shared<Writer>()), patience_(threads.loop()) {
  writer_->path = path_;
  writer_->keep = opened;
}

LogFile::~LogFile() = default;

bool LogFile::append(std::string_view bytes) {
  waiting_ += bytes;
  full_ = waiting_.size() > waiting_bytes_max;
  write_on();
  return !full_;
}

void LogFile::write_on() {
  if (writing_ || (waiting_.empty() && opened_)) return;
  writing_ = opened_ = true;
  threads_.run([writer = writer_, bytes = std::exchange(waiting_, {})] { writer->write(bytes); },
               [self = shared_from_this()] { self->written(); });
}

void LogFile::written() {
  writing_ = false;
  if (trouble_.empty() && writer_->error != 0)
    trouble_ = path_ + " lacks a part of the output: " + std::strerror(writer_->error);
  if (!waiting_.empty()) write_on();
  if (std::exchange(full_, false) && on_space) on_space();
  settle();
}

void LogFile::close(std::function<void()> closed, std::chrono::milliseconds patience) {
  on_space = nullptr;
  closed_ = std::move(closed);
  patience_.expires_after(patience);
  patience_.async_wait([self = shared_from_this(), patience](const boost::system::error_code& failure) {
    if (failure || !self->closed_) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
    if (self->trouble_.empty()) {
      self->trouble_ =
          self->path_ + " lacks a part of the output: its disk has not answered for " + std::to_string(seconds) + " s";
    }
    self->waiting_.clear();
    std::exchange(self->closed_, nullptr)();
  });
  settle();
}

void LogFile::settle() {
  if (!closed_ || writing_ || !waiting_.empty()) return;
  // Closing a file of a network waits for what the system has not sent yet.
  writing_ = true;
  threads_.run([writer = std::move(writer_)]() mutable { writer.reset(); },
               [self = shared_from_this()] {
                 self->patience_.cancel();
                 if (self->closed_) std::exchange(self->closed_, nullptr)();
               });
}

}  // namespace headway::node
