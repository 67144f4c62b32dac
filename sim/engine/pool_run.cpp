#include "sim/engine/pool_run.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace headway::engine::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double node_cpus = 8;
constexpr double node_gpus = 2;
constexpr auto faults_for = seconds(600);

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

/// How many workers of a request one node of the provider's takes.
int workers_on_a_node(const Resources& each) {
  double most = 1e9;
  for (const auto& [name, amount] : each) {
    const double there = name == "CPU" ? node_cpus : name == "GPU" ? node_gpus : 0;
    if (amount > 0) most = std::min(most, std::floor(there / amount));
  }
  return static_cast<int>(most);
}

int nodes_for(const NodeRequest& request) {
  switch (request.placement) {
    case Placement::strict_pack: return 1;
    case Placement::strict_spread: return request.workers_min;
    default: break;
  }
  const int there = std::max(1, workers_on_a_node(request.each));
  return (request.workers_min + there - 1) / there;
}

}  // namespace

PoolRun::PoolRun(std::uint64_t seed, Scale scale) : random_(seed), scale_(scale) {
  pool_.on_supply_change([this] { look_soon(); });
}

PoolCounts PoolRun::run() {
  for (int i = 0; i < scale_.nodes_at_start; ++i) join("node-" + std::to_string(++names_), false);
  plan_holders();
  plan_faults();
  while (!schedule_.empty()) schedule_.step();
  check_books();
  check_end();
  return counts_;
}

/// The first needs as many nodes as there may be, the others some or a few.
void PoolRun::plan_holders() {
  for (std::int64_t id = 1; id <= scale_.holders; ++id) {
    Wanted& wanted = holders_[id].wanted;
    wanted.claim.hard = {{"CPU", static_cast<double>(1 + random_.below(4))}};
    if (random_.one_in(3)) wanted.claim.hard["GPU"] = 1;
    const int on_one = workers_on_a_node(wanted.claim.hard);
    wanted.placement = random_.one_of<Placement>(
        {Placement::pack, Placement::pack, Placement::spread, Placement::strict_pack, Placement::strict_spread});
    if (id == 1) wanted.placement = Placement::strict_spread;
    const int nodes = id == 1 ? scale_.nodes_max : 1 + random_.below(random_.one_in(4) ? scale_.nodes_max : 4);
    const bool by_node = wanted.placement == Placement::strict_spread;
    wanted.workers_max = wanted.placement == Placement::strict_pack ? 1 + random_.below(on_one)
                         : by_node                                  ? nodes
                                                                    : nodes * on_one;
    wanted.workers_min = id > 1 && random_.one_in(3) ? 1 + random_.below(wanted.workers_max) : wanted.workers_max;
    schedule_.at(id == 1 ? Time{} : Time{} + random_.between(Duration{}, seconds(300)), [this, id] { ask(id); });
  }
}

/// Nodes that nobody has wanted join, too.
void PoolRun::plan_faults() {
  for (int i = 0; i < scale_.faults; ++i) {
    schedule_.at(Time{} + random_.between(Duration{}, faults_for), [this] { fault(); });
  }
}

void PoolRun::ask(std::int64_t id) {
  Holder& holder = holders_.at(id);
  holder.waiting = true;
  const int turn = ++holder.turn;
  Engine::Answers answers;
  answers.granted = [this, id, turn](const Result<Grant>& grant) {
    require(grant.has_value(), "a request was refused that more nodes could serve");
    granted(id, turn, *grant);
  };
  pool_.acquire(id, holder.wanted, std::move(answers));
}

void PoolRun::granted(std::int64_t id, int turn, const Grant& grant) {
  Holder& holder = holders_.at(id);
  require(holder.waiting && holder.turn == turn, "an answer came to a request that was withdrawn or answered");
  holder.waiting = false;
  counts_.granted += 1;
  const int workers = static_cast<int>(grant.slots.size());
  require(workers >= holder.wanted.workers_min && workers <= holder.wanted.workers_max, "a group has a wrong size");
  std::set<std::string> places;
  for (const Slot& slot : grant.slots) {
    const auto node = nodes_.find(slot.node_id);
    require(node != nodes_.end(), "a place was given on " + slot.node_id + ", which is not there");
    require(!node->second.going, "a place was given on " + slot.node_id + ", which is going");
    for (const auto& [name, amount] : holder.wanted.claim.hard) {
      double& used = node->second.used[name];
      used += amount;
      require(used <= node->second.total.at(name) + 1e-9, name + " of " + slot.node_id + " was given twice");
    }
    node->second.holders.insert(id);
    holder.places.push_back(slot.node_id);
    places.insert(slot.node_id);
  }
  if (holder.wanted.placement == Placement::strict_pack) require(places.size() == 1, "a packed group is spread");
  if (holder.wanted.placement == Placement::strict_spread)
    require(places.size() == grant.slots.size(), "a spread group shares a node");
  schedule_.after(random_.between(seconds(5), seconds(200)), [this, id, turn] {
    if (holders_.at(id).turn == turn) release(id);
  });
}

void PoolRun::release(std::int64_t id) {
  Holder& holder = holders_.at(id);
  ++holder.turn;
  holder.waiting = false;
  for (const std::string& place : std::exchange(holder.places, {})) {
    const auto node = nodes_.find(place);
    if (node == nodes_.end()) continue;
    node->second.holders.erase(id);
    for (const auto& [name, amount] : holder.wanted.claim.hard) node->second.used[name] -= amount;
  }
  pool_.release(id);
}

