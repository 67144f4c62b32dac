#pragma once

#include "core/rank_words.hpp"
#include "core/time.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// "30.0 s".
std::string seconds_text(Duration duration);

/// Where one rank of an attempt stands.
enum class RankPhase { starting, ready, training, reporting, gathering, returned, raised, exited };
BOOST_DESCRIBE_ENUM(RankPhase, starting, ready, training, reporting, gathering, returned, raised, exited)

struct RankState {
  WorkerPlan plan;
  RankPhase phase = RankPhase::starting;
  std::int64_t pid = 0;
  std::int64_t reports = 0;      ///< Reports begun so far.
  std::int64_t collectives = 0;  ///< Barriers and broadcasts begun so far.
  Time since{};                  ///< When it entered its phase, or last left a report.
  bool echo = false;             ///< It failed because a rank that it talks to was gone.
  int open_calls = 0;            ///< Of the front end's hooks.
  /// Its process has ended; a rank that had returned before that stays in its phase.
  bool gone = false;
};

/// The model of one attempt's worker group: one entry a rank.
class WorkerGroup {
 public:
  WorkerGroup() = default;

  /// Ranks in the order of their slots; ranks on one node are neighbours in local rank.
  static WorkerGroup place(const std::vector<Slot>& slots, Time now);

  int size() const { return static_cast<int>(ranks_.size()); }
  RankState& at(int rank) { return ranks_.at(static_cast<std::size_t>(rank)); }
  const RankState& at(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)); }
  const std::vector<RankState>& ranks() const { return ranks_; }
  std::vector<WorkerPlan> plans() const;

  bool valid(int rank) const { return rank >= 0 && rank < size(); }
  int count_in(RankPhase phase) const {
    const auto found = in_phase_.find(phase);
    return found == in_phase_.end() ? 0 : found->second;
  }
  bool all_in(RankPhase phase) const { return count_in(phase) == size(); }
  /// The ranks whose processes have not ended.
  std::vector<int> alive() const;
  void enter(int rank, RankPhase phase, Time now);

  /// The run had this many reports before the attempt.
  void count_reports_from(std::int64_t reports) { reports_before_ = reports; }
  /// One of the attempt's reports was refused: the next one has its number.
  void report_refused() { --reports_before_; }
  /// The place among the run's reports, from 0, of the attempt's report `index`.
  std::int64_t place_of_report(std::int64_t index) const { return reports_before_ + index; }
  /// "report #8", as the run's results number it: from 1, over all attempts.
  std::string report_name(std::int64_t index) const;

  /// "rank 1 (pid 4711 on host a)".
  std::string name_of(int rank) const;

  /// One line a rank other than `except` about what it is doing, such as "rank 0: waiting in report
  /// #3 for 1.2 s".
  std::string describe_others(int except, Time now) const;

 private:
  std::string doing(const RankState& rank, Time now) const;

  std::vector<RankState> ranks_;
  std::int64_t reports_before_ = 0;
  /// How many; counted along, as it is asked at each event of thousands of ranks.
  std::map<RankPhase, int> in_phase_;
};

}  // namespace headway::control
