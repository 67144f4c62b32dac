#pragma once

#include "core/collectives.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// A collective in which ranks have been for long.
struct StuckCollective {
  std::string group;
  std::int64_t sequence = 0;
  Time since{};
  std::vector<int> waiting;  ///< Those inside.
  std::vector<int> awaited;  ///< Those that have not entered; all of the group when every one has.
  /// Of the awaited: those that know the group, and have answered that they have not entered.
  std::vector<int> absent;
  int looks = 0;     ///< How many looks, one after the other, have found it.
  std::string name;  ///< "gloo:all_reduce [4] Float #7 of process group world"
  /// "rank 1 has not entered gloo:all_reduce #7 of default_pg, in which rank 0 has been"
  std::string sentence;
};

/// Finds ranks that are held up inside a collective. They can't be seen waiting from outside, so
/// the ranks are asked: but only when nobody has reported for a while, so that a run that goes well
/// pays nothing.
class CollectiveWatch {
 public:
  /// `every`: how long a collective may last, and how long after each sign of life the ranks are
  /// asked; none: never.
  explicit CollectiveWatch(std::optional<Duration> every) : every_(every) {}

  struct Step {
    std::optional<Time> wake_at;       ///< Ask for a timer, and call `woken` when it fires.
    std::optional<std::int64_t> look;  ///< Ask every rank for its position.
  };

  /// A new attempt, or every rank has made a report: what was known is past.
  void restart(Time now, int world_size);
  /// After everything that happened. `idle`: the ranks are training, and none waits in a report.
  /// `disturbed`: ranks are being looked at, and may answer late.
  Step advance(Time now, bool idle, bool disturbed);
  void woken() { armed_.reset(); }
  /// Asks beside the usual times, to have the positions for a message.
  std::int64_t look_now();
  void seen(Time now, int rank, std::int64_t look, std::vector<GroupPosition> positions);

  const std::optional<StuckCollective>& stuck() const { return stuck_; }
  /// The oldest collective in which one of `awaited` was seen, while one of `reporting`, which has
  /// not entered it, waits for that rank in a report. Empty: none.
  std::string crossed(const std::vector<int>& awaited, const std::vector<int>& reporting) const;
  /// One line a rank on where it was seen last; empty when nobody has been asked since the last
  /// report.
  std::string describe_positions(Time now) const;

 private:
  struct Answer {
    Time at{};
    std::vector<GroupPosition> positions;
  };

  void judge(Time now);
  void add_candidate(std::vector<StuckCollective>& found, const GroupPosition& position, const OpenCollective& open,
                     Time entered) const;
  bool has_entered(int rank, const std::string& group, std::int64_t sequence) const;
  bool is_absent(int rank, const std::string& group, std::int64_t sequence) const;
  const OpenCollective* open_in(int rank, const std::string& group, std::int64_t sequence) const;
  const OpenCollective* first_open(int rank, const std::string& group) const;
  bool is_held_up(int rank, Time now) const;
  Duration patience() const;

  std::optional<Duration> every_;
  int world_size_ = 0;
  Time next_look_{};
  std::optional<Time> armed_;
  std::optional<Time> answers_due_;
  std::int64_t looks_ = 0;
  std::map<int, Answer> answers_;  ///< To the last look, by rank.
  std::optional<StuckCollective> stuck_;
};

}  // namespace headway::control
