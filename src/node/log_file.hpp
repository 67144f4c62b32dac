#pragma once

#include "wire/thread_pool.hpp"

#include <boost/asio.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headway::node {

/// The threads that write log files: the event loop never waits for a disk. Used on one loop.
class LogThreads {
 public:
  explicit LogThreads(boost::asio::io_context& loop);
  /// Nobody hears of what is under way any more. Threads that a disk holds up are left behind, for
  /// the end of the process.
  ~LogThreads();
  LogThreads(const LogThreads&) = delete;
  LogThreads& operator=(const LogThreads&) = delete;

  bool idle() const { return under_way_.empty(); }
  /// Does `work` on a thread, then `done` on the loop. While the system gives no thread at all, the
  /// loop does the work as well, for this is about output that would be lost.
  void run(std::function<void()> work, std::function<void()> done);

  boost::asio::io_context& loop() { return loop_; }

 private:
  struct Way;
  /// False when the system gives no thread now.
  bool start_threads();
  void done(std::int64_t number);

  boost::asio::io_context& loop_;
  std::shared_ptr<Way> way_;  ///< Back to the loop; a thread that is left behind finds it closed.
  std::map<std::int64_t, std::function<void()>> under_way_;
  std::int64_t next_ = 0;
  /// The loop runs until what is under way is done.
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> busy_;
  std::unique_ptr<wire::ThreadPool> pool_;  ///< From the first use on.
};

/// One worker's log file, which is appended to. Lives on the loop; what it is given is written by
/// one thread at a time, in order.
class LogFile : public std::enable_shared_from_this<LogFile> {
 public:
  /// How long its descriptor is kept.
  enum class Opened { once, for_each_write };

  /// How long a disk may take for the last part of a log file, until that is given up.
  static constexpr std::chrono::milliseconds disk_patience{5'000};

  /// `threads` must outlive the last call. A file that cannot be written costs its lines, and
  /// nothing else.
  LogFile(LogThreads& threads, std::string path, Opened opened = Opened::once);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Makes the file, unless it is there.
  void open() { write_on(); }

  /// False when enough waits: then `on_space` is called once there is space. What is given is
  /// kept either way.
  bool append(std::string_view bytes);
  std::function<void()> on_space;

  /// `closed` is called on the loop once all is written, or after `patience` when the disk does not
  /// answer.
  void close(std::function<void()> closed, std::chrono::milliseconds patience = disk_patience);

  /// Why the file lacks a part of the output; empty when it has all.
  const std::string& trouble() const { return trouble_; }

  static constexpr std::size_t waiting_bytes_max = 1 << 20;

 private:
  void write_on();
  void written();
  void settle();

  LogThreads& threads_;
  std::string path_;
  struct Writer;
  std::shared_ptr<Writer> writer_;  ///< The writing thread's own while `writing_`.
  std::string waiting_;
  bool opened_ = false;
  bool writing_ = false;
  bool full_ = false;
  std::string trouble_;
  std::function<void()> closed_;
  boost::asio::steady_timer patience_;
};

}  // namespace headway::node
