#include "dashboard/straggler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace headway::dashboard {
namespace {

/// So much longer is the own part of a rank that is clearly slower.
constexpr double clearly = 1.25;
/// Steps of microseconds differ by more than a quarter, and nobody waits for them.
constexpr double noticed_s = 0.02;
constexpr std::int64_t steps_min = 10;
/// Of an attempt: who became slow before that was slow in all of it.
constexpr double soon = 0.1;

/// What one rank did in the steps of an attempt.
struct OwnPart {
  int rank = 0;
  std::int64_t count = 0;
  double seconds = 0;              ///< Of a step, without waiting.
  std::optional<double> waited_s;  ///< In all of them; unset where it waits outside of them.
};

/// Whose steps are compared.
struct Compared {
  std::vector<OwnPart> parts;
  std::vector<std::string> hosts;  ///< By rank.
  bool over = false;
  double took_s = 0;    ///< All of the attempt; 0 where that is not known.
  std::string attempt;  ///< Where there are several: " of attempt 2".
};

std::string formatted(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string seconds_words(double seconds) { return formatted(seconds < 1 ? "%.3g s" : "%.2f s", seconds); }

/// "about 10 of the 23 minutes were spent waiting for it"; empty where the figures do not agree.
std::string cost_words(double lost_s, const Compared& compared) {
  const double took_s = compared.took_s;
  if (took_s < 1 || lost_s > took_s) return "";
  struct Unit {
    double seconds;
    const char* name;
  };
  const Unit unit = took_s < 300 ? Unit{1, "seconds"} : took_s < 9000 ? Unit{60, "minutes"} : Unit{3600, "hours"};
  const double all = took_s / unit.seconds;
  const bool tenths = all < 10 && unit.seconds != 60;
  const double least = tenths ? 0.1 : 1;
  const double lost = std::round(lost_s / unit.seconds / least) * least;
  const char* format = tenths ? "%.1f" : "%.0f";
  const bool little = lost < least;
  const std::string part = little ? "less than " + formatted(format, least) : "about " + formatted(format, lost);
  return part + " of the " + formatted(format, all) + " " + unit.name + compared.attempt +
         (compared.over ? "" : " so far") + (little || lost == 1 ? " was" : " were") + " spent waiting for it";
}

bool is_slow(double own_s, double others_s) {
  return others_s > 0 && own_s >= clearly * others_s && own_s - others_s >= noticed_s;
}

const OwnPart& median_of(const std::vector<OwnPart>& sorted) { return sorted[(sorted.size() - 1) / 2]; }

/// Of the steps between two samples of an attempt; null: since it began.
std::vector<OwnPart> own_parts(const StepSample& now, const StepSample* before) {
  std::vector<OwnPart> parts;
  for (driver::RankSteps rank : now.ranks) {
    if (!rank.waited_s && !rank.of_reports) continue;
    if (before != nullptr) {
      const auto then = std::ranges::find(before->ranks, rank.rank, &driver::RankSteps::rank);
      if (then == before->ranks.end()) continue;
      rank.count -= then->count;
      rank.total_s -= then->total_s;
      if (rank.waited_s) *rank.waited_s -= then->waited_s.value_or(0);
    }
    if (rank.count <= 0) continue;
    const double own_s = rank.total_s - rank.waited_s.value_or(0);
    parts.push_back({rank.rank, rank.count, own_s / static_cast<double>(rank.count), rank.waited_s});
  }
  std::ranges::sort(parts, {}, &OwnPart::seconds);
  return parts;
}

/// The last sample before which a rank was not slow, where it has been slow from then to the end of
/// the attempt's samples; null: always, or that is not known.
const StepSample* slow_from(const RunRecord& record, int rank) {
  const StepSample* from = nullptr;
  const StepSample* before = nullptr;
  for (const StepSample& sample : record.steps()) {
    if (sample.attempt != record.steps().back().attempt) continue;
    const std::vector<OwnPart> parts = own_parts(sample, before);
    before = &sample;
    const auto own = std::ranges::find(parts, rank, &OwnPart::rank);
    if (own != parts.end() && !is_slow(own->seconds, median_of(parts).seconds)) from = &sample;
  }
  return from;
}

std::optional<Straggler> slowest_of(Compared compared) {
  std::vector<OwnPart>& parts = compared.parts;
  std::erase_if(parts, [](const OwnPart& part) { return part.count < steps_min; });
  if (parts.size() < 2) return std::nullopt;
  std::ranges::sort(parts, {}, &OwnPart::seconds);
  const OwnPart& other = median_of(parts);
  const OwnPart& slowest = parts.back();
  if (!is_slow(slowest.seconds, other.seconds)) return std::nullopt;
  Straggler found;
  found.behind_s = slowest.seconds - other.seconds;
  found.rank = slowest.rank;
  const auto place = static_cast<std::size_t>(slowest.rank);
  const std::string host = place < compared.hosts.size() ? compared.hosts[place] : "";
  found.name = "rank " + std::to_string(slowest.rank) + (host.empty() ? "" : " on " + host);
  found.lost_s = found.behind_s * static_cast<double>(slowest.count);
  if (other.waited_s) found.lost_s = std::min(found.lost_s, *other.waited_s);
  const double times = slowest.seconds / other.seconds;
  const std::string cost = cost_words(found.lost_s, compared);
  found.words =
      found.name + (compared.over ? " was " : " is ") + formatted(times < 10 ? "%.1f" : "%.0f", times) +
      " times slower than the others" +
      (cost.empty() ? std::string(", which ") + (compared.over ? "waited" : "wait") + " for it" : ": " + cost);
  found.detail = (compared.over ? "took " : "takes ") + seconds_words(slowest.seconds) +
                 " for its own part of a step (without waiting), the others " + seconds_words(other.seconds);
  return found;
}

}  // namespace

std::optional<Straggler> straggler_of(const control::RunView& view) {
  Compared compared;
  for (const control::RankView& rank : view.ranks) {
    const auto place = static_cast<std::size_t>(rank.rank);
    if (compared.hosts.size() <= place) compared.hosts.resize(place + 1);
    compared.hosts[place] = rank.hostname;
    if (!rank.steps || !rank.steps->waiting_share) continue;
    const auto& [count, median_s, waiting_share] = *rank.steps;
    compared.parts.push_back(
        {rank.rank, count, median_s * (1 - *waiting_share), median_s * *waiting_share * static_cast<double>(count)});
  }
  compared.took_s = view.attempt_for_s.value_or(0);
  if (view.attempt > 1) compared.attempt = " of attempt " + std::to_string(view.attempt);
  return slowest_of(std::move(compared));
}

std::optional<Straggler> straggler_in(const RunRecord& record, bool over) {
  if (record.steps().empty()) return std::nullopt;
  const StepSample& last = record.steps().back();
  Compared compared;
  compared.over = over;
  const auto& attempts = record.attempts();
  const auto of = std::ranges::find(attempts.rbegin(), attempts.rend(), last.attempt, &AttemptRecord::number);
  if (of != attempts.rend()) {
    compared.hosts = of->hosts;
    compared.took_s = of->end_s.value_or(last.at_unix_s) - of->start_s;
  }
  if (last.attempt > 1 || attempts.size() > 1) compared.attempt = " of attempt " + std::to_string(last.attempt);
  compared.parts = own_parts(last, nullptr);
  std::optional<Straggler> always = slowest_of(compared);
  if (!always || compared.took_s <= 0) return always;
  // The good time before it became slow would hide how slow it is.
  const StepSample* from = slow_from(record, always->rank);
  if (from == nullptr || from->at_unix_s - of->start_s < soon * compared.took_s) return always;
  compared.parts = own_parts(last, from);
  std::optional<Straggler> lately = slowest_of(compared);
  if (!lately || lately->rank != always->rank) return always;
  lately->since_unix_s = from->at_unix_s;
  return lately;
}

std::optional<Straggler> straggler_now(const control::RunView& view, const RunRecord& record) {
  const bool over = control::is_over(view.state);
  const bool knows =
      std::ranges::any_of(view.ranks, [](const control::RankView& rank) { return rank.steps.has_value(); });
  if (over || !knows) return straggler_in(record, over);
  std::optional<Straggler> found = straggler_of(view);
  if (!found) return std::nullopt;
  std::optional<Straggler> lately = straggler_in(record, false);
  return lately && lately->rank == found->rank && lately->since_unix_s ? lately : found;
}

}  // namespace headway::dashboard
