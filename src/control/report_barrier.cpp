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

bool ReportBarrier::has_checkpoint() const {
  return std::any_of(offers_.begin(), offers_.end(), [](const auto& offer) { return offer && offer->checkpoint; });
}

bool ReportBarrier::asynchronous() const {
  return std::all_of(offers_.begin(), offers_.end(),
                     [](const auto& offer) { return !offer || !offer->checkpoint || offer->checkpoint->asynchronous; });
}

UploadPlan ReportBarrier::plan_uploads() const {
  UploadPlan plan;
  std::map<std::string, int> owners;
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    const int rank = static_cast<int>(i);
    if (!offers_[i] || !offers_[i]->checkpoint) continue;
    const CheckpointOffer& checkpoint = *offers_[i]->checkpoint;
    if (!plan.directory_name) plan.directory_name = checkpoint.directory_name;
    for (const FileRecord& file : checkpoint.files) {
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
  return plan;
}

void ReportBarrier::advance() {
  for (auto& offer : offers_) offer.reset();
  waiting_ = 0;
  ++index_;
}

}  // namespace headway::control
