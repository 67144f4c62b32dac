#include "engine/node_pool.hpp"

#include <algorithm>
#include <numeric>

namespace headway::engine {
namespace {

std::string workers_text(int workers) { return std::to_string(workers) + (workers == 1 ? " worker" : " workers"); }

std::string selectors_text(const std::vector<Labels>& selectors) {
  if (selectors.empty()) return "";
  constexpr std::size_t shown_max = 4;
  std::string text = " on nodes with ";
  for (std::size_t i = 0; i < std::min(selectors.size(), shown_max); ++i)
    text += (i == 0 ? "" : ", ") + labels_text(selectors[i]);
  if (selectors.size() > shown_max) text += " and so on";
  return text + (selectors.size() > 1 ? " (one a worker)" : "");
}

std::string wanted_text(const Wanted& wanted) {
  std::string text = wanted.workers_min == wanted.workers_max
                         ? workers_text(wanted.workers_min)
                         : std::to_string(wanted.workers_min) + " to " + workers_text(wanted.workers_max);
  if (!wanted.claim.hard.empty()) text += " with " + resources_text(wanted.claim.hard) + " each";
  if (!wanted.beside.empty()) text += " and " + resources_text(wanted.beside) + " beside them (trainer_resources)";
  text += selectors_text(wanted.claim.selectors);
  if (wanted.placement == Placement::strict_pack) text += " on one node";
  if (wanted.placement == Placement::strict_spread) text += " on a node each";
  return text;
}

double cpus_of(const Resources& resources) {
  const auto cpus = resources.find("CPU");
  return cpus == resources.end() ? 0 : cpus->second;
}

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

void add_to(Resources& sum, const Resources& more) {
  for (const auto& [name, amount] : more) sum[name] += amount;
}

}  // namespace

void NodePool::add(node::NodeResources node) {
  nodes_.push_back({node::ResourceLedger(std::move(node)), false});
  serve_queue();
  changed();
}

/// Who waited for what was there now waits for nodes to join, and keeps nobody else from what is left.
void NodePool::remove(const std::string& node_id) {
  std::erase_if(nodes_, [&](const Node& node) { return node.ledger.node().node_id == node_id; });
  serve_queue();
}

void NodePool::drain(const std::string& node_id) {
  for (Node& node : nodes_) node.draining |= node.ledger.node().node_id == node_id;
  serve_queue();
}

void NodePool::changed() const {
  if (changed_) changed_();
}

NodePool::Rooms NodePool::rooms(const Wanted& wanted) const {
  Rooms rooms;
  for (const Node& node : nodes_) {
    Room room;
    const bool allowed = wanted.node_id.empty() || node.ledger.node().node_id == wanted.node_id;
    if (allowed && !node.draining) {
      room.hard = node.ledger.room_now(wanted.workers_max, wanted.claim);
      room.cpus = static_cast<int>(cpus_of(node.ledger.node().total));
    }
    rooms.push_back(room);
  }
  return rooms;
}

std::optional<NodePool::Places> NodePool::places(const Rooms& rooms, const Wanted& wanted, int workers) const {
  const std::vector<Labels>& selectors = wanted.claim.selectors;
  if (selectors.size() < 2 || static_cast<int>(selectors.size()) != workers) {
    auto counts = place(rooms, workers, wanted.placement);
    if (!counts) return std::nullopt;
    return Places{std::move(*counts), {}};
  }
  std::vector<std::vector<bool>> allowed;
  for (const Labels& selector : selectors) {
    std::vector<bool>& own = allowed.emplace_back();
    for (const Node& node : nodes_) own.push_back(matches(node.ledger.node().labels, selector));
  }
  auto node_of = assign(rooms, allowed, wanted.placement);
  if (!node_of) return std::nullopt;
  Places places{std::vector<int>(rooms.size(), 0), std::move(*node_of)};
  for (const int node : places.node_of) ++places.workers[static_cast<std::size_t>(node)];
  return places;
}

/// As many workers as there is room for.
std::optional<NodePool::Places> NodePool::best(const Rooms& rooms, const Wanted& wanted) const {
  // A group of any size shares CPUs when it has to; only one that may be smaller stays within them.
  Rooms within = rooms;
  if (wanted.claim.advised_cpus > 0) {
    for (Room& room : within) room.hard = std::min(room.hard, room.cpus);
  }
  for (int workers = wanted.workers_max; workers > wanted.workers_min; --workers) {
    if (auto placed = places(within, wanted, workers)) return placed;
  }
  return places(rooms, wanted, wanted.workers_min);
}

std::string NodePool::there_is() const {
  if (nodes_.empty()) return "no node";
  constexpr std::size_t shown_max = 8;
  std::string text;
  for (std::size_t i = 0; i < nodes_.size() && i < shown_max; ++i) {
    const node::NodeResources& node = nodes_[i].ledger.node();
    text += (i == 0 ? "" : ", ") + resources_text(node.total) + " on " + node.hostname;
    if (!node.labels.empty()) text += " with the labels " + labels_text(node.labels);
  }
  if (nodes_.size() > shown_max) text += " and " + std::to_string(nodes_.size() - shown_max) + " more nodes";
  return text + " in all";
}

Result<void> NodePool::check_possible(const Wanted& wanted) const {
  if (may_grow_ && wanted.node_id.empty()) return {};
  NodePool empty;
  for (const Node& node : nodes_) empty.nodes_.push_back({node::ResourceLedger(node.ledger.node()), false});
  if (empty.grant(0, wanted)) return {};
  return Error{ErrorKind::invalid_argument, wanted_text(wanted) + " can never be placed: there is " + there_is()};
}

void NodePool::acquire(std::int64_t holder, const Wanted& wanted, Answers answers) {
  if (auto possible = check_possible(wanted); !possible) {
    answers.granted(possible.error());
    return;
  }
  const bool gave_back = give_back(holder);
  const auto behind = [](const Request& request) { return !request.wanted.ahead; };
  const auto others = [&](const Request& request) { return request.wanted.validates != holder; };
  const auto own_validations = std::stable_partition(queue_.begin(), queue_.end(), others);
  const auto position = wanted.ahead ? std::find_if(queue_.begin(), queue_.end(), behind) : own_validations;
  queue_.insert(position, Request{holder, wanted, std::move(answers), false});
  serve_queue();
  if (gave_back) changed();
}

void NodePool::release(std::int64_t holder) {
  std::erase_if(queue_, [&](const Request& request) { return request.holder == holder; });
  give_back(holder);
  serve_queue();
  changed();
}

/// Whether there was anything.
bool NodePool::give_back(std::int64_t holder) {
  bool any = false;
  for (Node& node : nodes_) any |= node.ledger.release(holder);
  return any;
}

int NodePool::possible(std::int64_t holder, const Wanted& wanted) const {
  const auto before = [&](const Request& request) { return goes_before(request, holder); };
  if (std::any_of(queue_.begin(), queue_.end(), before)) return 0;
  NodePool then;
  then.nodes_ = nodes_;
  then.give_back(holder);
  const auto granted = then.grant(holder, wanted);
  return granted ? static_cast<int>(granted->slots.size()) : 0;
}

/// What is beside the workers goes to the first node that leaves room enough for them.
std::optional<Grant> NodePool::grant(std::int64_t holder, const Wanted& wanted) {
  if (wanted.beside.empty()) return grant_workers(holder, wanted);
  for (Node& node : nodes_) {
    const bool allowed = wanted.node_id.empty() || node.ledger.node().node_id == wanted.node_id;
    if (!allowed || node.draining || !node.ledger.claim(holder, 1, {wanted.beside, 0})) continue;
    if (auto granted = grant_workers(holder, wanted)) return granted;
    give_back(holder);
  }
  return std::nullopt;
}

std::optional<Grant> NodePool::grant_workers(std::int64_t holder, const Wanted& wanted) {
  const auto placed = best(rooms(wanted), wanted);
  if (!placed) return std::nullopt;
  Grant grant;
  double cpus = 0;
  int workers = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (placed->workers[i] == 0) continue;
    auto slots = nodes_[i].ledger.claim(holder, placed->workers[i], wanted.claim);
    if (!slots) {
      // Cannot be: there was room.
      give_back(holder);
      return std::nullopt;
    }
    cpus += cpus_of(nodes_[i].ledger.node().total);
    workers += placed->workers[i];
    std::move(slots->begin(), slots->end(), std::back_inserter(grant.slots));
  }
  if (!placed->node_of.empty()) grant.slots = in_order(std::move(grant.slots), placed->node_of);
  if (wanted.claim.advised_cpus * workers > cpus) {
    grant.warnings.push_back(
        std::to_string(workers) + " workers share " + std::to_string(static_cast<int>(cpus)) +
        (cpus == 1 ? " CPU" : " CPUs") +
        "; they run, but slower than with a CPU each (resources_per_worker={\"CPU\": n} makes CPUs a hard limit)");
  }
  return grant;
}

