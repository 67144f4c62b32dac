#include "sim/invariants.hpp"

#include <algorithm>

/// What is heard and said in general: order, attempts, budgets, the end. Reports and checkpoints:
/// invariants_reports.cpp.
namespace headway::sim {

using namespace control;

namespace {

/// What writes to the run's folder, or starts what does.
template <class C>
constexpr bool writes =
    std::is_same_v<C, StartWorkers> || std::is_same_v<C, BeginCheckpoint> || std::is_same_v<C, UploadFiles> ||
    std::is_same_v<C, CommitCheckpoint> || std::is_same_v<C, DiscardCheckpoint> ||
    std::is_same_v<C, DeleteCheckpoint> || std::is_same_v<C, AppendResult> || std::is_same_v<C, SweepStorage> ||
    std::is_same_v<C, SyncFolder> || std::is_same_v<C, SyncArtifacts> || std::is_same_v<C, WriteJournal> ||
    std::is_same_v<C, KeepStepTimes> || std::is_same_v<C, KeepDataTimes>;

}  // namespace

void Invariants::hears(const Event& event) {
  std::visit([this](const auto& what) { on(what); }, event);
}

void Invariants::on(const StoragePrepared& event) {
  if (finished_) return;  // It was aborted meanwhile.
  prepared_ = !event.error;
  if (event.found) {
    take_up(*event.found);
  } else if (prepared_) {
    began_anew_ = began_anew_ || attempt_ > 0;
    attempt_ = 0;  // Nothing was kept of what an earlier driver may have begun.
    iterations_ = 0;
  }
}

void Invariants::driver_died() {
  prepared_ = abort_asked_ = stop_asked_ = callback_failed_ = nodes_refused_ = group_lives_ = finished_ = false;
  notice_ = NoticePeriod();
  journals_open_ = groups_ = early_deaths_ = unheard_ = 0;
  budgets_ = Budgets(scenario_->spec.scaling, scenario_->spec.failure);
  committing_.reset();
  validations_.clear();
  deaths_.clear();
  questions_.clear();
  journals_.clear();
  outcome_unwritten_ = false;
  timers_.clear();
  returned_.clear();
  reports_.clear();
}

/// What was kept is still there, or went by rule: a commit that nobody had heard of may have come
/// to its end.
void Invariants::take_up(const FoundRun& found) {
  const std::set<std::string> given_up = storage_->given_up();
  for (const std::string& name : retention_.kept()) {
    require(storage_->committed(name) && !given_up.contains(name), invariant::nothing_lost,
            [&] { return name + " is lost with its driver"; });
  }
  retention_.take_up(found.checkpoints, given_up, scenario_->spec.validation.has_function, settled_by(found.journal));
  attempt_ = std::max(found.journal.attempt, found.results.attempt);
  iterations_ = std::max(found.journal.reports, found.results.lines);
  for (const Manifest& manifest : found.checkpoints) {
    attempt_ = std::max(attempt_, manifest.attempt);
    iterations_ = std::max(iterations_, manifest.index + 1);
  }
}

void Invariants::on(const NodesRefused&) { nodes_refused_ = true; }

void Invariants::on(const DriverPreempted& event) {
  notice_.begin(stage_->schedule.now(), from_seconds(event.notice_s));
  budgets_.hears(event);
}

/// Its deadline is sooner than the driver's.
void Invariants::on(const NodePreempted& event) {
  notice_.cut(stage_->schedule.now());
  budgets_.hears(event);
}

void Invariants::on(const NodeLost& event) {
  notice_.cut(stage_->schedule.now());
  budgets_.hears(event, returned_);
}

void Invariants::on(const RankArrived& event) {
  if (event.attempt == attempt_ && group_lives_)
    arrived_[event.index][event.rank] = CollectiveCall{event.kind, event.root};
}

void Invariants::on(const RankReturned& event) {
  if (event.attempt == attempt_ && group_lives_) returned_.insert(event.rank);
}

void Invariants::on(const WorkerExited& event) {
  budgets_.hears(event);
  if (event.attempt != attempt_) return;
  gone_.insert(event.rank);
  notice_.cut(stage_->schedule.now());
}

void Invariants::on(const GroupEnded& event) {
  if (event.attempt != attempt_) return;
  group_lives_ = false;
  group_ended_ = stage_->schedule.now();
}

void Invariants::on(const JournalWritten& event) {
  --journals_open_;
  if (!event.error) durable_outcomes_ = journals_.front();
  journals_.pop_front();
  hears_of_owner(event.error);
}

void Invariants::hears_of_owner(const std::optional<Error>& error) {
  if (error && error->kind == ErrorKind::superseded) folder_lost_ = true;
}

void Invariants::on(const AbortAsked&) { abort_asked_ = true; }

void Invariants::on(const StopAsked&) { stop_asked_ = true; }

void Invariants::on(const FrontFailed&) { callback_failed_ = true; }

void Invariants::on(const ReportHeard&) { --unheard_; }

void Invariants::says(const Command& command) {
  require(!finished_, invariant::one_finish, [&] { return words(command) + " after Finish"; });
  std::visit(
      [this, &command](const auto& what) {
        // Results are facts; everything else that names an attempt asks something of its processes
        // or of its front end.
        if constexpr (requires { what.attempt; } && !std::is_same_v<std::decay_t<decltype(what)>, StartWorkers>) {
          bool asks_somebody = true;
          if constexpr (requires { what.ranks; }) asks_somebody = !what.ranks.empty();
          require(!asks_somebody || (what.attempt == attempt_ && group_lives_), invariant::living_attempts,
                  [&] { return words(command) + ", when attempt " + std::to_string(attempt_) + " has ended"; });
        }
        require(!folder_lost_ || !writes<std::decay_t<decltype(what)>>, invariant::own_folder,
                [&] { return words(command) + " in a folder that is lost"; });
        check(what);
      },
      command);
}

void Invariants::check(const AcquireNodes& command) {
  const ScalingConfig& scaling = scenario_->spec.scaling;
  require(command.workers == scaling.num_workers &&
              command.workers_min == scaling.min_workers.value_or(scaling.num_workers),
          invariant::world_size, "AcquireNodes asks for others");
}

void Invariants::check(const StartWorkers& command) {
  require(!group_lives_ && !workers_->any_process(), invariant::one_group, [&] {
    return "attempt " + std::to_string(command.attempt) + " starts while processes of the last one live";
  });
  require(!committing_, invariant::newest_resumed, "an attempt starts while a commit is under way");
  require(command.attempt == attempt_ + 1, invariant::counted_once, "an attempt is left out");
  require(!abort_asked_ && !stop_asked_ && !callback_failed_ && !notice_.begun(), invariant::liveness,
          "a group starts after the end was asked for");
  std::optional<std::string> expected = scenario_->spec.resume_from_checkpoint;
  if (const auto newest = retention_.newest()) {
    expected = newest;
    require(storage_->committed(*newest), invariant::nothing_lost,
            [&] { return *newest + " is not on disk any more"; });
  }
  require(command.checkpoint == expected, invariant::newest_resumed, [&] {
    return "attempt " + std::to_string(command.attempt) + " gets " + command.checkpoint.value_or("nothing") +
           " instead of " + expected.value_or("nothing");
  });
  check_places(command.plans);
  check_reports_counted();
  if (groups_++ > 0) count_restart(stage_->schedule.now());
  budgets_.begins(command);
  world_size_ = static_cast<int>(command.plans.size());
  attempt_ = command.attempt;
  group_lives_ = true;
  restart_told_ = false;
  returned_.clear();
  gone_.clear();
  arrived_.clear();
  released_ = 0;
  reports_.clear();
  questions_.clear();
  last_counted_ = last_step_ = -1;
  counted_in_attempt_ = 0;
}

void Invariants::check_places(const std::vector<WorkerPlan>& plans) const {
  const ScalingConfig& scaling = scenario_->spec.scaling;
  const int workers = static_cast<int>(plans.size());
  require(workers <= scaling.num_workers && workers >= scaling.min_workers.value_or(scaling.num_workers),
          invariant::world_size, [&] { return std::to_string(plans.size()) + " workers are started"; });
  std::map<std::string, int> on_node;
  for (const WorkerPlan& plan : plans) ++on_node[plan.slot.node_id];
  std::map<std::string, std::set<int>> local_ranks;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const WorkerPlan& plan = plans[i];
    const bool right = plan.rank == static_cast<int>(i) && plan.local_world_size == on_node[plan.slot.node_id] &&
                       plan.local_rank >= 0 && plan.local_rank < plan.local_world_size &&
                       local_ranks[plan.slot.node_id].insert(plan.local_rank).second && plan.node_rank >= 0 &&
                       plan.node_rank < static_cast<int>(on_node.size());
    require(nodes_->there(plan.slot.node_id), invariant::world_size,
            [&] { return "rank " + std::to_string(i) + " is placed on a node that is lost"; });
    require(right, invariant::world_size, [&] { return "rank " + std::to_string(i) + " has a wrong place"; });
  }
}

