#pragma once

#include "core/json.hpp"
#include "driver/append_file.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace headway::driver {

/// progress.csv: a row for each line of result.json, nested metrics flattened with '/', quoted as
/// RFC 4180 has it, lines ended by "\n". Numbers, booleans and NaN are written as Python writes
/// them (0.5, True, nan, inf); what is missing or null is empty; a list is its JSON text.
///
/// The columns are those of the first report. A later report with a new one has the file written
/// again from result.json and put in its place at once, so that no metric is lost. When that
/// happens again and again, a tenth of the time at most goes into it: rows then come with the
/// columns that there are, until the next rewriting or `finish`. Used from one thread at a time.
class ProgressCsv {
 public:
  /// Both are paths of local files. A progress.csv that is there already is taken up again: written
  /// anew from result.json.
  ProgressCsv(std::string path, std::string result_json);

  /// Adds a report; its line is in result.json already. Errors: `unavailable`; the row is then
  /// added by a later call that succeeds.
  Result<void> append(const JsonObject& line);

  /// Writes what a rewriting has still to bring.
  Result<void> finish();

 private:
  /// The line's values by column; a name that is new becomes a column.
  std::vector<std::string> fields_of(const JsonObject& line);
  std::string header() const;
  bool is_behind() const;
  Result<void> rewrite();
  Result<void> write_part();
  std::string part_path() const;

  std::string result_json_;
  AppendFile file_;
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< Of each column.
  /// How many of them the file's header has.
  std::size_t columns_written_ = 0;
  bool rows_missing_ = false;  ///< The file lacks rows of result.json.
  bool opened_ = false;        ///< Whether there has been an `append`.
  std::chrono::steady_clock::time_point next_rewrite_{};
};

}  // namespace headway::driver
