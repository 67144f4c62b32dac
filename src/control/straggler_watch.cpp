#include "control/straggler_watch.hpp"

#include "control/worker_group.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace headway::control {
namespace {

template <class Value>
Value median_of(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Value>
std::vector<Value> without(std::vector<Value> values, std::size_t rank) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(rank));
  return values;
}

/// The slowest rank beside the median of the others.
StragglerWatch::Straggler slowest_of(const std::vector<Duration>& took) {
  const auto rank = static_cast<std::size_t>(std::max_element(took.begin(), took.end()) - took.begin());
  return {static_cast<int>(rank), false, took[rank], median_of(without(took, rank)), {}, {}};
}

std::string formatted(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string time_text(Duration duration) {
  const double seconds = to_seconds(duration);
  return seconds < 1 ? formatted("%.1f ms", 1e3 * seconds) : seconds_text(duration);
}

}  // namespace

void StragglerWatch::begin(int ranks) {
  *this = {};
  took_.resize(static_cast<std::size_t>(ranks));
  steps_.resize(static_cast<std::size_t>(ranks));
}

std::optional<StragglerWatch::Straggler> StragglerWatch::complete() {
  if (++complete_ == 1 || took_.size() < 2) return std::nullopt;
  std::vector<Duration> took;
  for (const auto& each : took_) {
    if (!each) return std::nullopt;
    took.push_back(*each);
  }
  return judge(by_reports_, slowest_of(took), slower_by_at_least, reports_in_a_row);
}

std::optional<StragglerWatch::Straggler> StragglerWatch::progressed(int rank, const LoopProgress& progress) {
  steps_.at(static_cast<std::size_t>(rank)).latest = progress;
  const bool all = std::all_of(steps_.begin(), steps_.end(), [](const Steps& each) {
    return each.latest.step_times.count > each.compared.step_times.count;
  });
  return all && steps_.size() > 1 ? compare_steps() : std::nullopt;
}

std::optional<StragglerWatch::Straggler> StragglerWatch::compare_steps() {
  std::vector<Duration> own;
  std::vector<double> working;
  for (Steps& each : steps_) {
    const Times& now = each.latest.step_times;
    const Times& before = each.compared.step_times;
    const double total_s = now.total_s - before.total_s;
    const double worked_s = total_s - (each.latest.waited_s - each.compared.waited_s);
    own.push_back(from_seconds(worked_s / static_cast<double>(now.count - before.count)));
    if (each.latest.sees_collectives && total_s > 0) working.push_back(std::clamp(worked_s / total_s, 0.0, 1.0));
    each.compared = each.latest;
  }
  Straggler found = slowest_of(own);
  found.by_steps = true;
  if (working.size() == steps_.size()) {
    const auto rank = static_cast<std::size_t>(found.rank);
    found.working = working[rank];
    found.others_working = median_of(without(working, rank));
  }
  return judge(by_steps_, found, step_slower_by_at_least, steps_in_a_row);
}

std::optional<StragglerWatch::Straggler> StragglerWatch::judge(Suspect& suspect, Straggler found, Duration least,
                                                               int in_a_row) {
  const bool slow =
      to_seconds(found.took) >= slower_by * to_seconds(found.others) && found.took - found.others >= least;
  if (!slow) {
    suspect = {};
    return std::nullopt;
  }
  suspect = {found.rank, found.rank == suspect.rank ? suspect.in_a_row + 1 : 1};
  if (told_ || suspect.in_a_row < in_a_row) return std::nullopt;
  told_ = true;
  return found;
}

std::string straggler_text(const StragglerWatch::Straggler& straggler, const std::string& name) {
  const double others_s = to_seconds(straggler.others);
  std::string text = name + " is " +
                     (others_s > 0 ? formatted("%.1f x", to_seconds(straggler.took) / others_s) : "much") +
                     " slower than the other ranks, which wait for it: ";
  if (!straggler.by_steps) {
    return text + "it took " + seconds_text(straggler.took) + " from report to report, the others " +
           seconds_text(straggler.others) + ", " + std::to_string(StragglerWatch::reports_in_a_row) + " times in a row";
  }
  text += "of an optimizer step its own work takes " + time_text(straggler.took) + ", that of the others " +
          time_text(straggler.others);
  if (!straggler.working) return text;
  return text + "; it is " + formatted("%.0f %%", 100 * *straggler.working) +
         " of its time outside of collectives, the others " + formatted("%.0f %%", 100 * *straggler.others_working);
}

}  // namespace headway::control
