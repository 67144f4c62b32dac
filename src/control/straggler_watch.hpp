#pragma once

#include "core/loop_progress.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// Finds the rank that all others wait for again and again: by the time that each takes from report
/// to report, and by the time between optimizer steps that it does not wait for others. The latter
/// finds a rank that collectives hold the others back for, so that all come to a report together.
class StragglerWatch {
 public:
  /// A new attempt has begun.
  void begin(int ranks);

  /// A rank has come to its next report, `took` after it left the one before.
  void reported(int rank, Duration took) { took_.at(static_cast<std::size_t>(rank)) = took; }

  struct Straggler {
    int rank = 0;
    bool by_steps = false;  ///< Else from report to report.
    Duration took{};        ///< The last time.
    Duration others{};      ///< The median of the others.
    /// The share of the time outside of collectives and reports, where it is measured.
    std::optional<double> working;
    std::optional<double> others_working;
  };
  /// All ranks have come to the report. A rank that has been slower by far for some reports in a
  /// row is named, once an attempt.
  std::optional<Straggler> complete();
  /// What a rank's loop has done so far. Once every rank has made steps since the last comparison,
  /// they are compared again; a rank is named as by `complete`.
  std::optional<Straggler> progressed(int rank, const LoopProgress& progress);

  /// From the last report but one to the last; unset before the rank's first report.
  std::optional<Duration> took(int rank) const { return took_.at(static_cast<std::size_t>(rank)); }

  /// How much slower than the median of the others, and in how many comparisons in a row.
  static constexpr double slower_by = 2;
  static constexpr Duration slower_by_at_least = std::chrono::milliseconds(500);
  static constexpr int reports_in_a_row = 3;
  static constexpr Duration step_slower_by_at_least = std::chrono::milliseconds(5);
  static constexpr int steps_in_a_row = 5;

 private:
  /// A rank that was the slowest by far, and how often in a row.
  struct Suspect {
    int rank = -1;
    int in_a_row = 0;
  };
  struct Steps {
    LoopProgress compared;  ///< At the last comparison.
    LoopProgress latest;
  };

  std::optional<Straggler> judge(Suspect& suspect, Straggler found, Duration least, int in_a_row);
  std::optional<Straggler> compare_steps();

  std::vector<std::optional<Duration>> took_;
  std::int64_t complete_ = 0;  ///< Reports so far; the first one has what is done only once.
  Suspect by_reports_;
  std::vector<Steps> steps_;
  Suspect by_steps_;
  bool told_ = false;
};

/// "rank 1 (pid 4711 on host a) is 3.1 x slower than the other ranks: ...". `name` is the rank's.
std::string straggler_text(const StragglerWatch::Straggler& straggler, const std::string& name);

}  // namespace headway::control
