#include "control/checkpoint_book.hpp"

#include "core/score.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace headway::control {

std::string CheckpointBook::next_name() {
  std::array<char, 48> name{};
  std::snprintf(name.data(), name.size(), "checkpoint_%06lld", static_cast<long long>(names_given_++));
  return name.data();
}

std::optional<double> CheckpointBook::score(const KeptCheckpoint& checkpoint) const {
  return score_of(checkpoint.metrics, *config_.checkpoint_score_attribute, config_.checkpoint_score_order);
}

bool CheckpointBook::worse(const KeptCheckpoint& a, const KeptCheckpoint& b) const {
  if (config_.checkpoint_score_attribute) {
    const auto score_a = score(a);
    const auto score_b = score(b);
    if (score_a.has_value() != score_b.has_value()) return !score_a.has_value();
    if (score_a && *score_a != *score_b) return *score_a < *score_b;
  }
  return a.index < b.index;
}

CheckpointBook::Verdict CheckpointBook::commit(std::string name, JsonObject metrics) {
  Verdict verdict;
  // A directory of the user's may be reported again: it is then the newest, with its new metrics.
  std::erase_if(kept_, [&](const KeptCheckpoint& kept) { return kept.name == name; });
  kept_.push_back({std::move(name), commits_++, std::move(metrics)});
  if (config_.checkpoint_score_attribute && !warned_ && !score(kept_.back())) {
    warned_ = true;
    std::string there;
    for (const auto& entry : kept_.back().metrics) there += (there.empty() ? "" : ", ") + std::string(entry.key());
    verdict.warning = "checkpoint_score_attribute \"" + *config_.checkpoint_score_attribute +
                      "\" is not a number in the metrics of " + kept_.back().name +
                      "; it ranks last. The metrics there are: " + (there.empty() ? "none" : there) + ".";
  }
  if (!config_.num_to_keep) return verdict;
  std::vector<KeptCheckpoint> ranked = kept_;
  std::sort(ranked.begin(), ranked.end(), [this](const auto& a, const auto& b) { return worse(b, a); });
  const std::int64_t newest = kept_.back().index;
  for (std::size_t place = static_cast<std::size_t>(*config_.num_to_keep); place < ranked.size(); ++place) {
    // A restart resumes from the newest, so it stays beside the best ones whatever its score.
    if (ranked[place].index != newest) verdict.to_delete.push_back(ranked[place].name);
  }
  std::erase_if(kept_, [&](const KeptCheckpoint& kept) {
    return std::find(verdict.to_delete.begin(), verdict.to_delete.end(), kept.name) != verdict.to_delete.end();
  });
  return verdict;
}

std::optional<std::string> CheckpointBook::newest() const {
  if (kept_.empty()) return std::nullopt;
  return kept_.back().name;
}

}  // namespace headway::control
