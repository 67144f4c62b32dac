#include "sim/world.hpp"

namespace headway::sim {

using namespace control;
using namespace std::chrono_literals;

namespace {

/// Longer than everything that a run does after its last fault: time limits, waits between restarts, and slow operations.
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
      scenario_(make_scenario(stage_.random)),
      storage_(stage_, scenario_),
      workers_(stage_, scenario_, storage_),
      artifacts_(stage_, workers_),
      validations_(stage_, scenario_, storage_),
      nodes_(stage_, scenario_),
      hooks_(stage_, scenario_),
      invariants_(stage_, scenario_, storage_, workers_, nodes_) {
  stage_.tell = [this](const Event& event) { hand_in(event); };
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

void World::new_driver() {
  controller_ = std::make_unique<RunController>(scenario_.spec);
  hand_in(StartAsked{});
}

void World::check_liveness() const {
  if (invariants_.finished()) return;
  require(stage_.schedule.now() - stage_.faults.last() < liveness_bound && events_ < events_max, invariant::liveness,
          [&] { return "the run does not end; " + workers_.words(); });
}

void World::hand_in(const Event& event) {
  ++events_;
  stage_.trace.event(stage_.schedule.now(), event);
  invariants_.hears(event);
  const Commands commands = controller_->handle(stage_.schedule.now(), event);
  for (const Command& command : commands) {
    stage_.trace.command(command);
    invariants_.says(command);
    std::visit([this](const auto& what) { carry_out(what); }, command);
  }
  if (stage_.trace.on()) stage_.trace.state(to_string(controller_->state()));
  invariants_.settled(*controller_);
  remember(event);
  if (const auto* exit = std::get_if<WorkerExited>(&event)) hooks_.rank_is_gone(exit->attempt);
  if (!invariants_.finished() && stage_.fault(Fault::node_lost)) {
    stage_.schedule.after(stage_.random.between(0ms, 100ms), [this] {
      if (!invariants_.finished()) workers_.lose_node(nodes_.lose_one());
    });
  }
  if (!invariants_.finished() && stage_.fault(Fault::abort)) {
    stage_.schedule.after(stage_.random.between(0ms, 100ms), [this] { hand_in(AbortAsked{"simulated Ctrl-C"}); });
  }
}

/// Keeps what was said of an attempt; when that is over it may be said again, and must change nothing.
void World::remember(const Event& event) {
  if (attempt_of(event) != 0 && said_.size() < remembered_max) said_.push_back(event);
  if (older_.empty() || invariants_.finished() || !stage_.fault(Fault::stale_event)) return;
  stage_.schedule.after(stage_.random.between(0ms, 100ms),
                        [this, stale = stage_.random.one_of(older_)] { hand_in_stale(stale); });
}

/// Whatever comes, a wait may have lasted long enough for the hang watch to look; nothing else may follow.
void World::hand_in_stale(const Event& event) {
  stage_.trace.event(stage_.schedule.now(), event);
  for (const Command& command : controller_->handle(stage_.schedule.now(), event)) {
    const bool watching = std::holds_alternative<ExamineRanks>(command) || std::holds_alternative<SetTimer>(command) ||
                          std::holds_alternative<LookAtCollectives>(command);
    require(watching, invariant::stale_events,
            [&] { return words(event) + " of a former attempt leads to " + words(command); });
    stage_.trace.command(command);
    invariants_.says(command);
    std::visit([this](const auto& what) { carry_out(what); }, command);
  }
}

void World::carry_out(const ExamineRanks& command) {
  stage_.schedule.after(stage_.random.between(10ms, 20s),
                        [this, command] { hand_in(RanksExamined{command.attempt, command.examination, {}, ""}); });
}

/// The simulated function calls no barriers and broadcasts.
void World::carry_out(const ReleaseCollective& command) {
  require(false, invariant::answers, [&] { return words(command) + ", which no rank has called"; });
}

void World::carry_out(const StartWorkers& command) {
  older_.insert(older_.end(), said_.begin(), said_.end());
  said_.clear();
  workers_.start(command);
}

void World::carry_out(const SetTimer& command) {
  const Duration late = stage_.random.between(0ms, 1ms) + stage_.delay(Fault::late_timer, 0ms);
  stage_.schedule.at(command.at + late, [this, timer = command.timer] { hand_in(TimerFired{timer}); });
}

}  // namespace headway::sim