void PoolRun::join(const std::string& id, bool of_provider) {
  node::NodeResources node;
  node.node_id = id;
  node.hostname = id;
  node.total = {{"CPU", node_cpus}, {"GPU", node_gpus}};
  for (int gpu = 0; gpu < static_cast<int>(node_gpus); ++gpu) node.gpu_ids.push_back(std::to_string(gpu));
  Node& own = nodes_[id];
  own.total = node.total;
  own.of_provider = of_provider;
  counts_.joined += 1;
  counts_.nodes_most = std::max(counts_.nodes_most, static_cast<int>(nodes_.size()));
  if (of_provider) supply_.joined(id);
  pool_.add(std::move(node));
}

/// As a driver does: the engine hears first, then those who had something there.
void PoolRun::lose(const std::string& id) {
  const auto node = nodes_.extract(id);
  if (node.empty()) return;
  require(supply_.left(id) == node.mapped().of_provider, "the supply does not know whose " + id + " was");
  pool_.remove(id);
  if (!wanted_.is_empty()) provide();
  for (const std::int64_t holder : node.mapped().holders) {
    release(holder);
    const int turn = holders_.at(holder).turn;
    schedule_.after(random_.between(milliseconds(1), seconds(2)), [this, holder, turn] {
      if (holders_.at(holder).turn == turn) ask(holder);
    });
  }
}

void PoolRun::fault() {
  if (random_.one_in(4)) {
    join("stranger-" + std::to_string(++names_), false);
    return;
  }
  const auto id = any_node();
  if (!id) return;
  if (random_.one_in(2)) {
    counts_.lost += 1;
    lose(*id);
    return;
  }
  Node& node = nodes_.at(*id);
  if (node.going) return;
  counts_.preempted += 1;
  node.going = true;
  pool_.drain(*id);
  schedule_.after(random_.between(Duration{}, seconds(30)), [this, id = *id] { lose(id); });
}

std::optional<std::string> PoolRun::any_node() {
  if (nodes_.empty()) return std::nullopt;
  // By its name, so that a large cluster is not walked through.
  const auto from = nodes_.lower_bound("node-" + std::to_string(random_.below(static_cast<int>(names_) + 1)));
  return from == nodes_.end() ? nodes_.begin()->first : from->first;
}

/// Not at once, since a change may be one of many: as SuppliedPool does.
void PoolRun::look_soon() {
  if (std::exchange(looks_soon_, true)) return;
  schedule_.after(Duration{}, [this] { look(); });
}

void PoolRun::look() {
  looks_soon_ = false;
  const NodeSupply::Orders orders = supply_.look(schedule_.now(), pool_.demand(), pool_.idle_nodes());
  if (orders.want) {
    wanted_ = *orders.want;
    provide();
  }
  for (const std::string& id : orders.give_back) {
    Node& node = nodes_.at(id);
    require(node.of_provider && !node.given_back, id + " is not to be given back");
    require(node.holders.empty(), id + " was given back, and somebody has something there");
    node.given_back = node.going = true;
    counts_.given_back += 1;
    pool_.drain(id);
    schedule_.after(grained(random_.between(milliseconds(10), seconds(2))), [this, id] { lose(id); });
  }
  next_look_ = orders.next;
  if (!orders.next) return;
  schedule_.at(*orders.next, [this, time = *orders.next] {
    if (next_look_ == time) look_soon();
  });
}

/// What waits needs so many nodes, those that are there among them. Some never come;
/// the provider then starts another.
void PoolRun::provide() {
  int wanted = 0;
  for (const Demand::Part& part : wanted_.parts) wanted = std::max(wanted, nodes_for(part.request));
  require(wanted <= scale_.nodes_max, "more nodes are wanted than anybody has asked for");
  int there = 0;
  for (const auto& [id, node] : nodes_) there += node.going ? 0 : 1;
  const auto missing = static_cast<std::size_t>(std::max(0, wanted - there));
  while (coming_.size() > missing) coming_.erase(coming_.begin());
  while (coming_.size() < missing) {
    const std::string id = "node-" + std::to_string(++names_);
    coming_.insert(id);
    const bool fails = random_.one_in(20);
    schedule_.after(grained(random_.between(milliseconds(200), seconds(20))), [this, id, fails] {
      if (coming_.erase(id) == 0) return;
      if (!fails) return join(id, true);
      provide();
    });
  }
}

Duration PoolRun::grained(Duration duration) const { return (duration / scale_.grain + 1) * scale_.grain; }

void PoolRun::check_books() {
  Resources total;
  Resources free;
  for (const auto& [id, node] : nodes_) {
    for (const auto& [name, amount] : node.total) {
      const auto used = node.used.find(name);
      total[name] += amount;
      free[name] += amount - (used == node.used.end() ? 0 : used->second);
    }
  }
  for (const auto& [name, amount] : total) {
    require(std::abs(pool_.total()[name] - amount) < 1e-6, "the pool counts another total of " + name);
    require(std::abs(pool_.available()[name] - free[name]) < 1e-6, "the pool counts another rest of " + name);
  }
}

void PoolRun::check_end() {
  for (const auto& [id, holder] : holders_) {
    require(!holder.waiting, "holder " + std::to_string(id) + " was never served");
  }
  require(pool_.demand().is_empty(), "nodes are wanted, and nobody waits");
  require(coming_.empty(), "nodes come that nobody has wanted");
  for (const auto& [id, node] : nodes_) require(!node.of_provider, id + " was never given back");
}

std::optional<std::string> run_seed(std::uint64_t seed, Scale scale, PoolCounts* counts) {
  try {
    const PoolCounts found = PoolRun(seed, scale).run();
    if (counts != nullptr) *counts = found;
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  return {};
}

}  // namespace headway::engine::sim
