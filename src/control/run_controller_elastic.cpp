#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

#include <algorithm>

/// Groups whose size follows what there is. They shrink by what any group does when it is started again; here they grow.
namespace headway::control {

bool RunController::elastic() const { return group_size_min(spec_) < group_size(spec_); }

void RunController::on(const RoomChanged&) {
  if (elastic()) growth_.room_changed();
}

void RunController::on(const RoomSeen& event) { growth_.seen(now_, event.workers > group_.size()); }

/// Called after every event, as the hang watch is. A group that is about to end for another reason does not grow.
void RunController::consider_growing() {
  if (!elastic() || state_ != RunState::running || group_gone_ || group_.size() >= group_size(spec_)) return;
  if (stop_reason_ || echo_ || preemption_.info(group_)) return;
  const bool ending = std::any_of(group_.ranks().begin(), group_.ranks().end(), [](const RankState& rank) {
    return rank.gone || rank.phase == RankPhase::returned || rank.phase == RankPhase::raised;
  });
  if (ending) return;
  const bool storing = std::any_of(pending_.begin(), pending_.end(),
                                   [](const PendingReport& report) { return report.checkpoint.has_value(); });
  const GrowthWatch::Step step = growth_.advance(now_, storing);
  if (step.look) out_.push_back(LookForRoom{wanted_nodes()});
  if (step.grow) grow();
  if (!step.wake_at) return;
  growth_timer_ = timers_set_++;
  out_.push_back(SetTimer{*growth_timer_, *step.wake_at});
}

/// Ends the group, so that the next attempt takes what there is.
void RunController::grow() {
  HEADWAY_MARK(grown);
  state_ = RunState::restarting;
  resizing_ = true;
  end_group(EndMode::terminate,
            "there is room for more workers than the " + std::to_string(group_.size()) + " of this group");
  set_timer(TimerPurpose::terminate, terminate_grace);
}

/// The group that was ended to grow is gone.
void RunController::resize() {
  const auto newest = book_.newest();
  out_.push_back(Notify{"Resizing the worker group of " + workers_text(group_.size()) + " " + resumed_from() +
                        ": there is room for more"});
  start_again();
}

/// Of an elastic group, once its workers are being started.
void RunController::tell_size() {
  if (!elastic() || group_.size() == told_size_) return;
  if (told_size_ > group_.size()) HEADWAY_MARK(shrunk);
  const std::string before = told_size_ > 0 ? ", " + std::to_string(told_size_) + " before" : "";
  out_.push_back(Notify{"The worker group has " + workers_text(group_.size()) + " now" + before + " (num_workers is " +
                        std::to_string(group_size_min(spec_)) + " to " + std::to_string(group_size(spec_)) + ")"});
  told_size_ = group_.size();
}

}  // namespace headway::control
