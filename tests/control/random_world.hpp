#pragma once

#include "control/rig.hpp"

#include <functional>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

/// Drivers, ranks and disks that do what they are asked in any order, and break now and then: all by one seed. What must hold
/// whatever happens is checked at every command; a breach throws its description.
namespace headway::control {

class RandomWorld {
 public:
  explicit RandomWorld(std::uint64_t seed) : random_(seed), controller_(random_spec(seed)) {
    faults_left_ = below(7);
    reports_planned_ = below(7);
    asynchronous_ = one_in(2);
    send(StartAsked{});
  }

  /// Until the run is over. Faults end at some point; from then on it must end too.
  void run() {
    constexpr int steps_max = 20'000;
    for (int step = 0; step < steps_max && !finished_; ++step) this->step();
    check(finished_, "the run does not end");
    check(nodes_held_ == 0, "nodes are held after the end");
    check(controller_.handle(now_, AbortAsked{"late"}).empty(), "a command after Finish");
  }

 private:
  enum class Phase { starting, ready, training, waiting, done, ended };
  struct Rank {
    Phase phase = Phase::starting;
    std::int64_t reports = 0;
    std::int64_t planned = 0;
    bool told_to_end = false;
  };

  static void check(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
  }
  int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  bool one_in(int n) { return below(n) == 0; }
  bool fault(int one_in_n) {
    if (faults_left_ == 0 || !one_in(one_in_n)) return false;
    --faults_left_;
    return true;
  }
  std::optional<Error> maybe_error(int one_in_n = 6) {
    return fault(one_in_n) ? std::optional(Error{ErrorKind::unavailable, "fault"}) : std::nullopt;
  }

  RunSpec random_spec(std::uint64_t seed) {
    RunSpec spec = spec_of(1 + below(4), std::vector<int>{0, 1, 3, -1}[static_cast<std::size_t>(below(4))]);
    if (one_in(2)) spec.checkpoint.num_to_keep = 1 + below(3);
    if (one_in(2)) spec.checkpoint.checkpoint_score_attribute = "score";
    if (one_in(4)) spec.failure.hang_fail_s = 40;
    spec.collectives = one_in(2);
    if (seed % 3 == 0) spec.run.storage_path = "s3://bucket/runs";
    spec.sync.sync_artifacts = one_in(3);
    spec.sync.sync_artifacts_on_checkpoint = one_in(2);
    ranks_.resize(static_cast<std::size_t>(spec.scaling.num_workers));
    return spec;
  }

  void send(const Event& event) {
    now_ += std::chrono::milliseconds(below(50));
    for (const Command& command : controller_.handle(now_, event)) {
      check(!finished_, "a command after Finish");
      std::visit([this](const auto& what) { carry_out(what); }, command);
    }
  }
  void send_of_attempt(const Event& event) {
    said_.push_back(event);
    send(event);
  }

  void step() {
    if (fault(200)) return send(AbortAsked{"fault"});
    if (!older_.empty() && one_in(10))
      return ignored(older_[static_cast<std::size_t>(below(static_cast<int>(older_.size())))]);
    std::vector<std::function<void()>> moves;
    for (std::size_t i = 0; i < answers_.size(); ++i) moves.push_back([this, i] { give_answer(i); });
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      if (can_move(rank)) moves.push_back([this, rank] { move(rank); });
    }
    if (group_alive_ && all_ended()) {
      moves.push_back([this] {
        group_alive_ = false;
        send_of_attempt(GroupEnded{attempt_});
      });
    }
    if (moves.empty() || one_in(12)) {
      if (!timers_.empty()) return fire_timer();
      check(!moves.empty(), "nothing is under way and the run is not over: it hangs");
    }
    moves[static_cast<std::size_t>(below(static_cast<int>(moves.size())))]();
  }

  void ignored(const Event& event) {
    check(controller_.handle(now_, event).empty(), "an event of an older attempt has an effect");
  }

