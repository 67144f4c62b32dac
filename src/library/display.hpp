#pragma once

#include "core/config.hpp"
#include "core/json.hpp"
#include "core/table_columns.hpp"
#include "library/moving_line.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::library {

/// What a run shows while it goes: on standard output a table of its reports and each rank's
/// output, on standard error warnings and notices. The table's columns are the metrics of the first
/// report that there is space for. On a terminal a row is dim unless its score is the best so far.
/// The first 20 reports are shown all; after that a row comes at most every half second, and the
/// last one always. Where standard output cannot be written, one warning says so.
class Display {
 public:
  explicit Display(CheckpointConfig score = {}) : score_(std::move(score)) {}

  /// Has a line at the end of the output show what the run is doing; false where there is no
  /// terminal.
  bool move() { return moves_ = moving_.turn_on(); }
  /// What the run is doing now.
  void status(const std::string& text);
  /// A rank draws a line anew.
  void redraw(int rank, std::string_view line);

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
  void show_held();
  void print(const std::string& text);
  void write(const std::string& text, bool flush);
  void print_line(std::string_view writer, std::string_view line);
  std::string row_of(const std::vector<std::string>& cells) const;
  bool is_beaten(const JsonObject& line);

  static constexpr int rows_shown_all = 20;
  static constexpr std::chrono::milliseconds row_interval{500};

  CheckpointConfig score_;
  MovingLine moving_;
  bool moves_ = false;
  std::optional<double> best_;
  TableColumns columns_;
  std::vector<std::size_t> widths_;
  int rows_ = 0;
  bool output_failed_ = false;  ///< Nothing more is written there.
  Clock::time_point last_row_{};
  std::optional<JsonObject> held_;
};

}  // namespace headway::library
