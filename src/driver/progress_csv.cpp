#include "driver/progress_csv.hpp"

#include "core/manifest.hpp"
#include "driver/flat_metrics.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace headway::driver {
namespace {

std::string quoted_field(std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char letter : text) field.append(letter == '"' ? 2 : 1, letter);
  return field + '"';
}

/// The shortest text that reads as the same number, and always as a float.
std::string float_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::array<char, 32> digits{};
  std::string text(digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_bool()) return value.get_bool() ? "True" : "False";
  if (value.is_string()) return quoted_field(value.get_string());
  if (value.is_double()) return float_text(value.get_double());
  return value.is_number() ? json_text(value) : quoted_field(json_text(value));
}

std::string joined(const std::vector<std::string>& fields, std::size_t count) {
  std::string row;
  for (std::size_t place = 0; place < count; ++place) {
    if (place > 0) row += ',';
    if (place < fields.size()) row += fields[place];
  }
  return row + '\n';
}

/// Leaves out what a process that was killed has half written.
template <class Work>
void for_each_line(const std::string& result_json, Work work) {
  std::ifstream lines(result_json, std::ios::binary);
  for (std::string text; std::getline(lines, text) && !lines.eof();) {
    const Result<Json> line = parse_json(text, result_json);
    if (line && line->is_object()) work(line->get_object());
  }
}

}  // namespace

ProgressCsv::ProgressCsv(std::string path, std::string result_json)
    : result_json_(std::move(result_json)), file_(std::move(path)) {}

std::vector<std::string> ProgressCsv::fields_of(const JsonObject& line) {
  std::vector<std::string> fields(columns_.size());
  for (const auto& [name, value] : flat_metrics(line)) {
    const auto [place, is_new] = places_.try_emplace(name, columns_.size());
    if (is_new) {
      columns_.push_back(name);
      fields.emplace_back();
    }
    fields[place->second] = cell(*value);
  }
  return fields;
}

std::string ProgressCsv::header() const {
  std::vector<std::string> fields;
  for (const std::string& column : columns_) fields.push_back(quoted_field(column));
  return joined(fields, fields.size());
}

Result<void> ProgressCsv::append(const JsonObject& line) {
  if (!std::exchange(opened_, true) && ::access(file_.path().c_str(), F_OK) == 0) return rewrite();
  const std::vector<std::string> fields = fields_of(line);
  const bool first = columns_written_ == 0 && !rows_missing_;
  if (!first && is_behind() && std::chrono::steady_clock::now() >= next_rewrite_) return rewrite();
  if (rows_missing_) return {};
  std::string piece;
  if (first) {
    piece = header();
    columns_written_ = columns_.size();
  }
  Result<void> appended = file_.append(piece + joined(fields, columns_written_));
  rows_missing_ = !appended;
  return appended;
}

Result<void> ProgressCsv::finish() { return is_behind() ? rewrite() : Result<void>(); }

bool ProgressCsv::is_behind() const { return rows_missing_ || columns_written_ < columns_.size(); }

Result<void> ProgressCsv::rewrite() {
  const auto began = std::chrono::steady_clock::now();
  Result<void> written = write_part();
  if (written && std::rename(part_path().c_str(), file_.path().c_str()) != 0) {
    written = Error{ErrorKind::unavailable, "cannot replace " + file_.path() + ": " + std::strerror(errno)};
  }
  if (written) {
    file_.reopen();
    columns_written_ = columns_.size();
  } else {
    ::unlink(part_path().c_str());
  }
  rows_missing_ = !written;
  const auto ended = std::chrono::steady_clock::now();
  next_rewrite_ = ended + 9 * (ended - began);
  return written;
}

std::string ProgressCsv::part_path() const {
  const std::size_t name = file_.path().rfind('/') + 1;
  return file_.path().substr(0, name) + std::string(part_prefix) + file_.path().substr(name);
}

/// Twice through result.json: it may be long, and a line of an earlier driver may have columns that
/// this one has not seen.
Result<void> ProgressCsv::write_part() {
  for_each_line(result_json_, [this](const JsonObject& line) { (void)fields_of(line); });
  std::ofstream part(part_path(), std::ios::binary | std::ios::trunc);
  part << header();
  for_each_line(result_json_, [&](const JsonObject& line) { part << joined(fields_of(line), columns_.size()); });
  part.close();
  if (part) return {};
  return Error{ErrorKind::unavailable, "cannot write " + part_path() + ": " + std::strerror(errno)};
}

}  // namespace headway::driver