/// True when it has its slots.
bool NodePool::serve(Request& request) {
  auto granted = grant(request.holder, request.wanted);
  if (!granted) return false;
  request.answers.granted(std::move(*granted));
  return true;
}

/// Whether it had its place, were nothing given out. Nodes that are leaving give nothing any more.
bool NodePool::placeable(const Wanted& wanted) const {
  NodePool empty;
  for (const Node& node : nodes_) {
    if (!node.draining) empty.nodes_.push_back({node::ResourceLedger(node.ledger.node()), false});
  }
  return empty.grant(0, wanted).has_value();
}

/// The same beside what this holder has.
bool NodePool::placeable_beside(std::int64_t holder, const Wanted& wanted) const {
  NodePool then;
  for (const Node& node : nodes_) {
    if (node.draining) continue;
    then.nodes_.push_back(node);
    then.nodes_.back().ledger.keep_only(holder);
  }
  return then.grant(0, wanted).has_value();
}

/// Whether one that waits has its place before this holder would have more. A validation of its own that has none beside it would have
/// none either if it did not grow.
bool NodePool::goes_before(const Request& request, std::int64_t holder) const {
  const bool own = request.wanted.validates == holder;
  return own ? placeable_beside(holder, request.wanted) : placeable(request.wanted);
}

