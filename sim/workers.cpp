#include "sim/workers.hpp"

#include <algorithm>

namespace headway::sim {

using namespace std::chrono_literals;

void Workers::later(int rank, Duration after, std::function<void()> what) {
  stage_->schedule.after(after, [this, rank, group = group_, what = std::move(what)] {
    if (group == group_ && at(rank).phase != Phase::gone) what();
  });
}

void Workers::order(int rank, std::function<void()> what) {
  Worker& worker = at(rank);
  worker.told_until = std::max(worker.told_until, stage_->schedule.now() + stage_->random.between(0ms, 2ms));
  later(rank, worker.told_until - stage_->schedule.now(), [this, rank, what = std::move(what)] {
    if (!at(rank).lost) what();
  });
}

void Workers::say(int rank, control::Event event) {
  Worker& worker = at(rank);
  worker.said_until = std::max(worker.said_until, stage_->schedule.now() + stage_->delay(Fault::slow_message, 2ms));
  stage_->schedule.at(worker.said_until, [this, rank, group = group_, event = std::move(event)] {
    if (group == group_ && !at(rank).lost) stage_->tell(event);
  });
}

void Workers::enter(int rank, Phase phase) {
  at(rank).phase = phase;
  at(rank).since = stage_->schedule.now();
}

/// Asked wherever a worker gets to: a crash comes within a moment of it.
void Workers::may_crash(int rank) {
  if (!stage_->fault(Fault::crash)) return;
  const bool by_signal = stage_->random.one_in(2);
  later(rank, stage_->random.between(0ms, 60ms), [this, rank, by_signal] {
    leave(rank, by_signal ? ExitStatus{true, 11, ""} : ExitStatus{false, 3, ""});
    echo_in_others(rank);
  });
}

/// The process is gone. The news of it comes after all that it had said.
void Workers::leave(int rank, ExitStatus status) {
  Worker& worker = at(rank);
  enter(rank, Phase::gone);
  for (const std::string& name : std::exchange(worker.writing, {})) storage_->close_for(rank, name);
  stage_->trace.note(stage_->schedule.now(), "the process of rank " + std::to_string(rank) + " is gone");
  worker.said_until = std::max(worker.said_until, stage_->schedule.now() + stage_->delay(Fault::slow_message, 2ms));
  stage_->schedule.at(worker.said_until, [this, rank, group = group_, status] {
    if (group == group_ && !at(rank).lost) tell_exit(rank, status);
  });
}

void Workers::tell_exit(int rank, const ExitStatus& status) {
  at(rank).end_known = true;
  const std::uint64_t group = group_;
  const int attempt = attempt_;
  stage_->tell(control::WorkerExited{attempt, rank, status, "last words\n"});
  const bool all_known =
      std::all_of(workers_.begin(), workers_.end(), [](const Worker& each) { return each.end_known; });
  if (group == group_ && all_known) stage_->tell(control::GroupEnded{attempt});
}

void Workers::lose_node(const std::string& node_id) {
  const Duration lease = stage_->random.between(0ms, 12s);
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank) {
    if (at(rank).node_id != node_id || at(rank).end_known || at(rank).lost) continue;
    ranks.push_back(rank);
    at(rank).lost = true;
    later(rank, stage_->random.between(0ms, lease), [this, rank] { leave(rank, {true, 9, ""}); });
  }
  stage_->tell(control::NodeLost{node_id, "simulated: its connection broke"});
  stage_->schedule.after(lease + 1ms, [this, ranks, group = group_] {
    for (int rank : ranks) {
      if (group == group_) tell_exit(rank, {true, 9, "its node is lost"});
    }
  });
}

/// A collective breaks when one of its ranks goes away: the others may raise before anybody knows
/// why.
void Workers::echo_in_others(int rank) {
  for (int other = 0; other < size(); ++other) {
    if (other == rank || at(other).phase != Phase::training || stage_->random.one_in(2)) continue;
    later(other, stage_->random.between(0ms, 100ms), [this, other] {
      if (at(other).phase == Phase::training) raise(other, true, "connection closed by peer");
    });
  }
}

void Workers::start(const control::StartWorkers& command) {
  ++group_;
  attempt_ = command.attempt;
  workers_.assign(command.plans.size(), {});
  std::int64_t first_step = 0;
  if (command.checkpoint) {
    const auto& directories = storage_->directories();
    if (const auto found = directories.find(*command.checkpoint); found != directories.end() && found->second.committed)
      first_step = found->second.manifest.metrics.at("step").as_int64() + 1;
  }
  for (int rank = 0; rank < size(); ++rank) {
    at(rank).node_id = command.plans[static_cast<std::size_t>(rank)].slot.node_id;
    at(rank).step = first_step;
    at(rank).steps = scenario_->steps;
    if (stage_->fault(Fault::returns_early)) at(rank).steps = first_step + stage_->random.below(3);
    at(rank).deaf = stage_->fault(Fault::deaf_to_sigterm);
    enter(rank, Phase::starting);
    may_crash(rank);
    if (may_hang_ && stage_->fault(Fault::hangs)) continue;
    later(rank, stage_->delay(Fault::slow_start, 40ms), [this, rank] {
      enter(rank, Phase::ready);
      say(rank, control::WorkerReady{attempt_, rank, 1000 * attempt_ + rank});
      may_crash(rank);
    });
  }
}

