#include "engine/node_pool.hpp"

#include "engine/wanted_text.hpp"

#include <algorithm>
#include <numeric>

namespace headway::engine {
namespace {

/// Slots that are sorted by node, in the order of the workers that they are for.
std::vector<Slot> in_order(std::vector<Slot> slots, const std::vector<int>& node_of) {
  std::vector<std::size_t> workers(node_of.size());
  std::iota(workers.begin(), workers.end(), 0);
  std::stable_sort(workers.begin(), workers.end(),
                   [&](std::size_t one, std::size_t other) { return node_of[one] < node_of[other]; });
  std::vector<Slot> ordered(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) ordered[workers[i]] = std::move(slots[i]);
  return ordered;
}

NodeRequest request_of(const Wanted& wanted, int workers_min, int workers_max) {
  return {workers_min,      workers_max,  wanted.claim.hard, wanted.claim.advised_cpus, wanted.claim.selectors,
          wanted.placement, wanted.beside};
}

void add_to(std::vector<Demand::Part>& parts, NodeRequest request) {
  if (!parts.empty() && parts.back().request == request) {
    ++parts.back().times;
  } else {
    parts.push_back({std::move(request), 1});
  }
}

/// Without those by which Headway knows its nodes.
Labels without_own_labels(Labels labels) {
  std::erase_if(labels, [](const auto& label) { return label.first.starts_with("headway.io/"); });
  return labels;
}

void add_to(Resources& sum, const Resources& more) {
  for (const auto& [name, amount] : more) sum[name] += amount;
}

}  // namespace

void NodePool::add(node::NodeResources node) {
  const std::int64_t number = ++joined_;
  numbers_[node.node_id] = number;
  nodes_.try_emplace(number, Node{node::ResourceLedger(std::move(node)), false});
  nodes_changed();
  changed();
}

/// Who waited for what was there now waits for nodes to join, and keeps nobody else from what is
/// left.
void NodePool::remove(const std::string& node_id) {
  const auto number = numbers_.extract(node_id);
  if (number.empty()) return;
  nodes_.erase(number.mapped());
  nodes_changed();
}

void NodePool::drain(const std::string& node_id) {
  const auto number = numbers_.find(node_id);
  if (number == numbers_.end() || std::exchange(nodes_.at(number->second).draining, true)) return;
  nodes_changed();
}

void NodePool::nodes_changed() {
  for (const Request& request : queue_) request.placeable.reset();
  serve_queue();
}

void NodePool::changed() const {
  if (changed_) changed_();
}

std::string NodePool::there_is() const {
  if (nodes_.empty()) return "no node";
  constexpr std::size_t shown_max = 8;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [number, each] : nodes_) {
    if (shown == shown_max) break;
    const node::NodeResources& node = each.ledger.node();
    text += (shown++ == 0 ? "" : ", ") + resources_text(node.total) + " on " + node.hostname;
    const Labels labels = without_own_labels(node.labels);
    if (!labels.empty()) text += " with the labels " + labels_text(labels);
  }
  if (nodes_.size() > shown_max) text += " and " + std::to_string(nodes_.size() - shown_max) + " more nodes";
  return text + " in all";
}

std::optional<Plan> NodePool::look(const Views& views, const Wanted& wanted) const {
  ++plans_made_;
  return plan(views, wanted);
}

NodePool::Views NodePool::views_now() const {
  Views views;
  for (const auto& [number, node] : nodes_) views.push_back({&node.ledger, &node.ledger.free(), node.draining});
  return views;
}

NodePool::Views NodePool::views_if_all_released() const {
  Views views;
  for (const auto& [number, node] : nodes_)
    views.push_back({&node.ledger, &node.ledger.free_if_all_released(), node.draining});
  return views;
}

Result<void> NodePool::check_possible(const Wanted& wanted) const {
  if (may_grow_ && wanted.node_id.empty()) return {};
  Views views = views_if_all_released();
  // A node that is drained may be as before, some day.
  for (PlanNode& view : views) view.closed = false;
  if (look(views, wanted)) return {};
  return Error{ErrorKind::invalid_argument, to_text(wanted) + " can never be placed: there is " + there_is()};
}

void NodePool::acquire(std::int64_t holder, const Wanted& wanted, Answers answers) {
  if (auto possible = check_possible(wanted); !possible) {
    answers.granted(possible.error());
    return;
  }
  const bool gave_back = give_back(holder);
  std::list<Request> own_validations;
  for (auto request = queue_.begin(); request != queue_.end();) {
    const auto next = std::next(request);
    if (request->wanted.validates == holder) own_validations.splice(own_validations.end(), queue_, request);
    request = next;
  }
  const auto behind = [](const Request& request) { return !request.wanted.ahead; };
  const auto position = wanted.ahead ? std::find_if(queue_.begin(), queue_.end(), behind) : queue_.end();
  queue_.insert(position, Request{holder, wanted, std::move(answers)});
  ++untold_;
  queue_.splice(queue_.end(), own_validations);
  serve_queue();
  if (gave_back) changed();
}

