#pragma once

#include "dashboard/server.hpp"

#include <boost/asio.hpp>

#include <memory>
#include <set>

namespace headway::dashboard {

/// What a server and its connections share. On the loop, but for what is posted to `threads`.
struct Server::State {
  State(Site& served, ServerConfig given, Access who_may)
      : site(served), config(std::move(given)), access(std::move(who_may)) {}

  Site& site;
  ServerConfig config;
  Access access;
  std::size_t connections = 0;
  std::size_t event_clients = 0;
  /// Of the event clients: cancelled when there is news.
  std::set<boost::asio::steady_timer*> sleepers;
  // The loop ends what its coroutines hold, which count themselves out above.
  boost::asio::io_context loop{1};
  boost::asio::ip::tcp::acceptor acceptor{loop};
  std::unique_ptr<wire::ThreadPool> threads;
};

/// Closed in forked children, and counted, for as long as it is held.
class Admitted {
 public:
  Admitted(std::size_t& count, int descriptor);
  ~Admitted();
  Admitted(const Admitted&) = delete;
  Admitted& operator=(const Admitted&) = delete;

 private:
  std::size_t& count_;
  int descriptor_;
};

/// Serves one connection until it ends. `State` outlives it.
boost::asio::awaitable<void> serve_plainly(Server::State& state, boost::asio::ip::tcp::socket socket,
                                           std::shared_ptr<Admitted> admitted);

/// What makes a server one with TLS: which serves a connection. Errors: `unavailable` in a build
/// without OpenSSL.
using Serve = std::function<boost::asio::awaitable<void>(Server::State& state, boost::asio::ip::tcp::socket socket,
                                                         std::shared_ptr<Admitted> admitted)>;
Result<Serve> serve_with_tls();

}  // namespace headway::dashboard
