#pragma once

#include "core/json.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::library {

/// What a run shows on standard output while it goes: a table of its reports and each rank's output; warnings and notices on standard
/// error. The table's columns are the metrics of the first report. The first 20 reports are shown all; after that a row comes at most
/// every half second, and the last one always.
class Display {
 public:
  void line(int rank, std::string_view line);
  /// Of a process that is no rank, such as a validation; by its name.
  void helper_line(std::string_view helper, std::string_view line);
  void say(bool warning, std::string text);
  void report(const JsonObject& line);
  /// What was printed is seen now.
  void flush();
  /// The end: the last report's row if it was held back.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void show(const JsonObject& line);
  void print_row(const std::vector<std::string>& cells);

  static constexpr int rows_shown_all = 20;
  static constexpr std::chrono::milliseconds row_interval{500};
  static constexpr std::size_t columns_max = 8;

  std::vector<std::string> columns_;
  std::vector<std::size_t> widths_;
  int rows_ = 0;
  Clock::time_point last_row_{};
  std::optional<JsonObject> held_;
};

}  // namespace headway::library
