#pragma once

#include "control/commands.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::sim {

/// The run's folder, and the thread of the driver that works on it: one operation after another, as they were asked for. What an
/// operation has done stays when the driver dies; what it had not begun with is never done.
class Storage {
 public:
  struct Directory {
    bool begun = false;  ///< By us, and not committed: ours to remove.
    bool committed = false;
    Manifest manifest;                            ///< When committed.
    std::set<std::pair<int, std::string>> whole;  ///< Files that are stored to their end, with the rank that did it.
    std::set<int> writers;                        ///< Ranks that are writing to it.
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
  /// The driver is dead: what it had asked for and was not begun with is never done.
  void driver_died();

  // What ranks do:
  /// False when there is nothing that was begun under this name.
  bool open_for(int rank, const std::string& name);
  void stored(int rank, const std::string& name, const std::vector<std::string>& files);
  void close_for(int rank, const std::string& name);
  /// The user has stored a checkpoint himself.
  void placed(const std::string& name) { directories_[name]; }

  // What is there:
  bool committed(const std::string& name) const;
  const std::map<std::string, Directory>& directories() const { return directories_; }
  const std::vector<ReportLine>& results() const { return results_; }
  /// Whether it may still be there because its removal failed.
  bool removal_failed(const std::string& name) const { return removals_failed_.contains(name); }

 private:
  /// Does `work` when all that was asked for before is done.
  void ask(std::function<void()> work);
  void tell(control::Event event);
  void check_whole(const Manifest& manifest, const Directory& directory) const;

  Stage* stage_;
  const Scenario* scenario_;
  std::map<std::string, Directory> directories_;
  std::vector<ReportLine> results_;
  std::optional<decltype(control::WriteJournal::snapshot)> journal_;
  Time busy_until_{};
  int driver_ = 0;
  bool syncing_ = false;
  std::set<std::string> removals_failed_;
};

}  // namespace headway::sim