void Workers::begin_training() {
  for (int rank = 0; rank < size(); ++rank) {
    order(rank, [this, rank] { train(rank); });
  }
}

void Workers::train(int rank) {
  enter(rank, Phase::training);
  may_crash(rank);
  later(rank, stage_->random.between(1ms, 300ms), [this, rank] {
    if (at(rank).phase != Phase::training) return;
    if (stage_->fault(Fault::raise)) {
      raise(rank, false, "simulated: loss is not finite");
      echo_in_others(rank);
    } else if (stage_->fault(Fault::echo)) {
      raise(rank, true, "simulated: connection reset by peer");
    } else if (const auto call = scenario_->gathering(at(rank).step); call && at(rank).gathered_at != at(rank).step) {
      gather(rank, *call);
    } else if (at(rank).step >= at(rank).steps) {
      return_from_training(rank);
    } else if (scenario_->asks && stage_->random.one_in(4)) {
      ask(rank);
    } else {
      report(rank);
    }
  });
}

/// For all checkpoints; it continues when it has the answer.
void Workers::ask(int rank) {
  Worker& worker = at(rank);
  enter(rank, Phase::asking);
  control::CheckpointsAsked asked{attempt_, rank, worker.questions++, worker.reports, stage_->random.one_in(2), {}};
  if (stage_->random.one_in(3)) asked.timeout_s = 0.5;
  say(rank, asked);
  may_crash(rank);
}

void Workers::told(const control::TellCheckpoints& command) {
  order(command.rank, [this, rank = command.rank] {
    if (at(rank).phase == Phase::asking) train(rank);
  });
}

/// In a barrier or broadcast; it goes on when all are there.
void Workers::gather(int rank, control::CollectiveCall call) {
  Worker& worker = at(rank);
  enter(rank, Phase::gathering);
  call.root %= size();
  worker.gathered_at = worker.step;
  // A hang is found when somebody waits: one that hangs, or has returned from a report of its
  // thread, waits for nobody.
  const bool all_wait =
      std::none_of(workers_.begin(), workers_.end(), [](const Worker& each) { return each.hung || each.in_thread; });
  if (may_hang_ && size() > 1 && all_wait && stage_->fault(Fault::hangs)) {
    worker.hung = true;
    return;
  }
  if (size() > 1 && stage_->fault(Fault::calls_differ)) {
    call = call.kind == "barrier" ? control::CollectiveCall{"broadcast", 0} : control::CollectiveCall{"barrier", 0};
  }
  say(rank, control::RankArrived{attempt_, rank, worker.collectives++, call.kind, call.root});
  may_crash(rank);
}

void Workers::release(const control::ReleaseCollective& command) {
  for (int rank = 0; rank < size(); ++rank) {
    order(rank, [this, rank, index = command.index] {
      if (at(rank).phase == Phase::gathering && at(rank).collectives == index + 1) train(rank);
    });
  }
}

void Workers::report(int rank) {
  Worker& worker = at(rank);
  enter(rank, Phase::reporting);
  const std::int64_t step = worker.step++;
  // It counts its optimizer steps. Said at once, without chance.
  LoopProgress progress;
  progress.at_s = static_cast<double>(step);
  progress.steps = progress.step_times.count = step;
  stage_->tell(control::RankProgressed{attempt_, rank, progress});
  JsonObject metrics = scenario_->metrics(step);
  metrics["rank"] = rank;
  say(rank, control::RankReported{attempt_, rank, worker.reports++, std::move(metrics), scenario_->offer(rank, step),
                                  scenario_->validation(step)});
  may_crash(rank);
  if (!stage_->fault(Fault::returns_in_report)) return;
  worker.in_thread = true;
  later(rank, stage_->random.between(0ms, 100ms), [this, rank] { return_from_training(rank); });
}

void Workers::return_from_training(int rank) {
  if (at(rank).phase == Phase::returned || at(rank).phase == Phase::raised) return;
  enter(rank, Phase::returned);
  say(rank, control::RankReturned{attempt_, rank});
  may_crash(rank);
  if (stage_->fault(Fault::exits_unasked)) {
    later(rank, stage_->random.between(0ms, 500ms), [this, rank] { leave(rank, {false, 0, ""}); });
  }
}

void Workers::raise(int rank, bool echo, const std::string& message) {
  enter(rank, Phase::raised);
  say(rank, control::RankRaised{attempt_, rank, {echo ? "RuntimeError" : "ValueError", message, "", echo}});
  may_crash(rank);
}

void Workers::upload(const control::UploadFiles& command) {
  order(command.rank, [this, command] { store(command.rank, command); });
}

