#include "sim/retention.hpp"

#include <algorithm>
#include <tuple>

namespace headway::sim {

std::optional<double> Retention::score_of(const JsonObject& metrics) const {
  if (!config_.checkpoint_score_attribute || !metrics.contains("score")) return std::nullopt;
  const double score = metrics.at("score").as_double();
  return config_.checkpoint_score_order == "min" ? -score : score;
}

void Retention::commit(const std::string& name, std::int64_t report, const JsonObject& metrics, bool pending) {
  outcomes_.erase({name, report});
  add(name, report, metrics, pending);
}

void Retention::add(const std::string& name, std::int64_t report, const JsonObject& metrics, bool pending) {
  const Rated rated{name, score_of(metrics), commits_++, report, pending, false};
  // A directory of the user's may be reported again: it is then the newest.
  std::erase_if(rated_, [&](const Rated& each) { return each.name == name; });
  to_delete_.erase(name);
  doubtful_.erase(name);
  given_up_.erase(name);
  rated_.push_back(rated);
  strike_out();
}

void Retention::settle(const std::string& name, const JsonObject* metrics) {
  for (Rated& each : rated_) {
    if (each.name != name) continue;
    outcomes_[{name, each.report}] = metrics != nullptr ? std::optional(*metrics) : std::nullopt;
    each.pending = false;
    each.validated = metrics != nullptr;
    if (metrics != nullptr && score_of(*metrics)) each.score = score_of(*metrics);
  }
  strike_out();
}

void Retention::pin(const std::vector<std::string>& names) {
  pinned_ = {names.begin(), names.end()};
  if (!rated_.empty()) strike_out();
}

/// One stays when fewer than num_to_keep are better; the newest, what is pinned, and what is not
/// validated yet, in any case. No score is the worst.
void Retention::strike_out() {
  const auto better_than = [&](const Rated& one) {
    return std::count_if(rated_.begin(), rated_.end(), [&](const Rated& other) {
      return std::tie(other.score, other.order) > std::tie(one.score, one.order);
    });
  };
  const int newest = rated_.back().order;
  std::vector<Rated> staying;
  for (const Rated& each : rated_) {
    const bool is_spared = each.order == newest || each.pending || pinned_.contains(each.name);
    if (!config_.num_to_keep || better_than(each) < *config_.num_to_keep || is_spared) {
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

void Retention::take_up(const std::vector<Manifest>& there, const std::set<std::string>& given_up, bool validates,
                        const Reports& settled) {
  rated_.clear();
  kept_.clear();
  pinned_.clear();
  to_delete_.clear();
  std::erase_if(outcomes_, [&](const auto& outcome) { return !settled.contains(outcome.first); });
  for (const Manifest& manifest : there) {
    const std::string& name = manifest.checkpoint;
    if (given_up.contains(name)) {
      to_delete_.insert(name);
      given_up_.insert(name);
      continue;
    }
    add(name, manifest.index, manifest.metrics, validates && manifest.validation);
    const auto outcome = outcomes_.find({name, manifest.index});
    if (outcome == outcomes_.end()) continue;
    const std::optional<JsonObject> metrics = outcome->second;
    settle(name, metrics ? &*metrics : nullptr);
  }
}

std::optional<std::string> Retention::newest() const {
  if (kept_.empty()) return std::nullopt;
  return kept_.back();
}

const Retention::Rated* Retention::find(const std::string& name) const {
  const auto found = std::find_if(rated_.begin(), rated_.end(), [&](const Rated& each) { return each.name == name; });
  return found == rated_.end() ? nullptr : &*found;
}

bool Retention::pending(const std::string& name) const {
  const Rated* rated = find(name);
  return rated != nullptr && rated->pending;
}

bool Retention::validated(const std::string& name) const {
  const Rated* rated = find(name);
  return rated != nullptr && rated->validated;
}

bool Retention::any_pending() const {
  return std::any_of(rated_.begin(), rated_.end(), [](const Rated& each) { return each.pending; });
}

bool Retention::keeps(const std::string& name, std::int64_t report) const {
  const Rated* rated = find(name);
  return rated != nullptr && rated->report == report;
}

bool Retention::keeps(const std::string& name) const {
  return std::find(kept_.begin(), kept_.end(), name) != kept_.end();
}

}  // namespace headway::sim
