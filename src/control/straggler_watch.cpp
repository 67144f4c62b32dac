#include "control/straggler_watch.hpp"

#include "control/worker_group.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace headway::control {

void StragglerWatch::begin(int ranks) {
  *this = {};
  took_.resize(static_cast<std::size_t>(ranks));
}

std::optional<StragglerWatch::Straggler> StragglerWatch::complete() {
  if (++complete_ == 1 || took_.size() < 2 || told_) return std::nullopt;
  const auto slowest = std::max_element(took_.begin(), took_.end());
  if (std::any_of(took_.begin(), took_.end(), [](const auto& each) { return !each; })) return std::nullopt;
  const int rank = static_cast<int>(slowest - took_.begin());
  std::vector<Duration> others;
  for (std::size_t i = 0; i < took_.size(); ++i) {
    if (static_cast<int>(i) != rank) others.push_back(*took_[i]);
  }
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  const Straggler found{rank, **slowest, *middle};
  const bool slow =
      to_seconds(found.took) >= slower_by * to_seconds(found.others) && found.took - found.others >= slower_by_at_least;
  in_a_row_ = !slow ? 0 : rank == suspect_ ? in_a_row_ + 1 : 1;
  suspect_ = slow ? rank : -1;
  if (in_a_row_ < reports_in_a_row) return std::nullopt;
  told_ = true;
  return found;
}

std::string straggler_text(const StragglerWatch::Straggler& straggler, const std::string& name) {
  const double others_s = to_seconds(straggler.others);
  std::array<char, 32> times{};
  std::snprintf(times.data(), times.size(), "%.1f x", to_seconds(straggler.took) / others_s);
  return name + " is " + (others_s > 0 ? times.data() : "much") +
         " slower than the other ranks, which wait for it: it took " + seconds_text(straggler.took) +
         " from report to report, the others " + seconds_text(straggler.others) + ", " +
         std::to_string(StragglerWatch::reports_in_a_row) + " times in a row";
}

}  // namespace headway::control
