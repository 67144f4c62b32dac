#include "sim/world.hpp"

namespace headway::sim {

using namespace control;
using namespace std::chrono_literals;

namespace {

/// Longer than everything that a run does after its last fault: time limits, waits between
/// restarts, and slow operations.
constexpr Duration liveness_bound = std::chrono::minutes(10);
/// No run of this size takes so many; a controller and a driver that keep each other busy would.
constexpr int events_max = 50'000;
constexpr std::size_t remembered_max = 200;

/// The attempt that an event belongs to; 0 for those of no attempt.
int attempt_of(const Event& event) {
  return std::visit(
      [](const auto& what) {
        if constexpr (requires { what.attempt; }) {
          return what.attempt;
        } else {
          return 0;
        }
      },
      event);
}

}  // namespace

World::World(std::uint64_t seed)
    : stage_(seed),
      looks_(seed),
      scenario_(make_scenario(stage_.random)),
      storage_(stage_, scenario_),
      workers_(stage_, scenario_, storage_),
      artifacts_(stage_, workers_),
      validations_(stage_, scenario_, storage_),
      nodes_(stage_, scenario_),
      hooks_(stage_, scenario_),
      invariants_(stage_, scenario_, storage_, workers_, nodes_) {
  stage_.tell = [this](const Event& event) { hand_in(event); };
  // Drawn by no chance of the run's, whose other draws stay as they are.
  scenario_.spec.returns_slots_early = seed % 2 == 0 && !scenario_.spec.scaling.min_workers;
}

Summary World::run() {
  new_driver();
  while (!stage_.schedule.empty()) {
    stage_.schedule.step();
    check_liveness();
  }
  require(invariants_.finished(), invariant::liveness,
          [&] { return "nothing is under way and the run is not over: " + workers_.words(); });
  invariants_.over();
  return {stage_.faults.counts(), invariants_.attempt(), events_, to_seconds(stage_.schedule.now().time_since_epoch())};
}

/// With the driver go its processes: the guard ends them. A while later somebody starts the run
/// again.
void World::driver_dies() {
  if (!controller_ || invariants_.finished() || invariants_.folder_lost()) return;
  stage_.trace.note(stage_.schedule.now(), "the driver is killed");
  storage_.driver_died();
  forget_driver();
}

/// As by headway.shutdown(): what is to be written is written, and nobody hears anything any more.
void World::driver_ends() {
  if (!controller_ || invariants_.finished() || invariants_.folder_lost()) return;
  const DriverEnding ending{"simulated shutdown"};
  stage_.trace.event(stage_.schedule.now(), ending);
  bool over = false;
  for (const Command& command : controller_->handle(stage_.schedule.now(), ending)) {
    stage_.trace.command(command);
    require(!over, invariant::one_finish, [&] { return words(command) + " after Finish"; });
    over = std::holds_alternative<Finish>(command);
    if (const auto* journal = std::get_if<WriteJournal>(&command)) {
      invariants_.says(command);
      carry_out(*journal);
    } else {
      require(over || std::holds_alternative<SetTimer>(command), invariant::one_finish,
              [&] { return words(command) + ", when the driver has no time left for it"; });
    }
  }
  require(over, invariant::one_finish, "the driver ends without a word");
  workers_.driver_died();
  storage_.driver_ended();
  forget_driver();
}

/// A run that ends with its driver's reason is started again later.
void World::preempt_driver() {
  const Duration notice = stage_.random.between(0ms, 5s);
  hand_in(DriverPreempted{to_seconds(notice), 1'000});
  if (!stage_.random.one_in(3)) return;
  stage_.schedule.after(stage_.random.between(0ms, notice), [this, driver = driver_] {
    if (driver == driver_ && !invariants_.finished()) hand_in(DriverPreempted{0, 1'000});
  });
}

void World::carry_out(const Finish& command) {
  const auto& failure = command.outcome.failure;
  const bool resumed = failure && failure->preemption && failure->preemption->of_driver && !command.folder_lost;
  if (!resumed) return;
  stage_.schedule.after(0ms, [this] {
    storage_.driver_ended();
    forget_driver();
  });
}

void World::forget_driver() {
  controller_.reset();
  ++driver_;
  said_.clear();
  older_.clear();
  workers_.driver_died();
  artifacts_.driver_died();
  validations_.driver_died();
  nodes_.driver_died();
  hooks_.driver_died();
  invariants_.driver_died();
  stage_.schedule.after(stage_.random.between(100ms, 5s), [this] { new_driver(); });
}

void World::new_driver() {
  controller_ = std::make_unique<RunController>(scenario_.spec);
  hand_in(StartAsked{});
}

void World::check_liveness() const {
  if (invariants_.finished()) return;
  const NoticePeriod& notice = invariants_.notice();
  require(!notice.begun() || stage_.schedule.now() < notice.end_by(stage_.faults.last()), invariant::liveness,
          "the driver is to end, and the run does not");
  require(stage_.schedule.now() - stage_.faults.last() < liveness_bound && events_ < events_max, invariant::liveness,
          [&] { return "the run does not end; " + workers_.words(); });
}

void World::hand_in(const Event& event) {
  if (!controller_) return;
  ++events_;
  stage_.trace.event(stage_.schedule.now(), event);
  invariants_.hears(event);
  if (invariants_.folder_lost()) artifacts_.folder_lost();
  const Commands commands = controller_->handle(stage_.schedule.now(), event);
  for (const Command& command : commands) {
    stage_.trace.command(command);
    invariants_.says(command);
    std::visit([this](const auto& what) { carry_out(what); }, command);
  }
  if (stage_.trace.on()) stage_.trace.state(to_string(controller_->state()));
  invariants_.settled(*controller_);
  if (looks_.one_in(8)) invariants_.sees(controller_->view(stage_.schedule.now()));
  remember(event);
  if (const auto* exit = std::get_if<WorkerExited>(&event)) hooks_.rank_is_gone(exit->attempt);
  if (invariants_.finished()) return;
  trouble_nodes();
  const Duration moment = stage_.random.between(0ms, 100ms);
  if (stage_.fault(Fault::abort)) {
    stage_.schedule.after(moment, [this, driver = driver_] {
      if (driver == driver_) hand_in(AbortAsked{"simulated Ctrl-C"});
    });
  }
  if (stage_.fault(Fault::driver_dies)) {
    stage_.schedule.after(moment, [this] { driver_dies(); });
  } else if (stage_.fault(Fault::driver_ends)) {
    stage_.schedule.after(moment, [this] { driver_ends(); });
  }
}

void World::trouble_nodes() {
  const auto soon = [this](Fault fault, void (World::*trouble)()) {
    if (invariants_.finished() || !stage_.fault(fault)) return;
    stage_.schedule.after(stage_.random.between(0ms, 100ms), [this, trouble, driver = driver_] {
      if (driver == driver_ && !invariants_.finished()) (this->*trouble)();
    });
  };
  soon(Fault::node_lost, &World::lose_node);
  soon(Fault::node_preempted, &World::preempt_node);
  soon(Fault::driver_preempted, &World::preempt_driver);
  if (scenario_.spec.scaling.min_workers) soon(Fault::capacity_changes, &World::change_capacity);
}

void World::lose_node() { workers_.lose_node(nodes_.lose_one()); }

void World::change_capacity() { nodes_.change_capacity(); }

/// It goes at its deadline, more or less.
void World::preempt_node() {
  const std::string node_id = nodes_.lose_one();
  const Duration grace = stage_.random.between(0ms, 3s);
  hand_in(NodePreempted{node_id, to_seconds(grace), 1'000});
  stage_.schedule.after(stage_.random.between(grace / 2, grace + grace / 2), [this, node_id, driver = driver_] {
    if (driver == driver_ && !invariants_.finished()) workers_.lose_node(node_id);
  });
}

/// Keeps what was said of an attempt; when that has ended it may be said again, and must change
/// nothing.
void World::remember(const Event& event) {
  if (attempt_of(event) != 0 && said_.size() < remembered_max) said_.push_back(event);
  if (older_.empty() || invariants_.finished() || !stage_.fault(Fault::stale_event)) return;
  stage_.schedule.after(stage_.random.between(0ms, 100ms),
                        [this, driver = driver_, stale = stage_.random.one_of(older_)] {
                          if (driver == driver_) hand_in_stale(stale);
                        });
}

/// Whatever comes, a wait may have lasted long enough for the hang watch to look, and a group long
/// enough to grow; nothing else may follow.
void World::hand_in_stale(const Event& event) {
  stage_.trace.event(stage_.schedule.now(), event);
  for (const Command& command : controller_->handle(stage_.schedule.now(), event)) {
    const bool watching = std::holds_alternative<ExamineRanks>(command) || std::holds_alternative<SetTimer>(command) ||
                          std::holds_alternative<LookAtCollectives>(command) ||
                          std::holds_alternative<LookForCapacity>(command) || Budgets::is_growth(command);
    require(watching, invariant::stale_events,
            [&] { return words(event) + " of a former attempt leads to " + words(command); });
    stage_.trace.command(command);
    invariants_.says(command);
    std::visit([this](const auto& what) { carry_out(what); }, command);
  }
}

void World::carry_out(const ExamineRanks& command) {
  stage_.schedule.after(stage_.random.between(10ms, 20s), [this, driver = driver_, command] {
    if (driver == driver_) hand_in(RanksExamined{command.attempt, command.examination, {}, ""});
  });
}

void World::carry_out(const StartWorkers& command) {
  older_.insert(older_.end(), said_.begin(), said_.end());
  said_.clear();
  workers_.start(command);
}

void World::carry_out(const SetTimer& command) {
  const Duration late = stage_.random.between(0ms, 1ms) + stage_.delay(Fault::late_timer, 0ms);
  stage_.schedule.at(command.at + late, [this, driver = driver_, timer = command.timer] {
    if (driver == driver_) hand_in(TimerFired{timer});
  });
}

}  // namespace headway::sim
