#pragma once

#include "cluster/secure_channel.hpp"
#include "cluster/strangers.hpp"
#include "cluster/tls_channel.hpp"
#include "wire/fd.hpp"

#include <boost/asio/ssl.hpp>

#include <memory>

namespace headway::cluster {

class TlsListener : public SecureListener {
 public:
  TlsListener(boost::asio::ip::tcp::acceptor acceptor, std::shared_ptr<boost::asio::ssl::context> context,
              std::span<const wire::Carried> kinds, Accepted accepted, Trouble trouble);
  ~TlsListener() override;
  std::uint16_t port() const override;

 private:
  struct State;
  class Caller;

  static boost::asio::awaitable<void> accept_loop(std::shared_ptr<State> state);
  static boost::asio::awaitable<void> welcome(std::shared_ptr<State> state, std::shared_ptr<Caller> caller);

  std::shared_ptr<State> state_;
};

}  // namespace headway::cluster
