#include "driver/function_workers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headway::driver {
namespace {

/// What a worker counts as that says it uses no CPU.
constexpr double cpus_least = 0.01;
/// So many are wanted where the user has given no number (data::any_number_of_workers): one node is
/// asked for then.
constexpr int any_number = 1024;

}  // namespace

void FunctionWorkers::want(const Slot& slot, const wire::FunctionWorkersWanted& wanted, const std::vector<Slot>& slots,
                           const wire::StartSession& start, const std::weak_ptr<void>& run) {
  Request& request = requests_[slot.node_id];
  if (request.wanted.port != wanted.port) request = {};  // Another data process.
  request.wanted = wanted;
  request.slot = slot;
  request.place.cpus = std::max(wanted.cpus, cpus_least);
  request.place.labels = wanted.labels;
  for (const Slot& each : slots) request.place.not_on.insert(each.node_id);
  request.machines = static_cast<int>(request.place.not_on.size());
  request.start = start;
  request.start.resources = {{"CPU", wanted.cpus}};
  request.start.role =
      wire::role_json(wire::FunctionRole{slot.node_ip, wanted.port, wanted.token, enter_working_directory_});
  request.run = run;
  request.missing = std::max(wanted.workers - live(slot.node_id), 0);
  fill();
  tell_engine();
}

int FunctionWorkers::live(const std::string& node_id) const {
  return static_cast<int>(std::ranges::count_if(
      workers_, [&](const auto& entry) { return entry.second.reader == node_id && !entry.second.ended_here; }));
}

/// One for each in turn, so that all have something of the little that there may be. Each machine
/// gets its part at most, also before the others have asked.
void FunctionWorkers::fill() {
  const auto lacks = [](const auto& entry) { return entry.second.missing > 0; };
  if (filling_ || std::ranges::none_of(requests_, lacks)) return;
  filling_ = true;
  const std::vector<engine::SpareNode> nodes = services_.engine->spare();
  for (bool any = true; any;) {
    any = false;
    for (auto& [node_id, request] : requests_) any = start_one(request, nodes) || any;
  }
  filling_ = false;
  for (auto& [node_id, request] : requests_) tell(request);
}

/// An engine may bring nodes for workers whose labels the user has named. Others use what is there.
void FunctionWorkers::tell_engine() {
  std::vector<engine::NodeRequest> lacking;
  for (const auto& [node_id, request] : requests_) {
    if (request.missing <= 0 || request.place.labels.empty()) continue;
    engine::NodeRequest more;
    if (request.wanted.workers >= any_number && live(node_id) > 0) continue;
    more.workers_max = request.wanted.workers >= any_number ? 1 : request.missing;
    more.each = {{"CPU", request.place.cpus}};
    more.selectors = {request.place.labels};
    lacking.push_back(std::move(more));
  }
  spare_.lack(this, std::move(lacking));
  services_.engine->use_spare_of(spare_.nodes_in_use(), spare_.lacking());
}

bool FunctionWorkers::start_one(Request& request, const std::vector<engine::SpareNode>& nodes) {
  if (request.missing <= 0) return false;
  const int there = live(request.slot.node_id);
  const auto is_live = [](const auto& entry) { return !entry.second.ended_here; };
  const int all = static_cast<int>(std::ranges::count_if(workers_, is_live)) + spare_.room(nodes, request.place);
  if (there >= (all + request.machines - 1) / request.machines) return false;
  const engine::SpareNode* node = spare_.find(nodes, request.place);
  if (node == nullptr) return false;
  --request.missing;
  HelperPlan plan;
  plan.name = "function worker on " + node->hostname;
  plan.launch = launch_;
  plan.start = request.start;
  const int threads = std::max(static_cast<int>(std::ceil(request.place.cpus)), 1);
  plan.place = Slot{node->node_id, node->hostname, node->node_ip, threads, {}};
  const std::int64_t number = services_.routes->number();
  plan.launch.scratch = "functions." + std::to_string(number);
  HelperProcess::Handlers handlers;
  handlers.ready = [this, number] { workers_.at(number).process->send(wire::to_frame(wire::Train{})); };
  handlers.line = [this, name = plan.name](std::string_view line) { return front_->push_line(name, line); };
  handlers.ended = [this, number](const HelperEnd& end) { ended(number, end); };
  const auto process = std::make_shared<HelperProcess>(services_, request.run, std::move(plan), std::move(handlers));
  workers_[number] = {request.slot.node_id, request.wanted.port, node->hostname, false, process};
  spare_.take(number, node->node_id, request.place.cpus);
  process->begin();
  return true;
}

void FunctionWorkers::tell(Request& request) {
  std::map<std::string, int> there;
  for (const auto& [number, worker] : workers_) {
    if (worker.reader == request.slot.node_id && !worker.ended_here) ++there[worker.hostname];
  }
  if (there.empty() || std::exchange(request.told, true)) return;
  std::string words;
  for (const auto& [hostname, count] : there)
    words += (words.empty() ? "" : ", ") + std::to_string(count) + " on " + hostname;
  front_->push(Notice{"function workers for data sets that " + request.slot.hostname + " reads: " + words});
}

/// One that the data process needs no more is not replaced, one that has died is, as often as there
/// were workers. Those that were ended for somebody's claim come again when there is room.
void FunctionWorkers::ended(std::int64_t number, const HelperEnd& end) {
  const auto found = workers_.extract(number);
  if (found.empty()) return;
  const Worker& worker = found.mapped();
  if (!worker.ended_here) spare_.give_back(number);
  const auto request = requests_.find(worker.reader);
  if (request != requests_.end() && request->second.wanted.port == worker.port && !worker.ended_here) {
    const bool died = end.status.signaled || end.status.code != 0;
    if (died && ++request->second.losses <= request->second.wanted.workers) ++request->second.missing;
    if (died && request->second.losses == 1) {
      front_->push(Notice{"a function worker on " + worker.hostname + " " + to_text(end.status) +
                          "; what it was doing is done again elsewhere"});
    }
  }
  fill();
  tell_engine();
}

void FunctionWorkers::end(std::int64_t number) {
  const auto found = workers_.find(number);
  if (found == workers_.end() || std::exchange(found->second.ended_here, true)) return;
  const Worker& worker = found->second;
  spare_.give_back(number);
  if (const auto request = requests_.find(worker.reader); request != requests_.end()) ++request->second.missing;
  const std::shared_ptr<HelperProcess> process = worker.process;  // Its end may come at once.
  process->end(control::EndMode::kill);
}

void FunctionWorkers::look() {
  if (workers_.empty() && requests_.empty()) return;
  for (const std::int64_t number : spare_.too_many(services_.engine->spare())) {
    end(number);
  }
  fill();
  tell_engine();
}

void FunctionWorkers::forget(const std::string& node_id) {
  requests_.erase(node_id);
  std::vector<std::int64_t> numbers;
  for (const auto& [number, worker] : workers_) {
    if (worker.reader == node_id) numbers.push_back(number);
  }
  for (const std::int64_t number : numbers) end(number);
  tell_engine();
}

void FunctionWorkers::leave() {
  requests_.clear();
  std::vector<std::int64_t> numbers;
  for (const auto& [number, worker] : workers_) numbers.push_back(number);
  for (const std::int64_t number : numbers) end(number);
  tell_engine();
}

}  // namespace headway::driver
