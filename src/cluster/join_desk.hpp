#pragma once

#include "cluster/remote_agent.hpp"

namespace headway::cluster {

struct JoinConfig {
  Endpoint listen;
  std::string token;
  double lease_s = 10;  ///< How long an agent that is out of reach may go on.
};

/// Where agents of other machines come in: each proves that it has the token before anything else is heard of it.
class JoinDesk {
 public:
  /// A node that has joined; its id is in `node`. The channel is past its handshakes and not started.
  using Joined = std::function<void(node::NodeResources node, std::shared_ptr<SecureChannel> channel)>;

  /// Errors: those of SecureListener::open.
  static Result<std::unique_ptr<JoinDesk>> open(boost::asio::io_context& loop, JoinConfig config, Joined joined);

  std::uint16_t port() const { return listener_->port(); }
  const JoinConfig& config() const { return config_; }

 private:
  JoinDesk(boost::asio::io_context& loop, JoinConfig config, Joined joined)
      : loop_(loop), config_(std::move(config)), joined_(std::move(joined)) {}

  void meet(const std::shared_ptr<SecureChannel>& stranger);
  void hear(const std::shared_ptr<SecureChannel>& stranger, const wire::Frame& frame);
  static void refuse(const std::shared_ptr<SecureChannel>& stranger, const std::string& reason);

  boost::asio::io_context& loop_;
  JoinConfig config_;
  Joined joined_;
  std::unique_ptr<SecureListener> listener_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  int nodes_joined_ = 0;
};

}  // namespace headway::cluster
