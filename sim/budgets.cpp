#include "sim/budgets.hpp"

#include "sim/violation.hpp"

#include <algorithm>

namespace headway::sim {

using control::FailureCause;

namespace {

constexpr std::string_view preempted = "preempted: ";
constexpr std::string_view grows = "there is capacity for more workers";

}  // namespace

bool Budgets::is_growth(const control::Command& command) {
  const auto* end = std::get_if<control::EndWorkers>(&command);
  return end != nullptr && end->reason.starts_with(grows);
}

void Budgets::begins(const control::StartWorkers& command) {
  if (!nodes_.empty() && cause()) ++counts_.at(static_cast<std::size_t>(*cause()));
  attempt_ = command.attempt;
  training_ = bereaved_ = hook_failed_ = false;
  reason_.reset();
  nodes_.clear();
  gone_.clear();
  for (const WorkerPlan& plan : command.plans) nodes_[plan.rank] = plan.slot.node_id;
}

void Budgets::ends(const control::EndWorkers& command, int world_size) {
  if (reason_) return;
  reason_ = command.reason;
  const bool leaves = !leaving().empty();
  require(!reason_->starts_with(preempted) || leaves, invariant::budget, "preempted, and none of its nodes leaves");
  require(!reason_->starts_with(grows) || (capacity_ > world_size && world_size < scaling_.num_workers),
          invariant::world_size, "a group ends to grow, and there is no capacity");
  // An exception, a death or a lost node.
  const bool failed =
      reason_->find(", in attempt ") != std::string::npos || reason_->find("Error: ") != std::string::npos;
  require(!bereaved_ || !failed || reason_->starts_with(preempted), invariant::budget,
          "what follows from a preemption counts as a failure");
}

void Budgets::hears(const control::SetupFinished& event) {
  if (event.attempt == attempt_ && event.error && !reason_) hook_failed_ = true;
}

void Budgets::hears(const control::WorkerExited& event) {
  if (event.attempt == attempt_ && !reason_) gone_.insert(event.rank);
}

void Budgets::hears(const control::NodeLost& event, const std::set<int>& returned) {
  if (!leaving_.contains(event.node_id)) return;
  for (const auto& [rank, node] : nodes_) {
    bereaved_ |= node == event.node_id && !returned.contains(rank) && !gone_.contains(rank);
  }
}

std::map<std::string, std::vector<int>> Budgets::leaving() const {
  std::map<std::string, std::vector<int>> leaving;
  for (const auto& [rank, node] : nodes_) {
    if (driver_leaves_ || leaving_.contains(node)) leaving[node].push_back(rank);
  }
  return leaving;
}

bool Budgets::may_save() const {
  const bool any_leaves = std::ranges::any_of(nodes_, [&](const auto& node) { return leaving_.contains(node.second); });
  return training_ && !any_leaves;
}

Budgets::Cause Budgets::cause() const {
  if (reason_ && reason_->starts_with(grows)) return std::nullopt;
  if (reason_ && reason_->starts_with(preempted)) return FailureCause::preemption;
  return trained_ && !training_ && !hook_failed_ ? FailureCause::start : FailureCause::group;
}

int Budgets::limit() const {
  switch (*cause()) {
    case FailureCause::group: return allowed_.max_failures;
    case FailureCause::start: return allowed_.controller_failure_limit;
    case FailureCause::preemption: return allowed_.max_preemption_failures;
  }
  return 0;
}

bool Budgets::died() const { return cause() && *cause() != FailureCause::preemption; }

bool Budgets::may_restart() const { return !cause() || limit() == -1 || count() < limit(); }

std::string Budgets::words() const {
  constexpr std::array names{"failures", "failed starts", "preemptions"};
  return std::to_string(count()) + " " + names.at(static_cast<std::size_t>(*cause())) + ", of which " +
         std::to_string(limit()) + " are allowed";
}

}  // namespace headway::sim