/// A restart: is it allowed, does it come soon enough and not too soon, and was it announced?
void Invariants::count_restart(Time now) {
  require(budgets_.may_restart(), invariant::budget, [&] { return "a restart after " + budgets_.words(); });
  require(restart_told_, invariant::reasons, "a group is started again and nobody says why");
  if (!budgets_.died()) return;
  early_deaths_ = counted_in_attempt_ > 0 ? 0 : early_deaths_ + 1;
  if (early_deaths_ < 2) return;
  Duration wait = std::chrono::milliseconds(100);
  for (int i = 2; i < early_deaths_ && wait < std::chrono::seconds(30); ++i) wait *= 2;
  require(now - group_ended_ >= std::min<Duration>(wait, std::chrono::seconds(30)), invariant::budget, [&] {
    return "the group died " + std::to_string(early_deaths_) +
           " times before its first report, and starts again after " + std::to_string(to_seconds(now - group_ended_)) +
           " s";
  });
}

void Invariants::check(const ReleaseNodes& command) {
  if (!command.early) return;
  require(scenario_->spec.returns_slots_early && workers_->all_returned(), invariant::slots, "a rank is still at work");
}

void Invariants::check(const ReleaseCollective& command) {
  const std::string what = "collective #" + std::to_string(command.index + 1);
  require(command.index == released_++, invariant::collectives,
          [&] { return what + " is released again, or out of order"; });
  const std::map<int, CollectiveCall>& calls = arrived_[command.index];
  require(static_cast<int>(calls.size()) == world_size_, invariant::collectives,
          [&] { return what + " is released before every rank has come"; });
  for (const auto& [rank, call] : calls) {
    const bool gives = call.kind == "broadcast";
    require(call == calls.begin()->second && command.root.has_value() == gives &&
                command.root.value_or(call.root) == call.root,
            invariant::collectives, [&, rank = rank] {
              return what + " is released as another one than rank " + std::to_string(rank) + " called";
            });
  }
  std::map<std::string, std::vector<int>> leaving;
  if (asks_for_preemption(calls.begin()->second.kind)) leaving = budgets_.leaving();
  const auto told =
      command.preemption ? command.preemption->preempted_node_to_ranks : std::map<std::string, std::vector<int>>();
  require(told == leaving, invariant::collectives, "ranks hear of a preemption that does not exist");
}