void Workers::store(int rank, const control::UploadFiles& command) {
  control::RankUploaded uploaded{attempt_, rank, command.index, {}, {}};
  if (scenario_->source == CheckpointSource::function) return store_by_function(rank, command);
  uploaded.unseen = !command.beside && stage_->fault(Fault::storage_not_shared);
  if (uploaded.unseen || !storage_->open_for(rank, command)) {
    uploaded.error = "there is no checkpoint " + command.name;
    return say(rank, std::move(uploaded));
  }
  at(rank).writing.insert(command.name);
  may_crash(rank);
  if (may_hang_ && !command.files.empty() && !scenario_->asynchronous_one_in && stage_->fault(Fault::hangs)) return;
  later(rank, stage_->delay(Fault::slow_storage, 100ms), [this, rank, command, uploaded]() mutable {
    if (stage_->fault(Fault::upload_fails)) {
      uploaded.error = "simulated: no space left on device";
    } else {
      storage_->stored(rank, command.name, command.files);
      for (const std::string& file : command.files) uploaded.files.push_back({file, 1, "xxh3:0000000000000001", rank});
    }
    at(rank).writing.erase(command.name);
    storage_->close_for(rank, command.name);
    say(rank, std::move(uploaded));
    may_crash(rank);
  });
}

/// The user's own function stores the checkpoint, where it likes in the run's folder.
void Workers::store_by_function(int rank, const control::UploadFiles& command) {
  may_crash(rank);
  later(rank, stage_->delay(Fault::slow_storage, 100ms), [this, rank, command] {
    control::RankUploaded uploaded{attempt_, rank, command.index, {}, {}};
    if (stage_->fault(Fault::upload_fails)) {
      uploaded.error = "simulated: the user's function raises";
    } else {
      uploaded.stored_name = scenario_->stored_name(rank, command.name);
      storage_->placed(*uploaded.stored_name);
    }
    say(rank, std::move(uploaded));
    may_crash(rank);
  });
}

void Workers::answer(const control::AnswerReport& command) {
  order(command.rank, [this, command] {
    const int rank = command.rank;
    if (at(rank).phase != Phase::reporting) return;
    // Only the thread goes on, and its function has returned or is about to.
    if (at(rank).in_thread) return;
    if (command.error && !scenario_->catches) {
      raise(rank, false, "report failed: " + *command.error);
    } else {
      train(rank);
    }
  });
}

void Workers::end(const control::EndWorkers& command) {
  for (int rank = 0; rank < size(); ++rank) {
    if (at(rank).lost) continue;
    switch (command.mode) {
      case control::EndMode::graceful: order(rank, [this, rank] { exit_by_itself(rank); }); break;
      case control::EndMode::terminate:
        if (at(rank).deaf) break;
        later(rank, stage_->random.between(0ms, 600ms), [this, rank] { leave(rank, {true, 15, ""}); });
        break;
      case control::EndMode::kill:
        later(rank, stage_->delay(Fault::slow_exit, 10ms), [this, rank] { leave(rank, {true, 9, ""}); });
        break;
    }
  }
}

/// A rank in a step says where it stands in its collectives, most of the time.
void Workers::look(const control::LookAtCollectives& command) {
  for (int rank = 0; rank < size(); ++rank) {
    if (at(rank).phase != Phase::training || stage_->random.one_in(8)) continue;
    const std::int64_t entered = at(rank).step;
    const GroupPosition position{"0", {0, 1, 2, 3}, entered, {{entered, "all_reduce", 0.1}}};
    say(rank, control::CollectivesSeen{attempt_, rank, command.look, {position}});
  }
}

/// Exit handlers and flushes.
void Workers::exit_by_itself(int rank) {
  enter(rank, Phase::leaving);
  may_crash(rank);
  if (stage_->fault(Fault::exit_handler_hangs)) return;
  later(rank, stage_->random.between(0ms, 50ms), [this, rank] {
    leave(rank, stage_->fault(Fault::exit_code) ? ExitStatus{false, 1, ""} : ExitStatus{false, 0, ""});
  });
}

void Workers::driver_died() {
  for (int rank = 0; rank < size(); ++rank) {
    for (const std::string& name : std::exchange(at(rank).writing, {})) storage_->close_for(rank, name);
  }
  workers_.clear();
  ++group_;
}

bool Workers::all_returned() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const Worker& each) {
    return each.phase == Phase::returned || each.phase == Phase::leaving || each.phase == Phase::gone;
  });
}

bool Workers::any_process() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& each) { return each.phase != Phase::gone; });
}

std::string Workers::words() const {
  static constexpr const char* names[] = {"starting",  "ready",    "training", "reporting", "asking",
                                          "gathering", "returned", "raised",   "leaving",   "gone"};
  std::string text;
  for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
    text += (rank == 0 ? "rank " : ", rank ") + std::to_string(rank) + " " +
            names[static_cast<std::size_t>(workers_[rank].phase)];
  }
  return text.empty() ? "no processes" : text;
}

}  // namespace headway::sim
