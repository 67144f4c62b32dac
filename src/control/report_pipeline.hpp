#pragma once

#include "control/checkpoint_book.hpp"
#include "control/commands.hpp"
#include "control/events.hpp"
#include "control/report_barrier.hpp"
#include "control/worker_group.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::control {

/// A checkpoint between its ranks' offers and its commit.
struct PendingCheckpoint {
  std::string name;
  UploadPlan plan;
  bool asynchronous = false;
  bool begun = false;
  bool committing = false;
  Time since{};  ///< When what it waits for was ordered.
  /// Its commit is said to have failed; the manifest may be there all the same.
  bool maybe_committed = false;
  std::set<int> uploading;
  std::vector<FileRecord> files;
  std::optional<std::string> stored_name;  ///< Where the user's function has put it.
  /// Ranks whose nodes do not see the checkpoint's directory.
  std::vector<int> unseen_by;
  /// Why it fails. Said once no rank writes any more: what the ranks wrote is then discarded.
  std::optional<std::string> refusal;
  bool storage_failed = false;  ///< It fails because it could not be stored.
};

/// A report that all ranks have made, until it is recorded.
struct PendingReport {
  std::int64_t index = 0;
  JsonObject metrics;
  std::optional<std::vector<JsonObject>> rank_metrics;  ///< Where the front end has callbacks.
  std::optional<PendingCheckpoint> checkpoint;
  std::optional<ValidationTask> validation = {};
  std::optional<JsonObject> data = {};  ///< For the checkpoint's manifest.
  bool answered = false;
  bool after_notice = false;  ///< The ranks made it when the driver was about to end.
  bool dropped = false;       ///< It had a checkpoint, which could not be stored and is dropped.
  /// Metrics that were to be reduced over the ranks and are no numbers of rank 0's.
  std::vector<std::string> unreduced = {};
};

/// The reports of an attempt, from the ranks' offers to the moment when each one is recorded or
/// refused.
///
/// A report is open until every rank has made it. Then it is pending, behind those that came
/// before, while its checkpoint's directory is made, its ranks store their files, and its manifest
/// is written. Reports are recorded, and checkpoints committed, in order; one commit at a time. The
/// caller gives the orders, hands in their outcomes, and asks for the next `step`. Pending reports
/// outlive their attempt.
class ReportPipeline {
 public:
  /// `storage_path` is for messages.
  explicit ReportPipeline(std::string storage_path) : storage_path_(std::move(storage_path)) {}

  /// Asynchronous checkpoints that may be under way at once; the report of one more waits.
  static constexpr std::size_t asynchronous_max = 2;

  /// Nobody has made a report of the new attempt yet. Only when nothing is pending.
  void begin_attempt(int world_size);

  // The open report:

  /// Takes a rank's offer. False when it is not the rank's next one (a defect of the peer).
  bool offer(int rank, ReportBarrier::Offer offer, Time now);
  const ReportBarrier& open() const { return barrier_; }
  /// When the first rank came to it.
  Time open_since() const { return open_since_; }
  /// Every rank has come to it: takes it out and opens the next one. A checkpoint gets its name,
  /// the book's next one where the ranks gave none; one that cannot be stored has its refusal.
  PendingReport take(Time now, bool with_rank_metrics, CheckpointBook& book);
  /// Every rank has come to it, to hear of an earlier failure: opens the next one. Its index.
  std::int64_t drop();
  /// A warning when several ranks put files of one name into a checkpoint; only the first time.
  std::optional<std::string> same_name_warning(const PendingCheckpoint& checkpoint);
  /// A warning of metrics that could not be reduced; only the first time.
  std::optional<std::string> unreduced_warning(const PendingReport& report);

  // Pending reports:

  void push(PendingReport report) { pending_.push_back(std::move(report)); }
  const std::deque<PendingReport>& pending() const { return pending_; }
  bool empty() const { return pending_.empty(); }
  /// Whether a checkpoint is on its way to storage.
  bool any_checkpoint() const;
  /// The ranks that store files.
  std::set<int> storing() const;

  /// The uploads that a checkpoint's plan wants; it is refused where a rank's process is gone.
  std::vector<UploadFiles> order_uploads(PendingReport& report, int attempt, const WorkerGroup& group) const;
  /// A checkpoint's directory is made, or could not be. nullptr when nobody waits for that.
  PendingReport* begun(std::int64_t index, const std::optional<Error>& error, Time now);
  /// A rank has stored its part. False when nobody waits for that.
  bool uploaded(const RankUploaded& event);
  /// A process that is gone uploads nothing any more. True when somebody waited for that.
  bool rank_is_gone(int rank, const WorkerGroup& group);

  enum class Step {
    wait,    ///< For an event.
    record,  ///< Record it, then `pop` it.
    forget,  ///< Only `pop` it: it has no checkpoint, and nothing can be recorded.
    refuse,  ///< It fails for its checkpoint's refusal: then `pop` it.
    commit   ///< Write its manifest. It waits for the outcome from now on.
  };
  /// What is to be done with the first report. With `lost`, the folder is lost: nothing is
  /// recorded.
  Step step(const WorkerGroup& group, bool group_gone, bool lost, Time now);
  const PendingReport& first() const { return pending_.front(); }
  void pop() { pending_.pop_front(); }

  /// The first report, when this is its commit's outcome: from now on nothing is waited for. Else
  /// nullptr.
  PendingReport* committed(std::int64_t index);

  /// The newest report, when its ranks may continue beside its checkpoint; nullptr when they may
  /// not or have.
  PendingReport* asynchronous_answer();

  // A report that was answered, and whose checkpoint failed afterwards:

  /// The next report raises it.
  void fail_later(std::string error) { upload_error_ = std::move(error); }
  const std::optional<std::string>& error() const { return upload_error_; }
  std::optional<std::string> take_error() { return std::exchange(upload_error_, std::nullopt); }

 private:
  PendingReport* with_checkpoint(std::int64_t index);
  void open_checkpoint(PendingReport& report, Time now, CheckpointBook& book);

  std::string storage_path_;
  ReportBarrier barrier_;
  Time open_since_{};
  std::deque<PendingReport> pending_;
  std::optional<std::string> upload_error_;
  bool warned_same_name_ = false;
  bool warned_unreduced_ = false;
};

/// Why nothing can be stored in a folder that is gone or somebody else's.
inline constexpr const char* folder_is_lost = "the run's folder is lost";

}  // namespace headway::control
