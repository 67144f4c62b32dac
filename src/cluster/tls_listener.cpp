#include "cluster/tls_listener.hpp"

#include "wire/spawn.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace headway::cluster {

namespace asio = boost::asio;
using asio::as_tuple;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

/// What a caller has until it has said its first word.
constexpr auto silence_limit = std::chrono::seconds(10);

/// At most 64, and at most a sixteenth of the descriptors that this process may have: the rest is
/// for runs.
std::size_t strangers_max() {
  constexpr rlim_t most = 64;
  constexpr rlim_t least = 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  return std::clamp(limit.rlim_cur / 16, least, most);
}

wire::Fd spare_descriptor() { return wire::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

struct TlsListener::State {
  tcp::acceptor acceptor;
  std::shared_ptr<asio::ssl::context> context;
  std::span<const wire::Carried> kinds;
  Accepted accepted;
  Trouble trouble;
  /// Cancelled when a stranger is none any more.
  asio::steady_timer vacancy{acceptor.get_executor()};
  Strangers strangers{strangers_max()};
  /// Given up to take, and to end, a connection when there are no descriptors left.
  wire::Fd spare = spare_descriptor();
  bool troubled = false;

  void tell_trouble(const std::string& why) {
    if (!std::exchange(troubled, true) && trouble) trouble("no node can join at the moment: " + why);
  }

  /// Whether a connection that waits was ended. Else it would wait at the port, and wake the loop
  /// again and again.
  bool turn_one_away() {
    spare.close();
    wire::Fd caller(::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC));
    const bool turned_away = caller.is_open();
    caller.close();
    spare = spare_descriptor();
    return turned_away;
  }
};

/// A connection before its TLS handshake, and in it. Buffers for TLS are made once it has said
/// something.
class TlsListener::Caller : public Stranger {
 public:
  explicit Caller(tcp::socket connection) : socket(std::move(connection)) {}

  bool unproven() const override { return channel ? channel->unproven() : socket.is_open(); }
  bool has_spoken() const override { return channel != nullptr; }
  void close() override {
    boost::system::error_code ignored;
    socket.close(ignored);
    if (channel) channel->close();
  }

  tcp::socket socket;
  std::shared_ptr<TlsChannel> channel;
};

TlsListener::TlsListener(tcp::acceptor acceptor, std::shared_ptr<asio::ssl::context> context,
                         std::span<const wire::Carried> kinds, Accepted accepted, Trouble trouble)
    : state_(std::make_shared<State>(
          State{std::move(acceptor), std::move(context), kinds, std::move(accepted), std::move(trouble)})) {
  wire::spawn(state_->acceptor.get_executor(), accept_loop(state_), [state = state_](const Error& error) {
    boost::system::error_code ignored;
    state->acceptor.close(ignored);
    state->tell_trouble(error.message);
  });
}

TlsListener::~TlsListener() {
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  state_->vacancy.cancel();
  state_->accepted = nullptr;
  state_->trouble = nullptr;
}

std::uint16_t TlsListener::port() const {
  boost::system::error_code ignored;
  return state_->acceptor.local_endpoint(ignored).port();
}

asio::awaitable<void> TlsListener::accept_loop(std::shared_ptr<State> state) {
  while (state->acceptor.is_open()) {
    if (const auto full_until = state->strangers.full_until(std::chrono::steady_clock::now())) {
      state->vacancy.expires_at(*full_until);
      co_await state->vacancy.async_wait(as_tuple(use_awaitable));
      continue;
    }
    auto [failure, socket] = co_await state->acceptor.async_accept(as_tuple(use_awaitable));
    if (failure == asio::error::operation_aborted || !state->acceptor.is_open()) co_return;
    if (failure) {
      state->tell_trouble(wire::reason_of(failure.value()));
      if (failure == asio::error::no_descriptors && state->turn_one_away()) continue;
      asio::steady_timer pause(state->acceptor.get_executor(), std::chrono::milliseconds(200));
      co_await pause.async_wait(as_tuple(use_awaitable));
      continue;
    }
    state->troubled = false;
    auto caller = std::make_shared<Caller>(std::move(socket));
    state->strangers.admit(caller, std::chrono::steady_clock::now());
    wire::spawn(state->acceptor.get_executor(), welcome(state, caller), [caller](const Error&) { caller->close(); });
  }
}

asio::awaitable<void> TlsListener::welcome(std::shared_ptr<State> state, std::shared_ptr<Caller> caller) {
  asio::steady_timer limit(caller->socket.get_executor(), silence_limit);
  // Weak: the timer must not keep it.
  limit.async_wait([weak = std::weak_ptr(caller)](const boost::system::error_code& failure) {
    const auto silent = weak.lock();
    if (!failure && silent && !silent->has_spoken()) silent->close();
  });
  auto [silent] = co_await caller->socket.async_wait(asio::socket_base::wait_read, as_tuple(use_awaitable));
  limit.cancel();
  if (silent || !caller->socket.is_open()) {
    caller->close();
    state->vacancy.cancel();
    co_return;
  }
  caller->channel = std::make_shared<TlsChannel>(std::move(caller->socket), state->context, state->kinds);
  caller->channel->on_known([weak = std::weak_ptr(state)] {
    if (const auto listening = weak.lock()) listening->vacancy.cancel();
  });
  const auto channel = caller->channel;
  const bool done = co_await channel->shake_hands(asio::ssl::stream_base::server);
  if (done && state->accepted) {
    state->accepted(channel);
  } else {
    channel->close();
  }
}

}  // namespace headway::cluster
