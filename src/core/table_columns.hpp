#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// Which metrics a run's table of reports has columns for; both front ends show the same ones.
namespace headway {

struct TableColumns {
  std::vector<std::string> shown;  ///< In the user's order.
  int more = 0;                    ///< Metrics without a column.
};

/// The first metrics that fit and, wherever it stands, the score. `width`: the terminal's columns;
/// nullopt where the output is no terminal, which shows 16 metrics.
TableColumns choose_columns(const std::vector<std::string>& names, const std::optional<std::string>& score,
                            std::optional<int> width);

/// The title after the last column: "(+12 more)"; empty for none.
std::string more_title(int more);

/// No metric's column is narrower: most numbers take no more.
inline constexpr std::size_t column_width_min = 8;

}  // namespace headway
