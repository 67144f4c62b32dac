#include "library/display.hpp"

#include "core/filled_lines.hpp"
#include "core/output_line.hpp"
#include "core/score.hpp"
#include "core/terminal_style.hpp"
#include "core/terminal_text.hpp"
#include "driver/flat_metrics.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace headway::library {
namespace {

bool is_shown(const Json& value) {
  constexpr std::size_t text_max = 24;
  if (const auto* text = value.if_string()) return text->size() <= text_max;
  return value.is_number() || value.is_bool();
}

/// Five digits or so; values of a like size get the same decimals, so that a column can be
/// compared.
std::string cell(const Json& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (!value.is_double()) return json_text(value);
  const double number = value.get_double();
  const double size = std::abs(number);
  const char* format = size >= 1e7 || (size > 0 && size < 1e-3) ? "%.3e"
                       : size >= 1e3                            ? "%.0f"
                       : size < 10                              ? "%.4f"
                                                                : "%.2f";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

/// A line has the user's metrics after `report_index`; some may be named like automatic ones.
JsonObject reported(const JsonObject& line) {
  JsonObject metrics;
  for (auto metric = line.find("report_index"); metric != line.end(); ++metric) {
    if (metric->key() != "report_index" && metric->key() != "checkpoint_dir_name")
      metrics.emplace(metric->key(), metric->value());
  }
  return metrics;
}

std::vector<std::string> metric_names(const JsonObject& line) {
  std::vector<std::string> names;
  const JsonObject metrics = reported(line);
  for (const auto& [name, value] : driver::flat_metrics(metrics)) {
    if (is_shown(*value)) names.push_back(name);
  }
  return names;
}

/// The columns of a terminal; nullopt where `fd` is none.
std::optional<int> terminal_width(int fd) {
  winsize size{};
  if (isatty(fd) == 0) return std::nullopt;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool has_colours(int fd) { return isatty(fd) == 1 && takes_colours(); }

/// While it lives, a write of this thread to a pipe that nobody reads is an error and no signal.
class WithoutBrokenPipe {
 public:
  WithoutBrokenPipe() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~WithoutBrokenPipe() {
    const int error = errno;
    const timespec at_once = {};
    if (error == EPIPE && sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&broken_pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  WithoutBrokenPipe(const WithoutBrokenPipe&) = delete;
  WithoutBrokenPipe& operator=(const WithoutBrokenPipe&) = delete;

 private:
  sigset_t broken_pipe_{};
  sigset_t before_{};
};

/// Whether standard output took it; else errno says why not.
bool write_out(const std::string& text, bool flush) {
  const WithoutBrokenPipe without_signal;
  errno = 0;
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && (!flush || std::fflush(stdout) == 0);
}

}  // namespace

void Display::status(const std::string& text) { moving_.status(text); }

void Display::redraw(int rank, std::string_view line) {
  moving_.bar("(rank " + std::to_string(rank) + ") " + std::string(line));
}

void Display::print(const std::string& text) {
  moving_.hide();
  write(text, false);
}

/// A full disk or a pipe that nobody reads must not end a training.
void Display::write(const std::string& text, bool flush) {
  if (output_failed_ || write_out(text, flush)) return;
  const int why = errno;
  output_failed_ = true;
  __fpurge(stdout);  // Else the end of the program would try again.
  say(true, std::string("standard output cannot be written (") + std::strerror(why) + "): nothing more is shown there");
}

void Display::line(int rank, std::string_view line) {
  if (rank == 0) moving_.end_bar();
  print_line("rank " + std::to_string(rank), line);
}

void Display::helper_line(std::string_view helper, std::string_view line) { print_line(helper, line); }

/// A progress bar that has ended is in the log; here the line that moves was enough.
void Display::print_line(std::string_view writer, std::string_view line) {
  const OutputLine output = output_line(line);
  if (output.ended_bar && moves_) return;
  const std::string who = "(" + std::string(writer) + ")";
  print((has_colours(STDOUT_FILENO) ? in_dim(who) : who) + " " + output.seen + "\n");
}

void Display::say(bool warning, std::string text) {
  show_held();
  moving_.hide();
  write("", true);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1))
    text.insert(end + 1, "  ");
  text.insert(0, warning ? "headway: warning: " : "headway: ");
  if (const auto columns = terminal_width(STDERR_FILENO)) text = fill_lines(text, static_cast<std::size_t>(*columns));
  std::fprintf(stderr, "%s\n", (has_colours(STDERR_FILENO) ? styled_notice(text) : text).c_str());
}

void Display::report(const JsonObject& line) {
  const Clock::time_point now = Clock::now();
  if (rows_ >= rows_shown_all && now - last_row_ < row_interval) {
    held_ = line;
    return;
  }
  show(line);
  last_row_ = now;
  held_.reset();
}

void Display::flush() {
  moving_.draw();
  write("", true);
}

void Display::finish() {
  show_held();
  moving_.hide();
  write("", true);
}

/// What is said of a run is said after the reports before it.
void Display::show_held() {
  if (const auto held = std::exchange(held_, std::nullopt)) show(*held);
}

/// Whether a report that was shown before has a better score, or as good a one.
bool Display::is_beaten(const JsonObject& line) {
  if (!score_.checkpoint_score_attribute) return false;
  const auto score = score_of(line, *score_.checkpoint_score_attribute, score_.checkpoint_score_order);
  if (best_ && (!score || *score <= *best_)) return true;
  best_ = score;
  return false;
}

void Display::show(const JsonObject& line) {
  const bool first = rows_++ == 0;
  const driver::FlatMetrics metrics = driver::flat_metrics(line);
  if (first)
    columns_ = choose_columns(metric_names(line), score_.checkpoint_score_attribute, terminal_width(STDOUT_FILENO));
  const auto cell_of = [&](const std::string& name) -> std::string {
    for (const auto& [key, value] : metrics) {
      if (key == name) return value->is_null() ? "" : cell(*value);
    }
    return "";
  };
  std::vector<std::string> cells{cell_of("training_iteration")};
  for (const std::string& column : columns_.shown) cells.push_back(cell_of(column));
  cells.push_back(cell_of("time_total_s"));
  cells.push_back(cell_of("checkpoint_dir_name"));
  const bool colours = has_colours(STDOUT_FILENO);
  if (first) {
    std::vector<std::string> titles{"report"};
    titles.insert(titles.end(), columns_.shown.begin(), columns_.shown.end());
    titles.insert(titles.end(), {"time_s", "checkpoint"});
    for (std::size_t i = 0; i < titles.size(); ++i)
      widths_.push_back(std::max({i == 0 ? 0 : column_width_min, text_width(titles[i]), text_width(cells[i])}));
    if (columns_.more > 0) {
      constexpr std::size_t checkpoint_width = 17;
      titles.back().resize(checkpoint_width, ' ');
      titles.push_back(more_title(columns_.more));
    }
    const std::string row = row_of(titles);
    print((colours ? in_bold(row) : row) + "\n");
  }
  const std::string row = row_of(cells);
  print((colours && is_beaten(line) ? in_dim(row) : row) + "\n");
}

/// Columns are flush right, but for the checkpoint and what follows it.
std::string Display::row_of(const std::vector<std::string>& cells) const {
  std::string row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) row += "  ";
    if (i + 1 < widths_.size()) row.append(widths_[i] - std::min(widths_[i], text_width(cells[i])), ' ');
    row += cells[i];
  }
  while (!row.empty() && row.back() == ' ') row.pop_back();
  return row;
}

}  // namespace headway::library