void NodePool::release(std::int64_t holder) {
  std::erase_if(queue_, [&](const Request& request) {
    if (request.holder != holder) return false;
    if (!request.told_pending) --untold_;
    return true;
  });
  give_back(holder);
  serve_queue();
  changed();
}

/// Whether there was anything. What was granted and not yet answered is granted no more.
bool NodePool::give_back(std::int64_t holder) {
  std::erase_if(answers_, [&](const Answer& answer) { return answer.holder == holder; });
  small_.erase(holder);
  bool any = false;
  for (auto& [number, node] : nodes_) {
    any |= node.ledger.release(holder);
    node.advised.erase(holder);
  }
  return any;
}

int NodePool::possible(std::int64_t holder, const Wanted& wanted) const {
  // A validation of the same run that has no place beside it would have none if the run did not
  // grow.
  std::deque<node::Share> shares;
  Views beside_holder;
  const auto has_place_beside = [&](const Request& request) {
    if (!beside_holder.empty()) return look(beside_holder, request.wanted).has_value();
    for (const auto& [number, node] : nodes_) {
      shares.push_back(node.ledger.free_if_others_released(holder));
      beside_holder.push_back({&node.ledger, &shares.back(), node.draining});
    }
    return look(beside_holder, request.wanted).has_value();
  };
  const auto goes_before = [&](const Request& request) {
    return request.wanted.validates == holder ? has_place_beside(request) : is_placeable(request);
  };
  if (std::any_of(queue_.begin(), queue_.end(), goes_before)) return 0;
  Views views = views_now();
  for (PlanNode& view : views) {
    auto free = view.ledger->free_if_released(holder);
    if (free) view.free = &shares.emplace_back(std::move(*free));
  }
  const auto planned = look(views, wanted);
  return planned ? planned->workers : 0;
}

std::optional<Grant> NodePool::grant(std::int64_t holder, const Wanted& wanted) {
  const auto planned = look(views_now(), wanted);
  if (!planned) return std::nullopt;
  if (planned->beside_node >= 0) {
    std::next(nodes_.begin(), planned->beside_node)->second.ledger.claim(holder, 1, {wanted.beside, 0});
  }
  Grant grant;
  double cpus = 0;
  auto count = planned->counts.begin();
  for (auto& [number, node] : nodes_) {
    const int workers = *count++;
    if (workers == 0) continue;
    auto slots = node.ledger.claim(holder, workers, wanted.claim);
    if (!slots) {
      // Cannot be: there was capacity.
      give_back(holder);
      return std::nullopt;
    }
    if (wanted.claim.advised_cpus > 0) node.advised[holder] += wanted.claim.advised_cpus * workers;
    const Resources& total = node.ledger.node().total;
    if (const auto here = total.find("CPU"); here != total.end()) cpus += here->second;
    std::move(slots->begin(), slots->end(), std::back_inserter(grant.slots));
  }
  if (!planned->node_of.empty()) grant.slots = in_order(std::move(grant.slots), planned->node_of);
  if (wanted.claim.advised_cpus * planned->workers > cpus) {
    grant.warnings.push_back(
        std::to_string(planned->workers) + " workers share " + std::to_string(static_cast<int>(cpus)) +
        (cpus == 1 ? " CPU" : " CPUs") +
        "; they run, but slower than with a CPU each (resources_per_worker={\"CPU\": n} makes CPUs a hard limit)");
  }
  return grant;
}

bool NodePool::is_placeable(const Request& request) const {
  if (!request.placeable) request.placeable = look(views_if_all_released(), request.wanted).has_value();
  return *request.placeable;
}

/// True when it has its slots.
bool NodePool::serve(Request& request) {
  auto granted = grant(request.holder, request.wanted);
  if (!granted) return false;
  const int workers = static_cast<int>(granted->slots.size());
  if (workers < request.wanted.workers_max) small_[request.holder] = {request.wanted, workers};
  answers_.push_back({request.holder, [give = std::move(request.answers.granted),
                                       grant = std::move(*granted)]() mutable { give(std::move(grant)); }});
  return true;
}

/// `others`: it, or somebody before it, waits for what others hold.
void NodePool::tell_pending(Request& request, bool others) {
  if (std::exchange(request.told_pending, true)) return;
  --untold_;
  if (!request.answers.pending) return;
  std::string words = to_text(request.wanted) +
                      (others ? " wait for other runs to end: " : " wait for nodes to join: ") + "there is " +
                      there_is();
  answers_.push_back({request.holder, [tell = request.answers.pending, words = std::move(words)] { tell(words); }});
}

