#include "engine/supplied_pool.hpp"

namespace headway::engine {

namespace asio = boost::asio;

namespace {

Time time_of(std::chrono::steady_clock::time_point point) {
  return Time(std::chrono::duration_cast<Duration>(point.time_since_epoch()));
}

/// With the CPU that its workers imply as a claim.
Wanted with_own_cpus(Wanted wanted) {
  if (wanted.validates || !wanted.node_id.empty()) return wanted;
  if (const double cpus = std::exchange(wanted.claim.advised_cpus, 0); cpus > 0) wanted.claim.hard["CPU"] += cpus;
  return wanted;
}

}  // namespace

SuppliedPool::SuppliedPool(asio::io_context& loop, std::unique_ptr<NodeProvider> provider,
                           std::function<void(const std::string&)> warn, NodeSupply::Settings settings)
    : NodePool(true),
      loop_(loop),
      provider_(std::move(provider)),
      warn_(std::move(warn)),
      supply_(settings),
      timer_(loop) {
  on_supply_change([this] { look_soon(); });
}

void SuppliedPool::open(const JoinAddress& join) {
  const auto warn = [warn = warn_, alive = std::weak_ptr(alive_)](const std::string& text) {
    const auto open = alive.lock();
    if (open && *open) warn(text);
  };
  is_open_ = true;
  provider_->open({loop_, join, warn});
  look_soon();
}

void SuppliedPool::close() {
  *alive_ = false;
  timer_.cancel();
  if (std::exchange(is_open_, false)) provider_->close();
}

void SuppliedPool::acquire(std::int64_t holder, const Wanted& wanted, Answers answers) {
  NodePool::acquire(holder, with_own_cpus(wanted), std::move(answers));
}

int SuppliedPool::possible(std::int64_t holder, const Wanted& wanted) const {
  return NodePool::possible(holder, with_own_cpus(wanted));
}

Result<void> SuppliedPool::check_possible(const Wanted& wanted) const {
  return NodePool::check_possible(with_own_cpus(wanted));
}

void SuppliedPool::add(node::NodeResources node) {
  if (is_open_ && provider_->joined(node)) supply_.joined(node.node_id);
  NodePool::add(std::move(node));
}

void SuppliedPool::remove(const std::string& node_id) {
  if (supply_.left(node_id) && is_open_) provider_->left(node_id);
  NodePool::remove(node_id);
}

void SuppliedPool::look_soon() {
  if (!is_open_ || std::exchange(looks_soon_, true)) return;
  asio::post(loop_, [this, alive = std::weak_ptr(alive_)] {
    const auto open = alive.lock();
    if (open && *open) look();
  });
}

void SuppliedPool::look() {
  looks_soon_ = false;
  const NodeSupply::Orders orders = supply_.look(time_of(std::chrono::steady_clock::now()), demand(), idle_nodes());
  if (orders.want) provider_->want(*orders.want);
  for (const std::string& node_id : orders.give_back) {
    drain(node_id);
    provider_->give_back(node_id);
    if (given_back_) given_back_(node_id);
  }
  timer_.cancel();
  if (!orders.next) return;
  timer_.expires_at(std::chrono::steady_clock::time_point(orders.next->time_since_epoch()));
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& failure) {
    const auto open = alive.lock();
    if (!failure && open && *open) look();
  });
}

}  // namespace headway::engine
