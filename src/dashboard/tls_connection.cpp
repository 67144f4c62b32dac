#include "cluster/tls_context.hpp"
#include "dashboard/connection.hpp"

#include <boost/asio/ssl.hpp>

namespace headway::dashboard {
namespace {

using TlsStream = boost::asio::ssl::stream<boost::beast::tcp_stream>;

boost::asio::awaitable<void> serve_secretly(Server::State& state, boost::asio::ip::tcp::socket socket,
                                            std::shared_ptr<Admitted> admitted,
                                            std::shared_ptr<boost::asio::ssl::context> context) {
  using namespace connection;
  TlsStream stream(beast::tcp_stream(std::move(socket)), *context);
  const auto held = std::move(admitted);
  beast::get_lowest_layer(stream).expires_after(state.config.limits.request_time);
  const auto [failure] = co_await stream.async_handshake(asio::ssl::stream_base::server, as_tuple(use_awaitable));
  if (failure) co_return;
  Connection<TlsStream> served(state, stream);
  co_await served.serve();
}

}  // namespace

Result<Serve> serve_with_tls() {
  auto context = cluster::server_context();
  if (!context) return context.error();
  return Serve(
      [kept = *context](Server::State& state, boost::asio::ip::tcp::socket socket, std::shared_ptr<Admitted> admitted) {
        return serve_secretly(state, std::move(socket), std::move(admitted), kept);
      });
}

}  // namespace headway::dashboard