/// In order, up to the first one that waits for what others hold. A run's training must not stand
/// behind its own validation that wants a node which is gone, so those that wait for nodes to join
/// are passed over.
void NodePool::serve_queue() {
  bool others = false;
  for (auto request = queue_.begin(); request != queue_.end() && (!others || untold_ != 0);) {
    if (!others && is_placeable(*request)) {
      if (serve(*request)) {
        if (!request->told_pending) --untold_;
        request = queue_.erase(request);
        continue;
      }
      others = true;
    }
    tell_pending(*request, others);
    ++request;
  }
  give_answers();
  if (supply_changed_) supply_changed_();
  if (spare_changed_) spare_changed_();
}

/// After all is decided, since who is answered may ask and give back at once. That is answered in
/// turn.
void NodePool::give_answers() {
  if (gives_answers_) return;
  struct Guard {
    explicit Guard(bool& flag) : flag(flag) { flag = true; }
    ~Guard() { flag = false; }
    bool& flag;
  } const guard(gives_answers_);
  while (!answers_.empty()) {
    Answer answer = std::move(answers_.front());
    answers_.pop_front();
    answer.give();
  }
}

EngineView NodePool::view() const {
  EngineView view;
  for (const auto& [number, node] : nodes_) {
    view.nodes.push_back({node.ledger.node(), node.ledger.available(), node.draining});
  }
  view.waiting_count = static_cast<std::int64_t>(queue_.size());
  for (const Request& request : queue_) {
    if (view.waiting.size() == EngineView::waiting_max) break;
    view.waiting.push_back({request.holder, to_text(request.wanted), !is_placeable(request)});
  }
  return view;
}

std::vector<SpareNode> NodePool::spare() const {
  std::vector<SpareNode> spare;
  for (const auto& [number, node] : nodes_) {
    const node::NodeResources& own = node.ledger.node();
    const auto free = node.ledger.available().find("CPU");
    if (node.draining || free == node.ledger.available().end()) continue;
    double cpus = free->second;
    for (const auto& [holder, advised] : node.advised) cpus -= advised;
    spare.push_back({own.node_id, own.hostname, own.node_ip, std::max(cpus, 0.0), !own.gpu_ids.empty(), own.labels});
  }
  return spare;
}

void NodePool::use_spare_of(std::set<std::string> nodes, std::vector<NodeRequest> lacking) {
  if (spare_in_use_ == nodes && spare_lacking_ == lacking) return;
  spare_in_use_ = std::move(nodes);
  spare_lacking_ = std::move(lacking);
  if (supply_changed_) supply_changed_();
}

Demand NodePool::demand() const {
  Demand demand;
  for (const Request& request : queue_) {
    const Wanted& wanted = request.wanted;
    if (!wanted.node_id.empty()) continue;
    add_to(is_placeable(request) ? demand.could_use : demand.parts,
           request_of(wanted, wanted.workers_min, wanted.workers_max));
  }
  for (const auto& [holder, small] : small_) {
    const int missing = small.wanted.workers_max - std::max(small.workers, possible(holder, small.wanted));
    if (missing > 0) add_to(demand.could_use, request_of(small.wanted, 1, missing));
  }
  for (const NodeRequest& request : spare_lacking_) add_to(demand.could_use, request);
  return demand;
}

std::vector<std::string> NodePool::idle_nodes() const {
  std::vector<const WorkerClaim*> growing;
  for (const auto& [holder, small] : small_) {
    if (possible(holder, small.wanted) > small.workers) growing.push_back(&small.wanted.claim);
  }
  std::vector<std::string> idle;
  for (const auto& [number, node] : nodes_) {
    if (node.draining || !node.ledger.is_idle() || spare_in_use_.contains(node.ledger.node().node_id)) continue;
    const auto is_of_use = [&](const Request& request) {
      const node::Share& free = node.ledger.free();
      const bool holds_beside = !request.wanted.beside.empty() && free.capacity(1, request.wanted.beside) > 0;
      return holds_beside || node.ledger.capacity(free, 1, request.wanted.claim) > 0;
    };
    const auto may_grow_here = [&](const WorkerClaim* claim) {
      return node.ledger.capacity(node.ledger.free(), 1, *claim) > 0;
    };
    if (std::any_of(growing.begin(), growing.end(), may_grow_here)) continue;
    if (std::none_of(queue_.begin(), queue_.end(), is_of_use)) idle.push_back(node.ledger.node().node_id);
  }
  return idle;
}

Resources NodePool::total() const {
  Resources sum;
  for (const auto& [number, node] : nodes_) add_to(sum, node.ledger.node().total);
  return sum;
}

std::vector<node::NodeResources> NodePool::nodes() const {
  std::vector<node::NodeResources> nodes;
  for (const auto& [number, node] : nodes_) nodes.push_back(node.ledger.node());
  return nodes;
}

Resources NodePool::available() const {
  Resources sum;
  for (const auto& [number, node] : nodes_) add_to(sum, node.ledger.available());
  return sum;
}

}  // namespace headway::engine
