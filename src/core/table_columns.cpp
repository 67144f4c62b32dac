#include "core/table_columns.hpp"

#include <algorithm>

namespace headway {
namespace {

constexpr std::size_t columns_max = 16;
constexpr std::size_t gap = 2;
/// "report", "time_s" and "checkpoint" stand in every row.
constexpr std::size_t fixed_width = 6 + (gap + column_width_min) + (gap + std::string_view("checkpoint_000000").size());
constexpr std::size_t more_width = gap + std::string_view("(+999 more)").size();

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

std::size_t width_of(const std::string& name) { return gap + std::max(column_width_min, text_width(name)); }

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_to(std::string_view text, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && characters++ == width) return std::string(text.substr(0, i));
  }
  return std::string(text);
}

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
