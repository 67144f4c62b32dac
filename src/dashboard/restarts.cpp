#include "dashboard/restarts.hpp"

#include "core/counted.hpp"
#include "dashboard/verdict.hpp"

namespace headway::dashboard {
namespace {

std::string reports_words(double count) { return counted(static_cast<std::int64_t>(count), "report"); }

std::string place_words(std::optional<double> last) {
  if (!last) return "";
  if (*last <= 0) return ", before the first report";
  return ", after report " + std::to_string(static_cast<std::int64_t>(*last));
}

/// From where, and how much of what the attempts before had done is in no checkpoint of it.
std::string resumed_words(const std::optional<std::string>& checkpoint, std::optional<double> last,
                          const Series& series) {
  const std::string lost = " was lost";
  if (!checkpoint) {
    const std::string from = "began anew, without a checkpoint";
    return last && *last > 0 ? from + ", the work of " + reports_words(*last) + lost : from;
  }
  std::string from = "resumed from " + *checkpoint;
  const std::optional<double> stored = series.step_of_checkpoint(*checkpoint);
  if (!last || !stored || *last < *stored) return from;
  return from +
         (*last == *stored ? ", that of the last report" : ", the work of " + reports_words(*last - *stored) + lost);
}

}  // namespace

std::optional<std::string> restart_words(const RunRecord& record, const Series& series) {
  const auto& attempts = record.attempts();
  if (attempts.size() < 2) return std::nullopt;
  const std::size_t count = attempts.size() - 1;
  const AttemptRecord& before = attempts[count - 1];
  const std::optional<double> last = series.last_step_of(before.number);
  const std::string why = end_words(before.end_words);
  return (count == 1 ? "restarted once: " : "restarted " + std::to_string(count) + " times, last: ") +
         (why.empty() ? "for a reason that is not known" : why) + place_words(last) + "; " +
         resumed_words(attempts.back().resumed_from, last, series);
}

}  // namespace headway::dashboard
