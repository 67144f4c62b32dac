#include "control/checkpoint_book.hpp"

#include "core/score.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace headway::control {
namespace {

/// 7 for "checkpoint_000007", -1 for a name that Headway does not give.
std::int64_t number_in(std::string_view name) {
  constexpr std::string_view prefix = "checkpoint_";
  constexpr std::size_t digits_max = 15;
  if (!name.starts_with(prefix) || name.size() - prefix.size() > digits_max) return -1;
  std::int64_t number = -1;
  const char* const end = name.data() + name.size();
  const auto [stop, failure] = std::from_chars(name.data() + prefix.size(), end, number);
  return failure == std::errc() && stop == end ? number : -1;
}

}  // namespace

std::string CheckpointBook::next_name() {
  while (true) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "checkpoint_%06lld", static_cast<long long>(names_given_++));
    const std::string name = text.data();
    const auto has_it = [&](const KeptCheckpoint& kept) { return kept.name == name; };
    if (std::none_of(kept_.begin(), kept_.end(), has_it)) return name;
  }
}

std::vector<std::string> CheckpointBook::take_up(const std::vector<Manifest>& checkpoints,
                                                 const std::vector<KeptCheckpoint>& known, std::int64_t names_given,
                                                 const std::vector<std::string>& names) {
  shared_.reset();
  for (const Manifest& manifest : checkpoints) {
    KeptCheckpoint kept{manifest.checkpoint, commits_++, manifest.metrics, manifest.index, {}};
    if (manifest.validation) kept.status = CheckpointStatus::PENDING_VALIDATION;
    const auto entry = std::find_if(known.begin(), known.end(), [&](const KeptCheckpoint& each) {
      return each.name == kept.name && each.report == kept.report;
    });
    if (entry != known.end() && entry->status && *entry->status != CheckpointStatus::PENDING_VALIDATION) {
      kept.status = entry->status;
      kept.metrics = entry->metrics;
    }
    kept_.push_back(std::move(kept));
  }
  names_given_ = names_given;
  for (const std::string& name : names) names_given_ = std::max(names_given_, number_in(name) + 1);
  return retire();
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

CheckpointBook::Verdict CheckpointBook::commit(std::string name, JsonObject metrics, std::int64_t report,
                                               bool pending) {
  Verdict verdict;
  shared_.reset();
  // A directory of the user's may be reported again: it is then the newest, with its new metrics.
  std::erase_if(kept_, [&](const KeptCheckpoint& kept) { return kept.name == name; });
  kept_.push_back({std::move(name), commits_++, std::move(metrics), report, {}});
  if (pending) {
    kept_.back().status = CheckpointStatus::PENDING_VALIDATION;
  } else {
    verdict.warning = score_warning(kept_.back());
  }
  verdict.to_delete = retire();
  return verdict;
}

CheckpointBook::Verdict CheckpointBook::settle(const std::string& name, std::int64_t report, CheckpointStatus status,
                                               const JsonObject& metrics) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const KeptCheckpoint& kept) {
    return kept.name == name && kept.report == report && kept.status == CheckpointStatus::PENDING_VALIDATION;
  });
  Verdict verdict;
  if (found == kept_.end()) return verdict;
  shared_.reset();
  found->status = status;
  for (const auto& metric : metrics) found->metrics[metric.key()] = metric.value();
  verdict.warning = score_warning(*found);
  verdict.to_delete = retire();
  return verdict;
}

std::vector<std::string> CheckpointBook::pin(const std::vector<std::string>& names) {
  pinned_ = {names.begin(), names.end()};
  std::vector<std::string> retired = retire();
  if (!retired.empty()) shared_.reset();
  return retired;
}

std::optional<std::string> CheckpointBook::score_warning(const KeptCheckpoint& checkpoint) {
  if (!config_.checkpoint_score_attribute || warned_ || score(checkpoint)) return std::nullopt;
  warned_ = true;
  std::string there;
  for (const auto& entry : checkpoint.metrics) there += (there.empty() ? "" : ", ") + std::string(entry.key());
  return "checkpoint_score_attribute \"" + *config_.checkpoint_score_attribute +
         "\" is not a number in the metrics of " + checkpoint.name +
         "; it ranks last. The metrics there are: " + (there.empty() ? "none" : there) + ".";
}

std::vector<std::string> CheckpointBook::retire() {
  std::vector<std::string> retired;
  if (!config_.num_to_keep || kept_.empty()) return retired;
  std::vector<KeptCheckpoint> ranked = kept_;
  std::sort(ranked.begin(), ranked.end(), [this](const auto& a, const auto& b) { return worse(b, a); });
  const std::int64_t newest = kept_.back().index;
  for (std::size_t place = static_cast<std::size_t>(*config_.num_to_keep); place < ranked.size(); ++place) {
    // A restart resumes from the newest, so it stays beside the best ones whatever its score; and
    // where a validation is open, the score is not known yet.
    const bool spared = ranked[place].index == newest || pinned_.contains(ranked[place].name) ||
                        ranked[place].status == CheckpointStatus::PENDING_VALIDATION;
    if (!spared) retired.push_back(ranked[place].name);
  }
  std::erase_if(kept_, [&](const KeptCheckpoint& kept) {
    return std::find(retired.begin(), retired.end(), kept.name) != retired.end();
  });
  return retired;
}

std::shared_ptr<const std::vector<KeptCheckpoint>> CheckpointBook::shared() const {
  if (!shared_) shared_ = std::make_shared<const std::vector<KeptCheckpoint>>(kept_);
  return shared_;
}

std::optional<std::string> CheckpointBook::newest() const {
  if (kept_.empty()) return std::nullopt;
  return kept_.back().name;
}

}  // namespace headway::control
