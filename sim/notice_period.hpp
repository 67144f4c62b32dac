#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <optional>

namespace headway::sim {

/// The time that a driver leaves its ranks after SIGTERM, by an independent model.
class NoticePeriod {
 public:
  /// The driver received SIGTERM, for the first time or again.
  void begin(Time now, Duration notice) {
    until_ = until_ ? now : now + notice;
    end_by_ = std::min(end_by_.value_or(*until_ + end_bound), *until_ + end_bound);
  }
  bool begun() const { return until_.has_value(); }
  /// The ranks lose nothing from now on: what they had is stored, or the group is broken.
  void cut(Time now) {
    if (until_) until_ = std::min(*until_, now);
  }
  /// Whether ranks at work may be ended.
  bool over(Time now) const { return until_ && *until_ <= now; }
  /// When the run must have ended; a fault may hold it up.
  Time end_by(Time last_fault) const { return std::max(*end_by_, last_fault + end_bound); }

 private:
  /// A killed process may be slow to go, and storage to answer.
  static constexpr Duration end_bound = std::chrono::minutes(3);

  std::optional<Time> until_;
  std::optional<Time> end_by_;
};

}  // namespace headway::sim
