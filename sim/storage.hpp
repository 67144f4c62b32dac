#pragma once

#include "control/commands.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::sim {

/// The run's folder, and the thread of the driver that works on it: one operation after another, as
/// they were asked for. What an operation has done stays when the driver dies; what it had not
/// begun with is never done.
class Storage {
 public:
  struct Directory {
    bool begun = false;  ///< By us, and not committed: ours to remove.
    bool committed = false;
    Manifest manifest;  ///< When committed.
    bool lied = false;  ///< Its commit was said to have failed.
    /// Its commit's place among all commits and journals.
    std::int64_t deed = 0;
    /// Files that are stored to their end, with the rank that did it.
    std::set<std::pair<int, std::string>> whole;
    std::set<int> writers;  ///< Ranks that are writing to it.
  };

  Storage(Stage& stage, const Scenario& scenario) : stage_(&stage), scenario_(&scenario) {}

  // The driver's commands:
  void prepare();
  void begin(const control::BeginCheckpoint& command);
  void commit(const control::CommitCheckpoint& command);
  void discard(const control::DiscardCheckpoint& command);
  void remove(const control::DeleteCheckpoint& command);
  void append(const control::AppendResult& command);
  void sweep();
  void sync();
  void write_journal(const control::WriteJournal& command);
  /// The driver is dead: what it had asked for and was not begun with is never done; nobody hears
  /// how the rest ended.
  void driver_died();
  /// The driver has ended: all that it had asked for is done, and nobody hears of it.
  void driver_ended();

  // What ranks do:
  /// False when there is nothing that was begun under this name.
  bool open_for(int rank, const control::UploadFiles& order);
  void stored(int rank, const std::string& name, const std::vector<std::string>& files);
  void close_for(int rank, const std::string& name);
  /// The user has stored a checkpoint himself.
  void placed(const std::string& name) { directories_[name]; }

  // What is there:
  bool committed(const std::string& name) const;
  const std::map<std::string, Directory>& directories() const { return directories_; }
  const std::vector<ReportLine>& results() const { return results_; }
  /// Whether the results have a report's line.
  bool has_line(int attempt, std::int64_t index) const;
  /// Whether it could not be written.
  bool line_failed(int attempt, std::int64_t index) const { return lines_failed_.contains({attempt, index}); }
  /// Whether it may still be there because its removal failed.
  bool removal_failed(const std::string& name) const { return removals_failed_.contains(name); }
  /// Committed checkpoints, in order of commit.
  std::vector<Manifest> checkpoints() const;
  /// What the journal gives up, without what was committed under such a name later.
  std::set<std::string> given_up() const;

 private:
  /// What a new driver finds; nothing when no journal was ever written.
  std::optional<control::FoundRun> found() const;
  /// Does `work` when all that was asked for before is done.
  void ask(std::function<void()> work);
  void tell(control::Event event);
  /// What is wrong with the folder, if it is deleted or another driver's.
  std::optional<Error> trouble();
  void check_whole(const Manifest& manifest, const Directory& directory) const;

  Stage* stage_;
  const Scenario* scenario_;
  std::map<std::string, Directory> directories_;
  std::vector<ReportLine> results_;
  std::set<std::pair<int, std::int64_t>> lines_failed_;  ///< Attempt and report.
  std::optional<decltype(control::WriteJournal::snapshot)> journal_;
  std::int64_t journal_deed_ = 0;
  std::int64_t deeds_ = 0;
  Time busy_until_{};
  std::deque<std::function<void()>> asked_;  ///< In order; the first one is begun with.
  std::optional<Error> trouble_;
  int driver_ = 0;
  bool syncing_ = false;
  bool began_anew_ = false;  ///< The driver found no journal.
  std::set<std::string> removals_failed_;
};

}  // namespace headway::sim
