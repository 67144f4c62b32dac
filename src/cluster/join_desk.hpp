#pragma once

#include "cluster/remote_agent.hpp"

namespace headway::cluster {

struct JoinConfig {
  Endpoint listen;
  std::string token;
  double lease_s = 10;  ///< How long an agent that is out of reach may go on.
  /// What a stranger has, after its TLS handshake, until it has said who it is.
  std::chrono::milliseconds join_limit = std::chrono::seconds(10);
};

/// Where agents of other machines come in: each proves that it has the token before anything else
/// is heard of it.
class JoinDesk {
 public:
  /// A node that has joined; its id is in `node`. The channel is past its handshakes and started.
  using Joined = std::function<void(node::NodeResources node, std::shared_ptr<SecureChannel> channel)>;

  /// A desk to which nobody finds by itself.
  JoinDesk(boost::asio::io_context& loop, JoinConfig config, Joined joined)
      : loop_(loop), config_(std::move(config)), joined_(std::move(joined)) {}

  /// Listens at `config.listen`. `trouble` hears why nobody can join at the moment. Errors: those
  /// of SecureListener::open.
  static Result<std::unique_ptr<JoinDesk>> open(boost::asio::io_context& loop, JoinConfig config, Joined joined,
                                                SecureListener::Trouble trouble);

  std::uint16_t port() const { return listener_->port(); }
  const JoinConfig& config() const { return config_; }

  /// Hears a connection that is past its TLS handshake and not started.
  void meet(const std::shared_ptr<SecureChannel>& stranger);

 private:
  void hear(const std::shared_ptr<SecureChannel>& stranger, const wire::Frame& frame);

  boost::asio::io_context& loop_;
  JoinConfig config_;
  Joined joined_;
  std::unique_ptr<SecureListener> listener_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  int nodes_joined_ = 0;
};

}  // namespace headway::cluster
