#include "sim/retention.hpp"

#include <algorithm>
#include <tuple>

namespace headway::sim {

void Retention::commit(const std::string& name, const JsonObject& metrics) {
  Rated rated{name, std::nullopt, commits_++};
  if (config_.checkpoint_score_attribute && metrics.contains("score")) {
    const double score = metrics.at("score").as_double();
    rated.score = config_.checkpoint_score_order == "min" ? -score : score;
  }
  // A directory of the user's may be reported again: it is then the newest.
  std::erase_if(rated_, [&](const Rated& each) { return each.name == name; });
  to_delete_.erase(name);
  doubtful_.erase(name);
  given_up_.erase(name);
  rated_.push_back(rated);
  // One stays when fewer than num_to_keep are better, and the newest stays in any case. No score is the worst.
  const auto better_than = [&](const Rated& one) {
    return std::count_if(rated_.begin(), rated_.end(), [&](const Rated& other) {
      return std::tie(other.score, other.order) > std::tie(one.score, one.order);
    });
  };
  std::vector<Rated> staying;
  for (const Rated& each : rated_) {
    if (!config_.num_to_keep || better_than(each) < *config_.num_to_keep || each.order == rated.order) {
      staying.push_back(each);
    } else {
      to_delete_.insert(each.name);
      given_up_.insert(each.name);
    }
  }
  rated_ = std::move(staying);
  kept_.clear();
  for (const Rated& each : rated_) kept_.push_back(each.name);
}

std::optional<std::string> Retention::newest() const {
  if (kept_.empty()) return std::nullopt;
  return kept_.back();
}

bool Retention::keeps(const std::string& name) const {
  return std::find(kept_.begin(), kept_.end(), name) != kept_.end();
}

}  // namespace headway::sim
