#pragma once

#include "engine/node_pool.hpp"
#include "engine/node_provider.hpp"
#include "engine/node_supply.hpp"

#include <boost/asio.hpp>

#include <memory>

namespace headway::engine {

/// A pool whose nodes are brought by a provider, beside those that join by themselves. The provider
/// hears what waits for nodes, and gets back what it brought once it is idle.
class SuppliedPool : public NodePool {
 public:
  /// `warn`: prints the provider's errors.
  SuppliedPool(boost::asio::io_context& loop, std::unique_ptr<NodeProvider> provider,
               std::function<void(const std::string&)> warn, NodeSupply::Settings settings = {});

  void add(node::NodeResources node) override;
  void remove(const std::string& node_id) override;
  void open(const JoinAddress& join) override;
  void close() override;

 private:
  /// Not at once, since a change may be one of many; only while the provider is open.
  void look_soon();
  void look();

  boost::asio::io_context& loop_;
  std::unique_ptr<NodeProvider> provider_;
  std::function<void(const std::string&)> warn_;
  NodeSupply supply_;
  boost::asio::steady_timer timer_;
  bool is_open_ = false;
  bool looks_soon_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< False from `close` on.
};

}  // namespace headway::engine
