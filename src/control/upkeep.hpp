#pragma once

#include "control/events.hpp"
#include "control/outbox.hpp"
#include "control/sync_schedule.hpp"
#include "core/config.hpp"

#include <optional>

namespace headway::control {

/// What is brought to storage beside the training: the run's small files where storage is remote,
/// the ranks' working directories, the journal. Each of these goes there once at a time; the end of
/// a run waits for what is under way.
class Upkeep {
 public:
  Upkeep(SyncConfig artifacts, bool remote_storage) : artifacts_(artifacts), remote_(remote_storage) {}

  /// How often the small files of a run on remote storage are brought there, beside each commit and
  /// the end.
  static constexpr Duration sync_interval = std::chrono::seconds(30);
  /// How long an aborted run's working directories may take to be brought to storage.
  static constexpr Duration abort_sync_grace = std::chrono::seconds(5);

  /// The folder is gone or somebody else's: from now on nothing is brought there.
  void lose_folder() { lost_ = true; }

  // The run's small files:

  /// From an attempt's start to its end.
  void begin_folder_syncs(Outbox& out);
  void folder_sync_is_due(Outbox& out);
  /// Not while one is under way: what it misses, the next one brings.
  void sync_folder(Outbox& out);
  /// Its outcome, unless it says that the run is another driver's.
  void folder_synced(const std::optional<Error>& error, Outbox& out);

  // The ranks' working directories:

  /// From the driver's first attempt on; a restart changes nothing about it.
  void begin_copies(Outbox& out);
  void copy_is_due(Outbox& out);
  /// A checkpoint is committed.
  void copy_after_checkpoint(Outbox& out);
  void copied(const ArtifactsSynced& event, Outbox& out);
  /// The copy under way has had its time. False when no copy is under way.
  bool stop_slow_copy(Outbox& out);
  /// The run ends. The ranks' directories are copied a last time if there were any
  /// (`ranks_worked`).
  void close(bool ranks_worked, bool aborted, Outbox& out);
  bool copying() const { return artifacts_.under_way().has_value(); }
  /// Whether the last copy has everything, so that nothing need be left on the nodes.
  bool all_copied() const { return !lost_ && artifacts_.complete(); }

  // The journal:

  void journal_ordered() { ++journals_under_way_; }
  void journal_written() { --journals_under_way_; }
  bool writing_journal() const { return journals_under_way_ > 0; }
  /// The last journal is ordered; it comes once.
  void order_last_journal() { last_journal_ = true; }
  bool last_journal_ordered() const { return last_journal_; }

 private:
  void copy(Outbox& out);
  Duration last_limit() const { return aborted_ ? abort_sync_grace : artifacts_.timeout(); }

  SyncSchedule artifacts_;
  bool remote_;
  bool lost_ = false;
  bool closing_ = false;
  bool aborted_ = false;  ///< And closing.
  bool syncing_ = false;
  bool sync_failed_ = false;  ///< The last one failed; one warning says so.
  int journals_under_way_ = 0;
  bool last_journal_ = false;
};

}  // namespace headway::control
