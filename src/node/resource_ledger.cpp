#include "node/resource_ledger.hpp"

#include <algorithm>
#include <cmath>

namespace headway::node {
namespace {

constexpr double slack = 1e-9;  // Fractions such as three thirds add up to not quite 1.

double amount_of(const Resources& resources, const std::string& name) {
  const auto found = resources.find(name);
  return found == resources.end() ? 0 : found->second;
}

int worker_threads(const NodeResources& node, int workers, const WorkerClaim& claim) {
  const auto named = claim.hard.find("CPU");
  const double cpus = named != claim.hard.end() ? named->second : amount_of(node.total, "CPU") / workers;
  return std::max(1, static_cast<int>(cpus));
}

}  // namespace

ResourceLedger::ResourceLedger(NodeResources node)
    : node_(std::move(node)), free_(node_.total), gpus_free_(node_.gpu_ids.size(), 1.0) {}

int ResourceLedger::room_now(int workers, const WorkerClaim& claim) const {
  if (!is_meant(claim)) return 0;
  int room = workers;
  for (const auto& [name, amount] : claim.hard) {
    if (amount <= 0) continue;
    const double times = std::floor((amount_of(free_, name) + slack) / amount + slack);
    if (times < room) room = static_cast<int>(std::max(times, 0.0));
  }
  const double wanted = amount_of(claim.hard, "GPU");
  if (wanted <= 0) return room;
  std::vector<double> gpus = gpus_free_;
  int placed = 0;
  while (placed < room && pick_gpus(wanted, gpus)) ++placed;
  return placed;
}

bool ResourceLedger::is_meant(const WorkerClaim& claim) const {
  if (claim.selectors.empty()) return true;
  return std::any_of(claim.selectors.begin(), claim.selectors.end(),
                     [this](const Labels& selector) { return matches(node_.labels, selector); });
}

std::optional<std::vector<std::size_t>> ResourceLedger::pick_gpus(double amount, std::vector<double>& free) {
  std::vector<std::size_t> picked;
  if (amount < 1) {
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (free[i] + slack < amount) continue;
      free[i] -= amount;
      return std::vector<std::size_t>{i};
    }
    return std::nullopt;
  }
  for (std::size_t i = 0; i < free.size() && static_cast<double>(picked.size()) < amount; ++i) {
    if (free[i] < 1 - slack) continue;
    free[i] = 0;
    picked.push_back(i);
  }
  if (static_cast<double>(picked.size()) < amount) return std::nullopt;
  return picked;
}

std::optional<std::vector<Slot>> ResourceLedger::claim(std::int64_t holder, int workers, const WorkerClaim& claim) {
  for (const auto& [name, amount] : claim.hard) {
    if (amount * workers > amount_of(free_, name) + slack) return std::nullopt;
  }
  std::vector<double> gpus = gpus_free_;
  std::vector<Slot> slots;
  for (int i = 0; i < workers; ++i) {
    Slot slot{node_.node_id, node_.hostname, node_.node_ip, worker_threads(node_, workers, claim), {}};
    if (const double wanted = amount_of(claim.hard, "GPU"); wanted > 0) {
      const auto picked = pick_gpus(wanted, gpus);
      if (!picked) return std::nullopt;
      for (std::size_t device : *picked) slot.gpu_ids.push_back(node_.gpu_ids[device]);
    }
    slots.push_back(std::move(slot));
  }
  Hold& hold = holds_[holder];
  hold.gpus.resize(gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) hold.gpus[i] += gpus_free_[i] - gpus[i];
  gpus_free_ = std::move(gpus);
  for (const auto& [name, amount] : claim.hard) {
    hold.amounts[name] += amount * workers;
    free_[name] -= amount * workers;
  }
  return slots;
}

void ResourceLedger::keep_only(std::int64_t holder) {
  const std::map<std::int64_t, Hold> holds = holds_;
  for (const auto& [other, hold] : holds) {
    if (other != holder) release(other);
  }
}

bool ResourceLedger::release(std::int64_t holder) {
  const auto hold = holds_.find(holder);
  if (hold == holds_.end()) return false;
  for (const auto& [name, amount] : hold->second.amounts) free_[name] += amount;
  for (std::size_t i = 0; i < hold->second.gpus.size(); ++i) gpus_free_[i] += hold->second.gpus[i];
  holds_.erase(hold);
  return true;
}

}  // namespace headway::node
