#include "library/display.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace headway::library {
namespace {

// What Headway adds to each report; the table shows the user's own.
constexpr std::array own_keys{"training_iteration",
                              "iterations_since_restore",
                              "time_this_iter_s",
                              "time_total_s",
                              "time_since_restore",
                              "timestamp",
                              "date",
                              "pid",
                              "hostname",
                              "node_ip",
                              "trial_id",
                              "done",
                              "attempt",
                              "report_index",
                              "checkpoint_dir_name"};

bool is_own(std::string_view key) {
  return std::any_of(own_keys.begin(), own_keys.end(), [&](const char* own) { return key == own; });
}

bool is_shown(const Json& value) {
  constexpr std::size_t text_max = 24;
  if (const auto* text = value.if_string()) return text->size() <= text_max;
  return value.is_number() || value.is_bool();
}

/// Five digits or so; values of a like size get the same decimals, so that a column can be compared.
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

std::string cell_of(const JsonObject& line, const std::string& key) {
  const Json* value = line.if_contains(key);
  return value == nullptr || value->is_null() ? "" : cell(*value);
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

}  // namespace

void Display::line(int rank, std::string_view line) {
  print("(rank " + std::to_string(rank) + ") " + std::string(line));
}

void Display::helper_line(std::string_view helper, std::string_view line) {
  print("(" + std::string(helper) + ") " + std::string(line));
}

void Display::say(bool warning, std::string text) {
  flush();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1))
    text.insert(end + 1, "  ");
  std::fprintf(stderr, "headway: %s%s\n", warning ? "warning: " : "", text.c_str());
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

void Display::flush() { std::fflush(stdout); }

void Display::finish() {
  if (held_) show(*held_);
  held_.reset();
  flush();
}

void Display::show(const JsonObject& line) {
  const bool first = rows_++ == 0;
  if (first) {
    for (const auto& metric : line) {
      if (columns_.size() < columns_max && !is_own(metric.key()) && is_shown(metric.value()))
        columns_.emplace_back(metric.key());
    }
  }
  std::vector<std::string> cells{cell_of(line, "training_iteration")};
  for (const std::string& column : columns_) cells.push_back(cell_of(line, column));
  cells.push_back(cell_of(line, "time_total_s"));
  cells.push_back(cell_of(line, "checkpoint_dir_name"));
  if (first) {
    std::vector<std::string> titles{"report"};
    titles.insert(titles.end(), columns_.begin(), columns_.end());
    titles.insert(titles.end(), {"time_s", "checkpoint"});
    constexpr std::size_t width_min = 8;
    for (std::size_t i = 0; i < titles.size(); ++i)
      widths_.push_back(std::max({width_min, titles[i].size(), cells[i].size()}));
    print_row(titles);
  }
  print_row(cells);
}

/// Columns are flush right, but for the last one.
void Display::print_row(const std::vector<std::string>& cells) {
  std::string row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) row += "  ";
    if (i + 1 < cells.size()) row.append(widths_[i] - std::min(widths_[i], cells[i].size()), ' ');
    row += cells[i];
  }
  while (!row.empty() && row.back() == ' ') row.pop_back();
  print(row);
}

}  // namespace headway::library
