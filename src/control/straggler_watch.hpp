#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// Finds the rank that all others wait for again and again: how long each rank takes from report to
/// report.
class StragglerWatch {
 public:
  /// A new attempt has begun.
  void begin(int ranks);

  /// A rank has come to its next report, `took` after it left the one before.
  void reported(int rank, Duration took) { took_.at(static_cast<std::size_t>(rank)) = took; }

  struct Straggler {
    int rank = 0;
    Duration took{};    ///< From report to report, the last time.
    Duration others{};  ///< The median of the others.
  };
  /// All ranks have come to the report. A rank that has been slower by far for some reports in a
  /// row is named, once an attempt.
  std::optional<Straggler> complete();

  /// From the last report but one to the last; unset before the rank's first report.
  std::optional<Duration> took(int rank) const { return took_.at(static_cast<std::size_t>(rank)); }

  /// How much slower than the median of the others, and in how many reports in a row.
  static constexpr double slower_by = 2;
  static constexpr Duration slower_by_at_least = std::chrono::milliseconds(500);
  static constexpr int reports_in_a_row = 3;

 private:
  std::vector<std::optional<Duration>> took_;
  std::int64_t complete_ = 0;  ///< Reports so far; the first one has what is done only once.
  int suspect_ = -1;
  int in_a_row_ = 0;
  bool told_ = false;
};

/// "rank 1 (pid 4711 on host a) is 3.1 x slower than the other ranks: ...". `name` is the rank's.
std::string straggler_text(const StragglerWatch::Straggler& straggler, const std::string& name);

}  // namespace headway::control