void Invariants::check(const EndWorkers& command) {
  require(!command.reason.empty(), invariant::reasons, "processes are ended without a reason");
  const bool leaves = command.reason.starts_with("preempted: the driver");
  require(!leaves || notice_.over(stage_->schedule.now()) || (notice_.begun() && !budgets_.may_save()),
          invariant::notice_period, command.reason);
  budgets_.ends(command, world_size_);
}

void Invariants::check(const SetTimer& command) {
  require(command.at >= stage_->schedule.now(), invariant::budget, "a timer is set for the past");
  require(timers_.insert(command.timer).second, invariant::budget, "two timers have one number");
}

void Invariants::check(const SweepStorage&) {
  require(!group_lives_ && !committing_, invariant::undisturbed_writers, "a sweep while somebody writes");
}

void Invariants::check(const WriteJournal&) {
  require(prepared_, invariant::own_folder, "a journal is written to a folder that was not prepared");
  ++journals_open_;
  outcome_unwritten_ = false;
  journals_.push_back(retention_.outcomes());
}

void Invariants::check(const Notify& command) {
  require(!command.text.empty(), invariant::reasons, "a notice without words");
  if (!group_lives_) restart_told_ = true;
}

void Invariants::check(const Finish& command) {
  const RunOutcome& end = command.outcome;
  require(!group_lives_ && !workers_->any_process(), invariant::one_finish, "the run has ended while processes live");
  require(journals_open_ == 0 && !committing_, invariant::one_finish, "the run has ended while it is written to");
  require(!nodes_->held(), invariant::one_finish, "the run has ended and nodes are held");
  require(end.failure.has_value() == (end.state != "finished"), invariant::outcome, "a failure without its state");
  require(!end.failure || !end.failure->message.empty(), invariant::reasons, "a run ends and nobody says why");
  require(!end.failure || end.failure->kind != ErrorKind::internal, invariant::outcome,
          [&] { return "a defect of the controller: " + end.failure->message; });
  require(!prepared_ || end.attempts == attempt_, invariant::outcome, "attempts are miscounted");
  require((end.state == "aborted") == (end.failure && end.failure->kind == ErrorKind::aborted), invariant::outcome,
          "an abort without its kind");
  require(end.state != "aborted" || abort_asked_, invariant::outcome, "aborted, and nobody had asked for it");
  const bool left = end.failure && end.failure->preemption && end.failure->preemption->of_driver;
  require(!left || notice_.begun(), invariant::outcome, "ended with its driver, which stays");
  if (end.state == "finished") {
    require(stop_asked_ || static_cast<int>(returned_.size()) == world_size_, invariant::outcome,
            "finished, and not every rank had returned");
    require(stop_asked_ || unheard_ == 0, invariant::callbacks, "finished, and callbacks have not heard every report");
    for (const auto& [index, report] : reports_) {
      if (stop_asked_) break;  // What was reported afterwards is nobody's.
      require(!report.answered_to.empty() || report.counted, invariant::counted_once,
              [&, index = index] { return "finished, and nobody heard of report #" + std::to_string(index + 1); });
    }
  } else if (end.state == "errored" && groups_ > 0) {
    require(
        !budgets_.may_restart() || stop_asked_ || callback_failed_ || nodes_refused_ || folder_lost_ || notice_.begun(),
        invariant::budget, "the run is given up although its budget allows another attempt");
  }
  std::vector<std::string> told;
  for (const KeptCheckpoint& kept : end.checkpoints) told.push_back(kept.name);
  require(!folder_lost_ || end.state != "finished", invariant::outcome, "finished, and the folder is lost");
  require(!prepared_ || told == retention_.kept(), invariant::nothing_lost,
          "the outcome does not name the checkpoints that are kept");
  if (!folder_lost_) check_reports_counted();
  check_end_of_validations(end);
  finished_ = true;
}

}  // namespace headway::sim
