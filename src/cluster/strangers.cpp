#include "cluster/strangers.hpp"

#include <algorithm>

namespace headway::cluster {

void Strangers::forget_known() {
  std::erase_if(strangers_, [](const Admitted& each) { return !each.stranger->unproven(); });
}

std::size_t Strangers::count() {
  forget_known();
  return strangers_.size();
}

std::optional<Strangers::Time> Strangers::full_until(Time now) {
  if (count() < most_) return std::nullopt;
  const auto slowest = std::ranges::min_element(strangers_, {}, &Admitted::overdue);
  if (slowest->overdue() > now) return slowest->overdue();
  slowest->stranger->close();
  strangers_.erase(slowest);
  return std::nullopt;
}

void Strangers::admit(std::shared_ptr<Stranger> newcomer, Time now) {
  strangers_.push_back({std::move(newcomer), now});
}

}  // namespace headway::cluster
