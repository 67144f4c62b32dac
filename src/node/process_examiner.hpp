#pragma once

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
  std::string guard_path;   ///< The headway-guard program: what is below it ends with this process.
  std::string py_spy;       ///< The py-spy program; empty: there is none, and stacks are not shown.
  bool own_stacks = false;  ///< The processes tell their stacks themselves: only their states are looked at.
};

/// Looks at processes from outside: what the system says of their state, and the stacks of their threads, Python's and the native
/// frames between. Nothing of them has to answer, so one that is stopped or stuck in a call is seen as well.
///
/// It lives on one event loop and never blocks it; looks are taken one after the other. A look pauses its process for the moment
/// that reading takes (not one that is stopped: it is read as it is).
class ProcessExaminer {
 public:
  /// Lines for the user; why there are no stacks, when there are none.
  using Done = std::function<void(std::string text)>;

  ProcessExaminer(boost::asio::io_context& loop, ExaminerConfig config);
  /// Ends the look that is under way. Nobody is told any more.
  ~ProcessExaminer();
  ProcessExaminer(const ProcessExaminer&) = delete;
  ProcessExaminer& operator=(const ProcessExaminer&) = delete;

  /// `done` is called on the loop, within 40 s of the look's beginning, and never before this returns.
  void examine(pid_t pid, Done done);

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

  boost::asio::io_context& loop_;
  ExaminerConfig config_;
  std::deque<std::unique_ptr<Look>> looks_;  ///< The first one is under way.
  std::vector<pid_t> abandoned_;             ///< Guards that had not ended when their time was up.
};

/// "stopped (SIGSTOP); `kill -CONT 4711` lets it go on" and the like, by the state's letter in /proc/<pid>/stat.
std::string process_state_text(pid_t pid, char state);

/// That letter; '\0' when there is no such process.
char process_state(pid_t pid);

}  // namespace headway::node
