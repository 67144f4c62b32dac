#include "node/resource_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headway::node {
namespace {

constexpr double slack = 1e-9;  // Fractions such as three thirds add up to not quite 1.

double amount_of(const Resources& resources, const std::string& name) {
  const auto found = resources.find(name);
  return found == resources.end() ? 0 : found->second;
}

/// How often `amount` goes into `free`.
double times(double free, double amount) { return std::floor((free + slack) / amount + slack); }

int worker_threads(const NodeResources& node, int workers, const WorkerClaim& claim) {
  const auto named = claim.hard.find("CPU");
  const double cpus = named != claim.hard.end() ? named->second : amount_of(node.total, "CPU") / workers;
  return std::max(1, static_cast<int>(cpus));
}

/// Calls `use(device, workers)` for the devices that serve workers of which each wants less than
/// one, until `workers` are served.
template <class Use>
int share_gpus(const std::vector<double>& free, int workers, double amount, Use use) {
  int served = 0;
  for (std::size_t device = 0; device < free.size() && served < workers; ++device) {
    const int here = static_cast<int>(std::clamp<double>(times(free[device], amount), 0, workers - served));
    use(device, here);
    served += here;
  }
  return served;
}

/// The same for workers that want whole devices; `use(device, worker)`.
template <class Use>
int give_gpus(const std::vector<double>& free, int workers, double amount, Use use) {
  const double each = std::ceil(amount);
  const auto whole = std::count_if(free.begin(), free.end(), [](double part) { return part >= 1 - slack; });
  const int served = static_cast<int>(std::min<double>(workers, std::floor(static_cast<double>(whole) / each)));
  double given = 0;
  for (std::size_t device = 0; device < free.size() && given < served * each; ++device) {
    if (free[device] < 1 - slack) continue;
    use(device, static_cast<int>(given / each));
    ++given;
  }
  return served;
}

}  // namespace

int Share::capacity(int workers, const Resources& each) const {
  int capacity = workers;
  for (const auto& [name, amount] : each) {
    if (amount <= 0) continue;
    const double fit = times(amount_of(amounts, name), amount);
    if (fit < capacity) capacity = static_cast<int>(std::max(fit, 0.0));
  }
  const double wanted = amount_of(each, "GPU");
  if (wanted <= 0) return capacity;
  const auto ignore = [](std::size_t, int) {};
  return wanted < 1 ? share_gpus(gpus, capacity, wanted, ignore) : give_gpus(gpus, capacity, wanted, ignore);
}

void Share::add(const Share& other) {
  for (const auto& [name, amount] : other.amounts) amounts[name] += amount;
  for (std::size_t device = 0; device < other.gpus.size(); ++device) gpus[device] += other.gpus[device];
}

void Share::subtract(const Share& other) {
  for (const auto& [name, amount] : other.amounts) amounts[name] -= amount;
  for (std::size_t device = 0; device < other.gpus.size(); ++device) gpus[device] -= other.gpus[device];
}

std::optional<TakenShare> take(Share& free, int workers, const Resources& each) {
  if (free.capacity(workers, each) < workers) return std::nullopt;
  TakenShare taken{{{}, std::vector<double>(free.gpus.size(), 0)}, {}};
  taken.gpus_of.resize(static_cast<std::size_t>(workers));
  for (const auto& [name, amount] : each) taken.share.amounts[name] = amount * workers;
  const double wanted = amount_of(each, "GPU");
  if (wanted > 0 && wanted < 1) {
    std::size_t worker = 0;
    share_gpus(free.gpus, workers, wanted, [&](std::size_t device, int served) {
      taken.share.gpus[device] = wanted * served;
      for (int i = 0; i < served; ++i) taken.gpus_of[worker++] = {device};
    });
  } else if (wanted >= 1) {
    give_gpus(free.gpus, workers, wanted, [&](std::size_t device, int worker) {
      taken.share.gpus[device] = free.gpus[device];
      taken.gpus_of[static_cast<std::size_t>(worker)].push_back(device);
    });
  }
  free.subtract(taken.share);
  return taken;
}

ResourceLedger::ResourceLedger(NodeResources node)
    : node_(std::move(node)), all_{node_.total, std::vector<double>(node_.gpu_ids.size(), 1.0)}, free_(all_) {}

int ResourceLedger::capacity(const Share& free, int workers, const WorkerClaim& claim) const {
  return is_meant(claim) ? free.capacity(workers, claim.hard) : 0;
}

bool ResourceLedger::is_meant(const WorkerClaim& claim) const {
  if (claim.selectors.empty()) return true;
  return std::any_of(claim.selectors.begin(), claim.selectors.end(),
                     [this](const Labels& selector) { return matches(node_.labels, selector); });
}

std::optional<std::vector<Slot>> ResourceLedger::claim(std::int64_t holder, int workers, const WorkerClaim& claim) {
  auto taken = take(free_, workers, claim.hard);
  if (!taken) return std::nullopt;
  const int threads = worker_threads(node_, workers, claim);
  std::vector<Slot> slots;
  for (const std::vector<std::size_t>& devices : taken->gpus_of) {
    Slot& slot = slots.emplace_back(Slot{node_.node_id, node_.hostname, node_.node_ip, threads, {}});
    for (const std::size_t device : devices) slot.gpu_ids.push_back(node_.gpu_ids[device]);
  }
  const auto [hold, first] = holds_.emplace(holder, taken->share);
  if (!first) hold->second.add(taken->share);
  return slots;
}

bool ResourceLedger::release(std::int64_t holder) {
  const auto hold = holds_.extract(holder);
  if (hold.empty()) return false;
  free_.add(hold.mapped());
  return true;
}

std::optional<Share> ResourceLedger::free_if_released(std::int64_t holder) const {
  const auto hold = holds_.find(holder);
  if (hold == holds_.end()) return std::nullopt;
  Share free = free_;
  free.add(hold->second);
  return free;
}

Share ResourceLedger::free_if_others_released(std::int64_t holder) const {
  Share free = all_;
  if (const auto hold = holds_.find(holder); hold != holds_.end()) free.subtract(hold->second);
  return free;
}

}  // namespace headway::node