  void give_answer(std::size_t i) {
    const auto answer = std::move(answers_[i]);
    answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(i));
    answer();
  }
  void fire_timer() {
    const auto next =
        std::min_element(timers_.begin(), timers_.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    now_ = std::max(now_, next->at);
    const std::int64_t timer = next->timer;
    timers_.erase(next);
    send(TimerFired{timer});
  }

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  /// Whether some rank has ended: its files' upload was open and never will be answered.
  bool writers_ended() const {
    return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.phase == Phase::ended; });
  }
  bool all_ended() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.phase == Phase::ended; });
  }
  bool can_move(int rank) {
    if (!group_alive_ || at(rank).phase == Phase::ended) return false;
    return at(rank).told_to_end || at(rank).phase == Phase::starting || at(rank).phase == Phase::training ||
           faults_left_ > 0;
  }

  void move(int rank) {
    if (at(rank).told_to_end || fault(30)) return end(rank);
    switch (at(rank).phase) {
      case Phase::starting:
        at(rank).phase = Phase::ready;
        send_of_attempt(WorkerReady{attempt_, rank, 1000 + rank});
        break;
      case Phase::training: train(rank); break;
      default: break;
    }
  }
  void end(int rank) {
    at(rank).phase = Phase::ended;
    send_of_attempt(WorkerExited{attempt_, rank, {!one_in(3), below(3), ""}, ""});
  }
  void train(int rank) {
    if (fault(20)) {
      at(rank).phase = Phase::done;
      send_of_attempt(RankRaised{attempt_, rank, {"E", "fault", "", one_in(2)}});
    } else if (at(rank).reports < at(rank).planned) {
      at(rank).phase = Phase::waiting;
      std::optional<CheckpointOffer> offer;
      if (one_in(2)) offer = files({one_in(2) ? "model" : "shard_" + std::to_string(rank)});
      if (offer) offer->asynchronous = asynchronous_ && !one_in(4);
      send_of_attempt(RankReported{attempt_, rank, at(rank).reports++, {{"score", below(4)}}, offer});
    } else {
      at(rank).phase = Phase::done;
      send_of_attempt(RankReturned{attempt_, rank});
    }
  }

  void later(std::function<void()> answer) { answers_.push_back(std::move(answer)); }

  void carry_out(const PrepareStorage&) {
    later([this] { send(StoragePrepared{maybe_error(40)}); });
  }
  void carry_out(const AcquireNodes&) {
    ++nodes_held_;
    later([this] {
      if (fault(40)) return send(NodesRefused{{ErrorKind::unavailable, "fault"}});
      send(NodesGranted{std::vector<Slot>(ranks_.size(), Slot{"a", "a", "a", 1, {}}), {}});
    });
  }
  void carry_out(const ReleaseNodes&) { --nodes_held_; }
  void carry_out(const StartWorkers& command) {
    check(!group_alive_, "attempt " + std::to_string(command.attempt) + " starts before the one before it has ended");
    check(command.attempt == attempt_ + 1, "an attempt is left out");
    check(commits_open_ == 0, "an attempt starts while a commit is under way");
    const auto newest = committed_.empty() ? std::nullopt : std::optional(committed_.back());
    check(command.checkpoint == newest, "an attempt does not resume from the newest committed checkpoint");
    attempt_ = command.attempt;
    older_.insert(older_.end(), said_.begin(), said_.end());
    said_.clear();
    group_alive_ = true;
    uploads_open_.clear();
    const bool unequal = fault(8);
    for (Rank& rank : ranks_) rank = {Phase::starting, 0, unequal ? below(5) : reports_planned_, false};
  }
  void carry_out(const RunSetup& command) {
    later([this, attempt = command.attempt] {
      const auto error = fault(8) ? std::optional(RankError{"E", "fault", "", false}) : std::nullopt;
      send(SetupFinished{attempt, error});
    });
  }
  void carry_out(const BeginTraining&) {
    for (Rank& rank : ranks_) {
      if (rank.phase == Phase::ready) rank.phase = Phase::training;
    }
  }
  void carry_out(const BeginCheckpoint& command) {
    check(names_.insert(command.name).second, "a checkpoint's name is used twice");
    later([this, command] { send(CheckpointBegun{command.attempt, command.index, maybe_error()}); });
  }
  void carry_out(const UploadFiles& command) {
    ++uploads_open_[command.name];
    later([this, command] {
      if (command.attempt != attempt_) return;
      --uploads_open_[command.name];
      if (at(command.rank).phase == Phase::ended) return;
      const auto error = fault(6) ? std::optional<std::string>("fault") : std::nullopt;
      send_of_attempt(RankUploaded{command.attempt, command.rank, command.index, {}, error});
    });
  }
  void carry_out(const CommitCheckpoint& command) {
    ++commits_open_;
    later([this, command] {
      --commits_open_;
      const auto error = maybe_error();
      if (!error) committed_.push_back(command.manifest.checkpoint);
      send(CheckpointCommitted{command.index, error});
      check(error || controller_.book().newest() == committed_.back(), "a committed checkpoint is not in the book");
    });
  }
  void carry_out(const DiscardCheckpoint& command) {
    check(uploads_open_[command.name] == 0 || !group_alive_ || writers_ended(),
          "what ranks still write to is discarded");
    check(std::find(committed_.begin(), committed_.end(), command.name) == committed_.end(),
          "a committed one is discarded");
  }
  void carry_out(const DeleteCheckpoint& command) {
    const auto found = std::find(committed_.begin(), committed_.end(), command.name);
    check(found != committed_.end(), "what was never committed, or is gone already, is deleted");
    check(command.name != committed_.back(), "a checkpoint is deleted before a newer one is committed");
    later([this, command] {
      const auto error = maybe_error();
      if (!error) std::erase(committed_, command.name);
      send(CheckpointDeleted{command.name, error});
    });
  }
  void carry_out(const SyncArtifacts& command) {
    check(!sync_open_, "a copy of artifacts begins beside another");
    sync_open_ = command.number;
    synced_ = false;
    later([this, command, of_all = !group_alive_] {
      const auto error = fault(6) ? std::optional<std::string>("fault") : std::nullopt;
      if (sync_open_ == command.number) {
        sync_open_.reset();
        synced_ = of_all && !error;
      }
      send(ArtifactsSynced{command.number, error});
    });
  }
  void carry_out(const StopSync& command) {
    check(sync_open_ == command.number, "a copy that is over is stopped");
    sync_open_.reset();
  }
  void carry_out(const LeaveWorkingDirectory& command) {
    check(!group_alive_, "the working directory is left while ranks are in it");
    check(!sync_open_, "the working directory is left while it is copied");
    check(command.synced == synced_, "the working directory may go though it was not copied, or may not though it was");
  }
  void carry_out(const AnswerReport& command) {
    check(answered_.insert({command.attempt, command.rank, command.index}).second, "a report is answered twice");
    if (command.attempt == attempt_ && at(command.rank).phase == Phase::waiting)
      at(command.rank).phase = Phase::training;
  }
  void carry_out(const AnnounceCheckpoint& command) {
    check(!committed_.empty() && committed_.back() == command.name, "a checkpoint is announced that is not the newest");
  }
  void carry_out(const AppendResult& command) {
    const std::pair place(command.line.attempt, command.line.index);
    check(place > last_appended_, "a report is recorded twice or out of order");
    check(command.line.iteration == ++appended_, "an iteration is left out");
    last_appended_ = place;
  }
  void carry_out(const RunTeardown& command) {
    later([this, attempt = command.attempt] { send(TeardownFinished{attempt}); });
  }
  void carry_out(const EndWorkers& command) {
    check(!command.reason.empty(), "processes are ended without a reason");
    for (Rank& rank : ranks_) {
      if (command.mode == EndMode::kill || !fault(4)) rank.told_to_end = true;
    }
  }
  void carry_out(const ExamineRanks& command) {
    later([this, command] { send(RanksExamined{command.attempt, command.examination, {}, ""}); });
  }
  void carry_out(const LookAtCollectives& command) {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      if (at(rank).phase == Phase::ended || one_in(8)) continue;
      const auto entered = static_cast<std::int64_t>(below(3));
      const GroupPosition position{"0", {0, 1, 2, 3}, entered, {{entered, "all_reduce", below(60) * 1.0}}};
      later(
          [this, command, rank, position] { send(CollectivesSeen{command.attempt, rank, command.look, {position}}); });
    }
  }
  void carry_out(const InterruptHook&) {}
  void carry_out(const SweepStorage&) { check(!group_alive_ && commits_open_ == 0, "a sweep while somebody writes"); }
  void carry_out(const SetTimer& command) { timers_.push_back(command); }
  void carry_out(const SyncFolder&) {
    check(++syncs_open_ == 1, "two syncs at once");
    later([this] {
      --syncs_open_;
      send(FolderSynced{maybe_error()});
    });
  }
  void carry_out(const WriteJournal& command) {
    to_delete_.clear();
    for (const Json& name : command.snapshot.at("to_delete").get_array()) to_delete_.emplace_back(name.get_string());
    ++journals_open_;
    later([this] {
      --journals_open_;
      send(JournalWritten{maybe_error()});
    });
  }
  void carry_out(const Warn&) {}
  void carry_out(const Notify&) {}
  void carry_out(const Finish& command) {
    check(!finished_, "Finish is given twice");
    check(!group_alive_, "the run is over while processes live");
    check(journals_open_ == 0, "the run is over while a journal is written");
    check(command.outcome.failure.has_value() == (command.outcome.state != "finished"), "a failure without its state");
    std::vector<std::string> kept;
    for (const KeptCheckpoint& checkpoint : command.outcome.checkpoints) kept.push_back(checkpoint.name);
    kept.insert(kept.end(), to_delete_.begin(), to_delete_.end());
    std::sort(kept.begin(), kept.end());
    std::sort(committed_.begin(), committed_.end());
    check(kept == committed_, "the outcome and the journal do not name the checkpoints that are there");
    finished_ = true;
  }

  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  RunController controller_;
  Time now_{};
  int faults_left_ = 0;
  std::int64_t reports_planned_ = 0;
  int attempt_ = 0;
  bool group_alive_ = false;
  bool finished_ = false;
  int nodes_held_ = 0;
  std::map<std::string, int> uploads_open_;  ///< By checkpoint.
  bool asynchronous_ = false;                ///< Whether ranks may report asynchronously in this world.
  int commits_open_ = 0;
  int journals_open_ = 0;
  std::vector<std::function<void()>> answers_;
  std::vector<SetTimer> timers_;
  int syncs_open_ = 0;
  std::vector<Event> said_;   ///< Of this attempt.
  std::vector<Event> older_;  ///< Of those before; they come again at any time.
  std::set<std::string> names_;
  std::optional<std::int64_t> sync_open_;
  bool synced_ = false;                 ///< All that the ranks wrote is copied.
  std::vector<std::string> to_delete_;  ///< As the newest journal says.
  std::vector<std::string> committed_;  ///< And not deleted, in order of commit.
  std::set<std::tuple<int, int, std::int64_t>> answered_;
  std::pair<int, std::int64_t> last_appended_{0, -1};
  std::int64_t appended_ = 0;
};

}  // namespace headway::control
