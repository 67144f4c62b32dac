#include "cluster/secure_channel.hpp"
#include "cluster/tls_channel.hpp"
#include "cluster/tls_context.hpp"
#include "cluster/tls_listener.hpp"
#include "wire/spawn.hpp"

#include <openssl/hmac.h>

#include <array>

namespace headway::cluster {

namespace asio = boost::asio;
using asio::as_tuple;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

using Connected = std::function<void(Result<std::shared_ptr<SecureChannel>>)>;

asio::awaitable<void> connect_and_tell(asio::io_context& loop, std::string host, std::uint16_t port,
                                       std::chrono::milliseconds limit, std::span<const wire::Carried> kinds,
                                       Connected connected) {
  const auto failed = [&](const std::string& why) {
    connected(Error{ErrorKind::unavailable, "cannot connect to " + host + ":" + std::to_string(port) + ": " + why});
  };
  tcp::resolver resolver(loop);
  const std::string service = std::to_string(port);
  auto [unresolved, endpoints] = co_await resolver.async_resolve(host, service, as_tuple(use_awaitable));
  if (unresolved) {
    failed(unresolved.message());
    co_return;
  }
  tcp::socket socket(loop);
  asio::steady_timer patience(loop, limit);
  bool late = false;
  patience.async_wait([&](const boost::system::error_code& failure) {
    if (failure) return;
    late = true;
    boost::system::error_code ignored;
    socket.close(ignored);
  });
  auto [refused, endpoint] = co_await asio::async_connect(socket, endpoints, as_tuple(use_awaitable));
  patience.cancel();
  // The timer's handler, should it be on its way, must not outlive what it refers to.
  co_await asio::post(loop, use_awaitable);
  if (refused || late) {
    failed(late ? "nobody answers" : refused.message());
    co_return;
  }
  auto channel = std::make_shared<TlsChannel>(std::move(socket), client_context(), kinds);
  if (!co_await channel->shake_hands(asio::ssl::stream_base::client)) {
    channel->close();
    failed("it does not speak TLS as a Headway driver does");
    co_return;
  }
  connected(std::shared_ptr<SecureChannel>(channel));
}

}  // namespace

Result<void> check_available() { return {}; }

std::string proof_of(const std::string& token, std::string_view role, const std::string& binding) {
  const std::string text = std::string(role) + ":" + binding;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), digest.data(), &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex += digits[digest[i] >> 4];
    hex += digits[digest[i] & 15];
  }
  return hex;
}

bool is_same_proof(const std::string& one, const std::string& other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Result<std::unique_ptr<SecureListener>> SecureListener::open(asio::io_context& loop, const std::string& host,
                                                             std::uint16_t port, std::span<const wire::Carried> kinds,
                                                             Accepted accepted, Trouble trouble) {
  boost::system::error_code failure;
  const auto address = asio::ip::make_address(host, failure);
  if (failure) {
    return Error{ErrorKind::invalid_argument,
                 "listen names the host '" + host + "'; allowed: an address of this machine, such as 0.0.0.0"};
  }
  const tcp::endpoint endpoint(address, port);
  tcp::acceptor acceptor(loop);
  acceptor.open(endpoint.protocol(), failure);
  if (!failure) acceptor.set_option(asio::socket_base::reuse_address(true), failure);
  if (!failure) acceptor.bind(endpoint, failure);
  if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) {
    return Error{ErrorKind::unavailable,
                 "cannot listen at " + host + ":" + std::to_string(port) + ": " + failure.message()};
  }
  auto context = server_context();
  if (!context) return context.error();
  return std::unique_ptr<SecureListener>(std::make_unique<TlsListener>(std::move(acceptor), std::move(*context), kinds,
                                                                       std::move(accepted), std::move(trouble)));
}

void connect(asio::io_context& loop, const std::string& host, std::uint16_t port, std::chrono::milliseconds limit,
             std::span<const wire::Carried> kinds, Connected connected) {
  wire::spawn(loop.get_executor(), connect_and_tell(loop, host, port, limit, kinds, connected),
              [connected](const Error& error) { connected(error); });
}

}  // namespace headway::cluster