/// In order. Who has to wait for nodes to join keeps nobody waiting for whom there is room already: a run's training must not
/// stand behind its own validation that wants a node which is gone.
void NodePool::serve_queue() {
  std::size_t passed = 0;
  bool others = false;  // Somebody before waits for what others hold.
  while (passed < queue_.size()) {
    // Taken out first: who is granted may release, and so come here again.
    const auto place = queue_.begin() + static_cast<std::ptrdiff_t>(passed);
    Request request = std::move(*place);
    queue_.erase(place);
    if (!others && serve(request)) {
      passed = 0;
      continue;
    }
    others = others || placeable(request.wanted);
    if (!std::exchange(request.told_pending, true) && request.answers.pending) {
      request.answers.pending(wanted_text(request.wanted) +
                              (others ? " wait for other runs to end: " : " wait for nodes to join: ") + "there is " +
                              there_is());
    }
    queue_.insert(queue_.begin() + static_cast<std::ptrdiff_t>(passed++), std::move(request));
  }
}

Resources NodePool::total() const {
  Resources sum;
  for (const Node& node : nodes_) add_to(sum, node.ledger.node().total);
  return sum;
}

std::vector<node::NodeResources> NodePool::nodes() const {
  std::vector<node::NodeResources> nodes;
  for (const Node& node : nodes_) nodes.push_back(node.ledger.node());
  return nodes;
}

Resources NodePool::available() const {
  Resources sum;
  for (const Node& node : nodes_) add_to(sum, node.ledger.available());
  return sum;
}

}  // namespace headway::engine
