#pragma once

#include "core/process_seen.hpp"

#include <boost/asio.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace headway::node {

/// Programs that an examination needs.
struct ExaminerConfig {
  std::string guard_path;  ///< The headway-guard program: what is below it ends with this process.
  std::string py_spy;      ///< The py-spy program; empty: there is none, and stacks are not shown.
  /// The processes tell their stacks themselves: only their states are looked at.
  bool own_stacks = false;
};

/// Looks at processes from outside: what the system says of their state, and the stacks of their
/// threads, Python's and the native frames between. Nothing of them has to answer, so one that is
/// stopped or stuck in a call is seen as well.
///
/// It lives on one event loop and never blocks it; looks are taken one after the other. A look
/// pauses its process for the moment that reading takes (not one that is stopped: it is read as it
/// is).
class ProcessExaminer {
 public:
  /// Its text says why there are no stacks, when there are none.
  using Done = std::function<void(const ProcessSeen& seen)>;

  ProcessExaminer(boost::asio::io_context& loop, ExaminerConfig config);
  /// Ends the look that is under way. Nobody hears of it any more; what it had started ends by
  /// itself, and is reaped while the loop runs.
  ~ProcessExaminer();
  ProcessExaminer(const ProcessExaminer&) = delete;
  ProcessExaminer& operator=(const ProcessExaminer&) = delete;

  /// `done` is called on the loop, within 40 s of the look's beginning, and never before this
  /// returns.
  void examine(pid_t pid, Done done);

  /// The same as the destructor's; `closed` is called on the loop once no process is left.
  void close(std::function<void()> closed);

 private:
  struct Look;

  void begin_next();
  /// Starts py-spy for the look's process; with `native` frames, or reading the process as it is.
  void start(bool native);
  void read_more();
  void on_end();
  void stop_tool();
  std::string failure_text(const std::string& printed) const;
  void finish(const std::string& text);
  void await_end(pid_t guard);

  boost::asio::io_context& loop_;
  ExaminerConfig config_;
  std::deque<std::unique_ptr<Look>> looks_;  ///< The first one is under way.
  struct Ends;
  std::shared_ptr<Ends> ends_;  ///< Of the guards, which are waited for.
};

}  // namespace headway::node
