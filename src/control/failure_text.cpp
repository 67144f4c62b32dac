#include "control/failure_text.hpp"

#include "core/location.hpp"

#include <algorithm>
#include <map>

namespace headway::control {
namespace {

std::string log_place(int rank) { return "its log: logs/rank_" + std::to_string(rank) + ".log in the run's folder"; }

std::string others(const WorkerGroup& group, int except, Time now) {
  if (group.size() < 2) return "";
  return "What the other ranks were doing:\n" + group.describe_others(except, now);
}

/// Without the names of all of Python's extension modules, which it lists after a crash: they fill
/// a page and are in the log.
std::string shown_tail(std::string_view lines) {
  std::string shown;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    if (!line.starts_with("Extension modules: ")) shown.append(line).append("\n");
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return shown;
}

std::string plural_s(const std::vector<int>& ranks) { return ranks.size() == 1 ? "s" : ""; }

}  // namespace

RankFailure rank_failure(const WorkerGroup& group, int rank, RankFailureKind kind, std::string text, int attempt) {
  const RankState& state = group.at(rank);
  RankFailure failure{rank, std::move(text), kind, attempt};
  if (state.pid != 0) failure.pid = state.pid;
  failure.hostname = state.plan.slot.hostname;
  failure.node_id = state.plan.slot.node_id;
  return failure;
}

RunFailure describe_raise(const WorkerGroup& group, int rank, const RankError& error, int attempt, Time now) {
  RunFailure failure{ErrorKind::user_code, "", {}};
  failure.ranks.push_back(rank_failure(group, rank, RankFailureKind::exception, to_text(error), attempt));
  failure.ranks.back().exception = error;
  failure.message = to_text(error) + "\n" + error.traceback;
  if (failure.message.back() != '\n') failure.message += '\n';
  failure.message += "Raised by the training function in " + group.name_of(rank) + ", attempt " +
                     std::to_string(attempt) + "; " + log_place(rank) + "\n" + others(group, rank, now);
  return failure;
}

RunFailure describe_exit(const WorkerGroup& group, int rank, const ExitStatus& status, const std::string& log_tail,
                         int attempt, Time now) {
  RunFailure failure{ErrorKind::worker_died, "", {}};
  const bool starting = group.at(rank).phase == RankPhase::starting;
  const RankFailureKind kind = starting ? RankFailureKind::start : RankFailureKind::death;
  failure.ranks.push_back(rank_failure(group, rank, kind, to_text(status), attempt));
  failure.ranks.back().exit = status;
  failure.ranks.back().last_lines = log_tail;
  const std::string before = starting ? "it was ready" : "its training function had returned";
  failure.message = group.name_of(rank) + " " + to_text({status.signaled, status.code, ""}) + " before " + before +
                    ", in attempt " + std::to_string(attempt) + (status.detail.empty() ? "" : ": " + status.detail) +
                    "\n";
  if (log_tail.empty()) {
    failure.message += "It had printed nothing; " + log_place(rank) + "\n";
  } else {
    failure.message += "The last lines that it printed (" + log_place(rank) + "):\n" + shown_tail(log_tail);
  }
  failure.message += others(group, rank, now);
  return failure;
}

RunFailure describe_lost_node(const WorkerGroup& group, const std::string& node_id, const std::string& reason,
                              int attempt, Time now) {
  RunFailure failure{ErrorKind::worker_died, "", {}};
  std::vector<int> there;
  std::string hostname;
  for (const RankState& rank : group.ranks()) {
    if (rank.plan.slot.node_id != node_id) continue;
    there.push_back(rank.plan.rank);
    hostname = rank.plan.slot.hostname;
    failure.ranks.push_back(rank_failure(group, rank.plan.rank, RankFailureKind::lost_node,
                                         "its node " + node_id + " is lost: " + reason, attempt));
  }
  failure.message = "node " + node_id + " (" + hostname + ") is lost, and " + rank_list(there) + " with it: " + reason +
                    ", in attempt " + std::to_string(attempt) + "\nWhat the ranks were doing:\n" +
                    group.describe_others(-1, now);
  return failure;
}

namespace {

std::vector<int> ranks_on(const WorkerGroup& group, const std::string& node_id) {
  std::vector<int> ranks;
  for (const RankState& rank : group.ranks()) {
    if (rank.plan.slot.node_id == node_id) ranks.push_back(rank.plan.rank);
  }
  return ranks;
}

}  // namespace

std::string describe_preemption_notice(const WorkerGroup& group, const NodePreempted& event) {
  const std::vector<int> ranks = ranks_on(group, event.node_id);
  return "node " + event.node_id + " (" + group.at(ranks.front()).plan.slot.hostname + ") will be taken away in " +
         seconds_text(from_seconds(event.grace_s)) + ", and " + rank_list(ranks) +
         " with it: every rank that asks for preemption info learns of it";
}

RunFailure describe_preemption(const WorkerGroup& group, Preemption preemption, int attempt, Time now) {
  RunFailure failure{ErrorKind::preempted, "", {}, {}};
  std::string nodes;
  for (const auto& [node_id, ranks] : preemption.info.preempted_node_to_ranks) {
    const std::string& hostname = group.at(ranks.front()).plan.slot.hostname;
    nodes += (nodes.empty() ? "node " : ", node ") + node_id + " (" + hostname + ") with " + rank_list(ranks);
    for (const int rank : ranks) {
      failure.ranks.push_back(
          rank_failure(group, rank, RankFailureKind::preemption, "its node " + node_id + " was taken away", attempt));
    }
  }
  std::sort(failure.ranks.begin(), failure.ranks.end(),
            [](const RankFailure& one, const RankFailure& other) { return one.rank < other.rank; });
  failure.message = "preempted: " + nodes + (preemption.info.preempted_node_to_ranks.size() == 1 ? " is" : " are") +
                    " taken away, in attempt " + std::to_string(attempt) + "\nWhat the ranks were doing:\n" +
                    group.describe_others(-1, now);
  failure.preemption = std::move(preemption);
  return failure;
}

std::string describe_driver_notice(const WorkerGroup& group, const DriverPreempted& event) {
  const bool any_trains = std::any_of(group.ranks().begin(), group.ranks().end(), [](const RankState& rank) {
    return !rank.gone && rank.phase != RankPhase::returned && rank.phase != RankPhase::raised;
  });
  return "The driver received SIGTERM: the run ends within " + seconds_text(from_seconds(event.notice_s)) +
         (any_trains ? ", or as soon as a checkpoint is saved; every rank that asks for preemption info learns of it"
                     : "") +
         ". A second SIGTERM ends it at once.";
}

RunFailure describe_driver_preemption(const WorkerGroup* group, Preemption preemption, const std::string& why,
                                      int attempt, Time now) {
  RunFailure failure{ErrorKind::preempted, "preempted: the driver received SIGTERM; " + why + "\n", {}, {}};
  if (group != nullptr) {
    failure.message += "What the ranks were doing:\n" + group->describe_others(-1, now);
    for (const RankState& rank : group->ranks()) {
      if (rank.phase == RankPhase::returned) continue;
      failure.ranks.push_back(
          rank_failure(*group, rank.plan.rank, RankFailureKind::preemption, "its driver received SIGTERM", attempt));
    }
  }
  preemption.of_driver = true;
  failure.preemption = std::move(preemption);
  return failure;
}

RunFailure describe_unmatched_report(const WorkerGroup& group, const std::vector<int>& waiting,
                                     const std::vector<int>& returned, std::int64_t index, int attempt, Time now) {
  RunFailure failure{ErrorKind::user_code, "", {}};
  failure.message = rank_list(returned) + " finished the training function while " + rank_list(waiting) + " wait" +
                    plural_s(waiting) + " in " + group.report_name(index) + ", which " + rank_list(returned) +
                    " never called (attempt " + std::to_string(attempt) + ")\n" +
                    "Every rank must call report() equally often: it is a barrier of all ranks.\n";
  for (int rank : returned) {
    failure.ranks.push_back(rank_failure(group, rank, RankFailureKind::unmatched_report,
                                         "finished after " + std::to_string(group.at(rank).reports) +
                                             " reports, while " + rank_list(waiting) + " wait" + plural_s(waiting) +
                                             " in " + group.report_name(index),
                                         attempt));
  }
  failure.message += "What the ranks were doing:\n" + group.describe_others(-1, now);
  return failure;
}

RunFailure describe_unmatched_collective(const WorkerGroup& group, const CollectiveBarrier& waiting,
                                         const std::vector<int>& returned, int attempt, Time now) {
  const std::vector<int> ranks = waiting.waiting_ranks();
  const std::string& kind = waiting.call_of(ranks.front()).kind;
  const std::string what = rank_list(ranks) + " wait" + plural_s(ranks) + " in " + kind + "()";
  RunFailure failure{ErrorKind::user_code, "", {}};
  failure.message =
      rank_list(returned) + " finished the training function while " + what + ", which " + rank_list(returned) +
      " never called (attempt " + std::to_string(attempt) + ")\n" +
      "Every rank must make the same collective calls (barriers, broadcasts, questions for preemption info), "
      "in the same order.\n";
  for (const int rank : returned) {
    failure.ranks.push_back(
        rank_failure(group, rank, RankFailureKind::unmatched_collective, "finished while " + what, attempt));
  }
  failure.message += "What the ranks were doing:\n" + group.describe_others(-1, now);
  return failure;
}

RunFailure describe_endless_collective(const WorkerGroup& group, const StuckCollective& stuck,
                                       const std::vector<int>& returned, const std::string& positions, int attempt) {
  const std::string what = rank_list(stuck.waiting) + " wait" + plural_s(stuck.waiting) + " in " + stuck.name;
  RunFailure failure{ErrorKind::user_code, "", {}};
  failure.message = rank_list(returned) + " finished the training function while " + what + ", which " +
                    ranks_have(returned) + " not entered: that can never end (attempt " + std::to_string(attempt) +
                    ")\n"
                    "Every rank must call the same collectives, so it must make as many steps as the others (DDP and "
                    "FSDP call collectives in each step).\n";
  for (const int rank : returned) {
    failure.ranks.push_back(
        rank_failure(group, rank, RankFailureKind::unmatched_collective, "finished while " + what, attempt));
  }
  failure.message += "Where they stand in their collectives:\n" + positions;
  return failure;
}

RunFailure describe_different_calls(const WorkerGroup& group, const CollectiveBarrier& waiting, int different,
                                    int attempt, Time now) {
  const auto text = [&](int rank) {
    const CollectiveCall& call = waiting.call_of(rank);
    const std::string from = call.kind == "broadcast" ? " from rank " + std::to_string(call.root) : "";
    return "rank " + std::to_string(rank) + " called " + call.kind + "()" + from;
  };
  const std::string both = text(waiting.waiting_ranks().front()) + " and " + text(different);
  RunFailure failure{ErrorKind::user_code, "", {}};
  failure.ranks.push_back(rank_failure(group, different, RankFailureKind::different_collective, both, attempt));
  failure.message =
      both + " as their collective call #" + std::to_string(waiting.index() + 1) + " (attempt " +
      std::to_string(attempt) + ")\n" +
      "Every rank must make the same collective calls (barriers, broadcasts, questions for preemption info), in the "
      "same order.\n" +
      "What the ranks were doing:\n" + group.describe_others(-1, now);
  return failure;
}

RunFailure describe_setup(const WorkerGroup& group, const RankError& error, int attempt) {
  RunFailure failure{ErrorKind::user_code, to_text(error) + "\n" + error.traceback, {}};
  failure.source = FailureSource::setup;
  failure.exception = error;
  if (failure.message.back() != '\n') failure.message += '\n';
  failure.message += "Raised while the backend set up the group of " + std::to_string(group.size()) +
                     " workers, attempt " + std::to_string(attempt) + "\n";
  return failure;
}

std::string describe_unshared_storage(const WorkerGroup& group, std::vector<int> ranks,
                                      const std::string& storage_path) {
  std::sort(ranks.begin(), ranks.end());
  std::map<std::string, std::vector<int>> by_node;
  for (int rank : ranks) by_node[group.at(rank).plan.slot.hostname].push_back(rank);
  std::string nodes;
  for (const auto& [hostname, its_ranks] : by_node)
    nodes += (nodes.empty() ? "" : ", ") + hostname + " (" + rank_list(its_ranks) + ")";
  const std::string unseen =
      " is not shared by all nodes: what the driver made there is not seen on " + nodes + ". Checkpoints need ";
  if (const std::string_view scheme = scheme_of(storage_path); scheme.starts_with(python_scheme_prefix)) {
    return "the storage path " + storage_path.substr(scheme.size() + std::string_view("://").size()) +
           " on RunConfig.storage_filesystem" + unseen +
           "a filesystem that shows all processes the same; one in memory is each process's own";
  }
  return "the storage path " + shown_location(storage_path) + unseen +
         "a RunConfig.storage_path that every node shares, such as a mounted NFS folder or s3://...";
}

std::string headline(const RunFailure& failure) { return failure.message.substr(0, failure.message.find('\n')); }

}  // namespace headway::control
