#pragma once

#include <chrono>
#include <string>

namespace headway::library {

/// The line at the end of a terminal's output that shows what a run is doing: drawn over and over,
/// and gone before anything else is printed. Where standard output is no terminal, nothing moves.
class MovingLine {
 public:
  /// Before this nothing is drawn. False where standard output is no terminal.
  bool turn_on();
  /// What the run is doing.
  void status(std::string text);
  /// How rank 0's line (a progress bar) looks now; it is shown in place of the status while it
  /// moves.
  void bar(std::string text);
  /// Rank 0's line is whole, and was printed.
  void end_bar() { bar_.clear(); }
  /// Clears the line for what is printed.
  void hide();
  /// After what was printed.
  void draw();

 private:
  using Clock = std::chrono::steady_clock;

  bool on_ = false;
  bool drawn_ = false;
  std::string status_;
  std::string bar_;
  Clock::time_point bar_at_{};
};

}  // namespace headway::library
