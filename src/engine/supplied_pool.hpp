#pragma once

#include "engine/node_pool.hpp"
#include "engine/node_provider.hpp"
#include "engine/node_supply.hpp"

#include <boost/asio.hpp>

#include <memory>

namespace headway::engine {

/// A pool whose nodes are brought by a provider, beside those that join by themselves. The provider
/// hears what waits for nodes, and gets back what it brought once it is idle.
///
/// The CPU that a worker implies is a claim here, except a validation's and what wants one certain
/// node: a group must not start on the first node that joins, all of it sharing that node's CPUs.
class SuppliedPool : public NodePool {
 public:
  /// `warn`: prints the provider's errors.
  SuppliedPool(boost::asio::io_context& loop, std::unique_ptr<NodeProvider> provider,
               std::function<void(const std::string&)> warn, NodeSupply::Settings settings = {});

  void acquire(std::int64_t holder, const Wanted& wanted, Answers answers) override;
  int possible(std::int64_t holder, const Wanted& wanted) const override;
  Result<void> check_possible(const Wanted& wanted) const override;
  void add(node::NodeResources node) override;
  void remove(const std::string& node_id) override;
  void on_give_back(std::function<void(const std::string&)> given_back) override {
    given_back_ = std::move(given_back);
  }
  void open(const JoinAddress& join) override;
  void close() override;
  void wait_for_end() override { provider_.reset(); }

 private:
  /// Not at once, since a change may be one of many; only while the provider is open.
  void look_soon();
  void look();

  boost::asio::io_context& loop_;
  std::unique_ptr<NodeProvider> provider_;
  std::function<void(const std::string&)> warn_;
  std::function<void(const std::string&)> given_back_;
  NodeSupply supply_;
  boost::asio::steady_timer timer_;
  bool is_open_ = false;
  bool looks_soon_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< False from `close` on.
};

}  // namespace headway::engine
