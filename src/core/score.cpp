#include "core/score.hpp"

#include <cmath>

namespace headway {

std::optional<double> score_of(const JsonObject& metrics, std::string_view path, std::string_view order) {
  const Json* value = find_path(metrics, path);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->to_number<double>();
  if (std::isnan(number)) return std::nullopt;
  return order == "min" ? -number : number;
}

std::optional<std::size_t> best_of(const std::vector<JsonObject>& metrics, std::string_view path,
                                   std::string_view order) {
  std::optional<std::size_t> best;
  double best_score = 0;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto score = score_of(metrics[i], path, order);
    if (!score || (best && *score < best_score)) continue;
    best = i;
    best_score = *score;
  }
  return best;
}

}  // namespace headway
