#include "data/flow_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace headway::data {
namespace {

using Row = std::vector<std::string>;

std::string fixed(double number, int digits, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, number, unit);
  return text.data();
}

std::string seconds_text(double seconds) { return fixed(seconds, seconds < 100 ? 2 : 0, "s"); }

std::string rate_text(std::int64_t rows, double seconds) {
  return grouped(seconds > 0 ? std::llround(static_cast<double>(rows) / seconds) : 0);
}

Row row_of(const StageCounters& stage, double elapsed_s) {
  return {stage.name,
          grouped(stage.rows),
          bytes_text(stage.bytes),
          rate_text(stage.rows, elapsed_s),
          std::to_string(stage.workers),
          seconds_text(stage.busy_s),
          seconds_text(stage.waiting_input_s),
          seconds_text(stage.waiting_output_s),
          bytes_text(stage.held_bytes)};
}

/// The first column begins at the left, the others end at the right.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      text += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < units.size()) {
    size /= 1024;
    ++unit;
  }
  return fixed(size, 1, units[unit]);
}

std::string stats_table(const FlowCounters& flow) {
  std::vector<Row> rows = {
      {"stage", "rows", "bytes", "rows/s", "workers", "working", "waits for input", "waits for output", "held"}};
  for (const StageCounters& stage : flow.stages) rows.push_back(row_of(stage, flow.elapsed_s));
  return aligned(rows) + grouped(flow.rows) + " rows in " + seconds_text(flow.elapsed_s) +
         "; the data process has held at most " + bytes_text(flow.held_bytes_max) + " of its memory budget of " +
         bytes_text(flow.budget_bytes);
}

namespace {

/// The stage that rows have come to, where none has come to the end.
const StageCounters* furthest(const FlowCounters& flow) {
  const auto found =
      std::find_if(flow.stages.rbegin(), flow.stages.rend(), [](const StageCounters& stage) { return stage.rows > 0; });
  return flow.rows > 0 || found == flow.stages.rend() ? nullptr : &*found;
}

}  // namespace

std::string progress_text(const FlowCounters& flow, const std::string& what) {
  if (flow.stages.empty()) return what.empty() ? "starting" : what + " · starting";
  std::string text = what;
  if (text.empty()) text = flow.stages.back().name == "deal" ? "loop" : flow.stages.back().name;
  std::int64_t rows = flow.rows;
  std::string next;  // The stage that has them now.
  text += " · ";
  if (const StageCounters* stage = furthest(flow)) {
    rows = stage->rows;
    text += stage->name + ": ";
    if (stage != &flow.stages.back() && stage[1].name != "deal") next = " → " + stage[1].name;
  }
  return text + grouped(rows) + " rows · " + rate_text(rows, flow.elapsed_s) + " rows/s" + next + " · " +
         fixed(flow.elapsed_s, flow.elapsed_s < 10 ? 1 : 0, "s") + " · " + bytes_text(flow.held_bytes) + " of " +
         bytes_text(flow.budget_bytes) + " held";
}

std::string dropped_text(const std::string& dataset, std::int64_t rows, int world_size) {
  const std::string last =
      rows == 1 ? "last row of an epoch was" : "last " + std::to_string(rows) + " rows of an epoch were";
  return (dataset.empty() ? "a data set" : "data set '" + dataset + "'") + ": the " + last + " dropped, because the " +
         std::to_string(world_size) + " ranks have equal shares";
}

}  // namespace headway::data
