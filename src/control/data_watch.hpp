#pragma once

#include "core/stage_counters.hpp"
#include "core/time.hpp"
#include "data/verdict.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// A data set of a run, as data_waits.json has it.
struct DatasetTimes {
  RankCounters ranks;                 ///< Of all ranks and attempts together.
  std::vector<StageCounters> stages;  ///< Those that feed the rank that waited most.
  /// The memory of their data process, what all of its flows hold of it by the newest report, and
  /// the most that they have held.
  std::optional<std::int64_t> budget_bytes;
  std::optional<std::int64_t> held_bytes;
  std::optional<std::int64_t> held_bytes_max;
};
BOOST_DESCRIBE_STRUCT(DatasetTimes, (), (ranks, stages, budget_bytes, held_bytes, held_bytes_max))

/// How long ranks waited for their data sets, as data_waits.json has it.
struct DataTimes {
  data::Verdict verdict;
  /// Of the verdict: the one that ranks waited for the longest.
  std::optional<std::string> dataset;
  std::map<std::string, DatasetTimes> datasets;
};
BOOST_DESCRIBE_STRUCT(DataTimes, (), (verdict, dataset, datasets))

/// Keeps what ranks say of their data sets: how long they waited for batches in all, and who waits
/// for one now.
class DataWatch {
 public:
  /// A new attempt has begun.
  void begin();
  void told(int rank, const DataProgress& progress, Time now);

  /// The rank that has waited for its batch the longest, and since when.
  std::optional<std::pair<int, Time>> longest_starving() const;
  /// Who has waited the longest comes first.
  std::vector<int> starving() const;
  /// "ranks 1 to 3 wait for data: stage map_batches(f) has had no output for 60 s": a line for the
  /// ranks that wait for the same, those of the first rank first. Ranks that do not wait are left
  /// out.
  std::vector<std::string> words(const std::vector<int>& ranks, Time now) const;

  /// Unset where no rank has had a batch.
  std::optional<DataTimes> times() const;
  /// For the file, if it is time to write it again: now and then, or with `always` whenever there
  /// is anything new.
  std::optional<DataTimes> take_times(Time now, bool always);
  /// The verdict for the run's last line; empty where ranks had batches for too short a time.
  std::string verdict_words() const;

  static constexpr Duration times_each = std::chrono::seconds(30);
  /// Of a rank. Less says nothing.
  static constexpr double judged_min_s = 1;

 private:
  struct Starving {
    Time since{};
    Time told{};
    DataProgress progress;
  };
  struct Dataset {
    DatasetTimes before;  ///< Of earlier attempts.
    std::map<int, DataProgress> ranks;
  };

  static DatasetTimes all_of(const Dataset& dataset);

  std::map<std::string, Dataset> datasets_;
  std::map<int, Starving> starving_;
  bool is_new_ = false;
  std::optional<Time> written_at_;
};

}  // namespace headway::control
