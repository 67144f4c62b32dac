#include "driver/function_workers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headway::driver {
namespace {

/// What a worker counts as that says it uses no CPU.
constexpr double cpus_least = 0.01;
/// So many one data process gets, also where the user has given no number.
constexpr int workers_max = 1024;

}  // namespace

void FunctionWorkers::want(const Slot& slot, const wire::FunctionWorkersWanted& wanted, const std::vector<Slot>& slots,
                           const wire::StartSession& start, const std::weak_ptr<void>& run) {
  Request& request = requests_[slot.node_id];
  if (request.wanted.token != wanted.token) request = {};  // Another data process.
  request.wanted = wanted;
  request.slot = slot;
  request.place.cpus = std::max(wanted.cpus, cpus_least);
  request.place.labels = wanted.labels;
  for (const Slot& each : slots) request.place.not_on.insert(each.node_id);
  request.machines = static_cast<int>(request.place.not_on.size());
  request.start = start;
  request.start.resources = {{"CPU", wanted.cpus}};
  request.start.role = wire::role_json(wire::FunctionRole{slot.node_ip, wanted.port, wanted.token});
  request.run = run;
  request.most = live(request);
  request.losses = 0;
  request.missing = std::max(std::min(wanted.workers.value_or(workers_max), workers_max) - request.most, 0);
  for (auto& [number, worker] : workers_) {
    if (is_for(worker, request)) worker.wanted_again = worker.wanted_again || worker.process->ready();
  }
  fill();
  tell_engine();
}

/// Not one of a data process that was there before on that node.
bool FunctionWorkers::is_for(const Worker& worker, const Request& request) const {
  return worker.reader == request.slot.node_id && worker.token == request.wanted.token && !worker.ended_here;
}

int FunctionWorkers::live(const Request& request) const {
  return static_cast<int>(
      std::ranges::count_if(workers_, [&](const auto& entry) { return is_for(entry.second, request); }));
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
    // For any number one node is asked for.
    if (!request.wanted.workers && live(request) > 0) continue;
    engine::NodeRequest more;
    more.workers_max = request.wanted.workers ? request.missing : 1;
    more.each = {{"CPU", request.place.cpus}};
    more.selectors = {request.place.labels};
    lacking.push_back(std::move(more));
  }
  spare_.lack(this, std::move(lacking));
  services_.engine->use_spare_of(spare_.nodes_in_use(), spare_.lacking());
}

bool FunctionWorkers::start_one(Request& request, const std::vector<engine::SpareNode>& nodes) {
  if (request.missing <= 0) return false;
  const int there = live(request);
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
  workers_[number] = {request.slot.node_id, request.wanted.token, node->hostname, false, false, process};
  request.most = std::max(request.most, there + 1);
  spare_.take(number, node->node_id, request.place.cpus);
  process->begin();
  return true;
}

void FunctionWorkers::tell(Request& request) {
  std::map<std::string, int> there;
  for (const auto& [number, worker] : workers_) {
    if (is_for(worker, request)) ++there[worker.hostname];
  }
  if (there.empty() || std::exchange(request.told, true)) return;
  std::string words;
  for (const auto& [hostname, count] : there)
    words += (words.empty() ? "" : ", ") + std::to_string(count) + " on " + hostname;
  front_->push(Notice{"function workers for data sets that " + request.slot.hostname + " reads: " + words});
}

/// One that the data process needs no more is not replaced, unless workers were wanted again while
/// it was at work. Those that were ended for somebody's claim come again when there is room.
void FunctionWorkers::ended(std::int64_t number, const HelperEnd& end) {
  const auto found = workers_.extract(number);
  if (found.empty()) return;
  const Worker& worker = found.mapped();
  if (!worker.ended_here) spare_.give_back(number);
  const auto request = requests_.find(worker.reader);
  if (request != requests_.end() && is_for(worker, request->second)) {
    if (end.status.signaled || end.status.code != 0) {
      lost(request->second, worker, end.status);
    } else if (worker.wanted_again) {
      ++request->second.missing;
    }
  }
  fill();
  tell_engine();
}

/// One that has died is replaced, as often as there were workers.
void FunctionWorkers::lost(Request& request, const Worker& worker, const ExitStatus& status) {
  ++request.losses;
  if (request.losses == 1) {
    front_->push(Notice{"a function worker on " + worker.hostname + " " + to_text(status) +
                        "; what it was doing is done again elsewhere"});
  }
  if (request.losses <= request.most) {
    ++request.missing;
  } else if (std::exchange(request.missing, 0) > 0 || request.losses == request.most + 1) {
    front_->push(RunWarning{std::to_string(request.losses) + " function workers for data sets that " +
                            request.slot.hostname +
                            " reads have died; no more are started until a data set is read anew"});
  }
}

void FunctionWorkers::end(std::int64_t number) {
  const auto found = workers_.find(number);
  if (found == workers_.end() || found->second.ended_here) return;
  Worker& worker = found->second;
  const auto request = requests_.find(worker.reader);
  if (request != requests_.end() && is_for(worker, request->second)) ++request->second.missing;
  worker.ended_here = true;
  spare_.give_back(number);
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
  end_all(&node_id);
}

void FunctionWorkers::leave() {
  requests_.clear();
  end_all(nullptr);
}

/// Of one data process's node; null: of all.
void FunctionWorkers::end_all(const std::string* reader) {
  std::vector<std::int64_t> numbers;
  for (const auto& [number, worker] : workers_) {
    if (reader == nullptr || worker.reader == *reader) numbers.push_back(number);
  }
  for (const std::int64_t number : numbers) end(number);
  tell_engine();
}

}  // namespace headway::driver
