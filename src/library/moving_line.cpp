#include "library/moving_line.hpp"

#include "core/terminal_text.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace headway::library {
namespace {

constexpr std::chrono::seconds bar_shown_for{3};

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

bool MovingLine::turn_on() {
  const char* const terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): at the run's start.
  on_ = isatty(STDOUT_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
  return on_;
}

void MovingLine::status(std::string text) { status_ = std::move(text); }

void MovingLine::bar(std::string text) {
  bar_ = std::move(text);
  bar_at_ = Clock::now();
}

void MovingLine::hide() {
  if (!std::exchange(drawn_, false)) return;
  std::fputs("\r\x1b[K", stdout);
}

void MovingLine::draw() {
  if (!on_) return;
  hide();
  const bool moves = !bar_.empty() && Clock::now() - bar_at_ < bar_shown_for;
  const std::string text = without_escapes(moves ? bar_ : status_);
  if (text.empty()) return;
  // The last column stays free: a terminal would go to the next line.
  const std::size_t columns = terminal_columns() - 1;
  std::fputs((moves ? cut_to(text, columns) : cut_parts(text, columns)).c_str(), stdout);
  drawn_ = true;
}

}  // namespace headway::library
