#include "dashboard/server.hpp"

#include "cluster/secure_channel.hpp"
#include "core/json.hpp"
#include "dashboard/server_state.hpp"
#include "wire/fork_guard.hpp"
#include "wire/spawn.hpp"

#include <fcntl.h>
#include <pthread.h>

namespace headway::dashboard {

namespace asio = boost::asio;
using asio::as_tuple;
using asio::use_awaitable;
using asio::ip::tcp;

Answer answer_of(const Error& error) {
  JsonObject object;
  object["error"] = error.message;
  const unsigned status = error.kind == ErrorKind::not_found          ? 404
                          : error.kind == ErrorKind::invalid_argument ? 400
                                                                      : 500;
  return {status, json_text(object)};
}

Admitted::Admitted(std::size_t& count, int descriptor) : count_(count), descriptor_(descriptor) {
  ++count_;
  if (descriptor_ < 0) return;
  (void)fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
  wire::drop_in_children(descriptor_);
}

Admitted::~Admitted() {
  --count_;
  if (descriptor_ >= 0) wire::keep_in_children(descriptor_);
}

namespace {

Error cannot_listen(const ServerConfig& config, const std::string& why) {
  return {ErrorKind::unavailable, "the dashboard cannot listen at " + config.host + ":" + std::to_string(config.port) +
                                      ": " + why + (config.port != 0 ? " (port 0 is any free one)" : "")};
}

Result<void> listen(Server::State& state) {
  boost::system::error_code failure;
  const asio::ip::address address = asio::ip::make_address(state.config.host, failure);
  if (failure) {
    return Error{ErrorKind::invalid_argument,
                 "host is '" + state.config.host + "'; allowed: an address of this machine, such as 127.0.0.1"};
  }
  const tcp::endpoint endpoint(address, state.config.port);
  state.acceptor.open(endpoint.protocol(), failure);
  if (!failure) state.acceptor.set_option(asio::socket_base::reuse_address(true), failure);
  if (!failure) state.acceptor.bind(endpoint, failure);
  if (!failure) state.acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) return cannot_listen(state.config, failure.message());
  (void)fcntl(state.acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  wire::drop_in_children(state.acceptor.native_handle());
  return {};
}

asio::awaitable<void> accept_loop(Server::State& state, Serve serve) {
  while (true) {
    auto [failure, socket] = co_await state.acceptor.async_accept(as_tuple(use_awaitable));
    if (failure == asio::error::operation_aborted) co_return;
    if (failure) {
      // No descriptors are left, as a rule: others of this process give some back.
      asio::steady_timer pause(state.loop, std::chrono::milliseconds(200));
      co_await pause.async_wait(as_tuple(use_awaitable));
      continue;
    }
    if (state.connections >= state.config.limits.connections) continue;  // It is closed here.
    auto admitted = std::make_shared<Admitted>(state.connections, socket.native_handle());
    // An exception ends the connection with the coroutine's own objects.
    wire::spawn(
        state.loop.get_executor(),
        [&state, serve, caller = std::make_shared<tcp::socket>(std::move(socket)), admitted]() mutable {
          return serve(state, std::move(*caller), std::move(admitted));
        },
        [](const Error&) {});
  }
}

}  // namespace

Server::Server(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::open(Site& site, ServerConfig config) {
  if (config.token.empty()) {
    Result<std::string> token = new_token();
    if (!token) return token.error();
    config.token = std::move(*token);
  }
  std::vector<std::string> names = config.names;
  if (config.host.find(':') != std::string::npos) names.push_back("[" + config.host + "]");
  names.push_back(config.host);
  if (config.host == "0.0.0.0" || config.host == "::") names.push_back(cluster::own_ip());
  Access access(config.token, std::move(names), config.tls);
  auto state = std::make_shared<State>(site, std::move(config), std::move(access));
  Result<Serve> serve = state->config.tls ? serve_with_tls() : Result<Serve>(&serve_plainly);
  if (!serve) return serve.error();
  if (Result<void> listening = listen(*state); !listening) return listening.error();
  auto threads = wire::ThreadPool::start(2);
  if (!threads) return threads.error();
  state->threads = std::move(*threads);
  auto server = std::unique_ptr<Server>(new Server(std::move(state)));
  State& shared = *server->state_;
  shared.access.use_port(server->port());
  wire::spawn(shared.loop.get_executor(), accept_loop(shared, std::move(*serve)), [](const Error&) {});
  site.events().on_news([&shared] {
    asio::post(shared.loop, [&shared] {
      for (asio::steady_timer* sleeper : shared.sleepers) sleeper->cancel();
    });
  });
  Result<std::thread> thread = wire::start_thread([&shared] {
    pthread_setname_np(pthread_self(), "headway-page");
    shared.loop.run();
  });
  if (!thread) return thread.error();
  server->thread_ = std::move(*thread);
  return server;
}

Server::~Server() {
  state_->site.events().on_news(nullptr);
  wire::keep_in_children(state_->acceptor.native_handle());
  state_->loop.stop();
  if (thread_.joinable()) thread_.join();
  state_->threads.reset();
}

std::uint16_t Server::port() const {
  boost::system::error_code ignored;
  return state_->acceptor.local_endpoint(ignored).port();
}

std::string Server::url() const {
  const ServerConfig& config = state_->config;
  std::string name = config.names.empty() ? config.host : config.names.front();
  if (name.find(':') != std::string::npos && !name.starts_with('[')) name = "[" + name + "]";
  return std::string(config.tls ? "https://" : "http://") + name + ":" + std::to_string(port()) +
         "/?token=" + config.token;
}

}  // namespace headway::dashboard
