#include "core/table_columns.hpp"

#include "core/terminal_text.hpp"

#include <algorithm>
#include <string_view>

namespace headway {
namespace {

constexpr std::size_t columns_max = 16;
constexpr std::size_t gap = 2;
/// "report", "time_s" and "checkpoint" stand in every row.
constexpr std::size_t fixed_width = 6 + (gap + column_width_min) + (gap + std::string_view("checkpoint_000000").size());
constexpr std::size_t more_width = gap + std::string_view("(+999 more)").size();

std::size_t width_of(const std::string& name) { return gap + std::max(column_width_min, text_width(name)); }

}  // namespace

std::string more_title(int more) { return more > 0 ? "(+" + std::to_string(more) + " more)" : ""; }

TableColumns choose_columns(const std::vector<std::string>& names, const std::optional<std::string>& score,
                            std::optional<int> width) {
  const auto cost = [&](const std::string& name) { return width ? width_of(name) : 1; };
  std::size_t all = 0;
  for (const std::string& name : names) all += cost(name);
  const std::size_t terminal = width ? static_cast<std::size_t>(std::max(*width, 0)) : 0;
  const std::size_t budget = !width ? columns_max : terminal > fixed_width ? terminal - fixed_width : 0;
  if (all <= budget) return {names, 0};

  std::size_t left = width ? (budget > more_width ? budget - more_width : 0) : budget;
  const bool has_score = score && std::find(names.begin(), names.end(), *score) != names.end();
  if (has_score) left -= std::min(left, cost(*score));
  TableColumns chosen;
  bool full = false;
  for (const std::string& name : names) {
    const bool is_score = has_score && name == *score;
    // The user's first metric is there even on a terminal that is too narrow for it.
    const bool fits = !full && (cost(name) <= left || (chosen.shown.empty() && !has_score));
    if (!is_score && !fits) full = true;
    if (!is_score && fits) left -= std::min(left, cost(name));
    if (is_score || fits) chosen.shown.push_back(name);
  }
  chosen.more = static_cast<int>(names.size() - chosen.shown.size());
  return chosen;
}

}  // namespace headway
