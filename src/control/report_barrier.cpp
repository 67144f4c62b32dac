#include "control/report_barrier.hpp"

#include <algorithm>

namespace headway::control {

bool ReportBarrier::offer(int rank, Offer offer) {
  auto& place = offers_.at(static_cast<std::size_t>(rank));
  if (place || offer.index != index_) return false;
  place = std::move(offer);
  ++waiting_;
  return true;
}

std::vector<int> ReportBarrier::waiting_ranks() const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < offers_.size(); ++rank) {
    if (offers_[rank]) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::vector<JsonObject> ReportBarrier::rank_metrics() const {
  std::vector<JsonObject> metrics;
  for (const auto& offer : offers_) metrics.push_back(offer->metrics);
  return metrics;
}

bool ReportBarrier::has_checkpoint() const {
  return std::any_of(offers_.begin(), offers_.end(), [](const auto& offer) { return offer && offer->checkpoint; });
}

bool ReportBarrier::asynchronous() const {
  return std::all_of(offers_.begin(), offers_.end(),
                     [](const auto& offer) { return !offer || !offer->checkpoint || offer->checkpoint->asynchronous; });
}

namespace {

const char* mode_of(CheckpointSource source) {
  switch (source) {
    case CheckpointSource::files: return "files to upload";
    case CheckpointSource::placed: return "a directory that is recorded where it lies";
    case CheckpointSource::function: return "a function that stores it";
  }
  return "files to upload";
}

}  // namespace

UploadPlan ReportBarrier::plan_uploads() const {
  UploadPlan plan;
  std::optional<int> first;
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    const int rank = static_cast<int>(i);
    if (!offers_[i] || !offers_[i]->checkpoint) continue;
    const CheckpointOffer& offer = *offers_[i]->checkpoint;
    if (!first) {
      first = rank;
      plan.source = offer.source;
    }
    if (!plan.directory_name) plan.directory_name = offer.directory_name;
    const std::string ranks = "ranks " + std::to_string(*first) + " and " + std::to_string(rank);
    if (offer.source != plan.source) {
      plan.conflict = ranks + " cannot make one checkpoint: one has " + mode_of(plan.source) + ", the other " +
                      mode_of(offer.source);
    } else if (offer.source == CheckpointSource::placed && offer.directory_name != plan.directory_name) {
      plan.conflict = ranks + " report different directories that are to be recorded where they lie: " +
                      plan.directory_name.value_or("") + " and " + offer.directory_name.value_or("");
    }
    if (offer.source == CheckpointSource::function) plan.files[rank] = {};
  }
  if (plan.source == CheckpointSource::files && !plan.conflict) plan_files(plan);
  return plan;
}

void ReportBarrier::plan_files(UploadPlan& plan) const {
  std::map<std::string, int> owners;
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    const int rank = static_cast<int>(i);
    if (!offers_[i] || !offers_[i]->checkpoint) continue;
    for (const FileRecord& file : offers_[i]->checkpoint->files) {
      const auto [owner, is_first] = owners.try_emplace(file.name, rank);
      if (is_first) {
        plan.files[rank].push_back(file.name);
      } else if (!plan.same_name_warning) {
        plan.same_name_warning = "ranks " + std::to_string(owner->second) + " and " + std::to_string(rank) +
                                 " both put a file named \"" + file.name + "\" into one checkpoint; rank " +
                                 std::to_string(owner->second) +
                                 "'s is kept. Give the files different names, or report them from one rank alone.";
      }
    }
  }
}

void ReportBarrier::advance() {
  for (auto& offer : offers_) offer.reset();
  waiting_ = 0;
  ++index_;
}

}  // namespace headway::control
