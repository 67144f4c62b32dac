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

ReducedMetrics ReportBarrier::metrics() const {
  const Offer& first = *offers_.front();
  if (!first.reduce) return {first.metrics, {}};
  std::vector<const JsonObject*> ranks;
  for (const auto& offer : offers_) ranks.push_back(&offer->metrics);
  return reduce(*first.reduce, ranks);
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

/// Why two ranks' offers cannot be one checkpoint. What some ranks upload goes to the directory
/// that others report where it lies.
std::optional<std::string> conflict_of(int rank, const CheckpointOffer& offer, int other,
                                       const CheckpointOffer& other_offer) {
  const std::string ranks = "ranks " + std::to_string(rank) + " and " + std::to_string(other);
  const auto is = [&](CheckpointSource source) { return offer.source == source || other_offer.source == source; };
  if (offer.source != other_offer.source && is(CheckpointSource::function)) {
    return ranks + " cannot make one checkpoint: one has " + mode_of(offer.source) + ", the other " +
           mode_of(other_offer.source);
  }
  const auto& name = offer.directory_name;
  const auto& other_name = other_offer.directory_name;
  if (!is(CheckpointSource::placed) || !name || !other_name || *name == *other_name) return std::nullopt;
  if (offer.source == other_offer.source) {
    return ranks + " report different directories that are to be recorded where they lie: " + *name + " and " +
           *other_name;
  }
  return ranks + " give one checkpoint two names, " + *name + " and " + *other_name +
         "; a directory that is recorded where it lies gives the checkpoint its name";
}

}  // namespace

UploadPlan ReportBarrier::plan_uploads() const {
  UploadPlan plan;
  std::map<int, const CheckpointOffer*> offers;
  // The first with a directory that lies in the run's folder, else the first.
  std::optional<int> lead;
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    if (!offers_[i] || !offers_[i]->checkpoint) continue;
    const int rank = static_cast<int>(i);
    const CheckpointOffer& offer = *(offers[rank] = &*offers_[i]->checkpoint);
    const bool placed = offer.source == CheckpointSource::placed;
    if (!lead || (placed && offers[*lead]->source != CheckpointSource::placed)) lead = rank;
    if (!plan.directory_name) plan.directory_name = offer.directory_name;
    if (offer.source == CheckpointSource::function) plan.files[rank] = {};
  }
  if (!lead) return plan;
  plan.source = offers[*lead]->source;
  if (plan.source == CheckpointSource::placed) plan.directory_name = offers[*lead]->directory_name;
  for (const auto& [rank, offer] : offers) {
    if (plan.conflict || rank == *lead) continue;
    const auto [low, high] = std::minmax(rank, *lead);
    plan.conflict = conflict_of(low, *offers[low], high, *offers[high]);
  }
  if (!plan.conflict) plan_files(plan);
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
