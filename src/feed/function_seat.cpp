#include "feed/function_seat.hpp"

#include "cluster/peers.hpp"
#include "feed/function_relay.hpp"
#include "wire/spawn.hpp"
#include "wire/thread_pool.hpp"

#include <cerrno>
#include <future>
#include <sys/socket.h>
#include <thread>
#include <utility>

namespace headway::feed {

namespace asio = boost::asio;

namespace {

constexpr auto connect_limit = std::chrono::seconds(20);

}  // namespace

class FunctionSeat::State {
 public:
  State(std::chrono::milliseconds idle_limit, std::function<void()> interrupted)
      : idle_limit_(idle_limit), interrupted_(std::move(interrupted)), idle_(loop_) {}

  Result<wire::Fd> open(const cluster::Endpoint& desk, const std::string& name, const std::string& token) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return Error{ErrorKind::unavailable, "cannot make a socket: " + wire::reason_of(errno)};
    wire::Fd ours(ends[0]);
    wire::Fd theirs(ends[1]);
    std::promise<Result<std::shared_ptr<cluster::SecureChannel>>> connected;
    cluster::connect_to_peer(loop_, desk, {name, token}, connect_limit, function_peer_messages(),
                             [&](Result<std::shared_ptr<cluster::SecureChannel>> channel) {
                               if (channel) begin(std::move(ours), *channel);
                               connected.set_value(std::move(channel));
                             });
    Result<std::thread> thread = wire::start_thread([this] { loop_.run(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    if (auto channel = connected.get_future().get(); !channel) return channel.error();
    return theirs;
  }

  ~State() {
    asio::post(loop_, [this] {
      if (relay_) relay_->close();
      loop_.stop();
    });
    if (thread_.joinable()) thread_.join();
  }

 private:
  void begin(wire::Fd socket, const std::shared_ptr<cluster::SecureChannel>& channel) {
    channel->end_when_unreachable(function_peer_limit);
    relay_ = std::make_shared<FunctionRelay>(loop_, std::move(socket), wire::messages_of<FromFunctionWorker>, channel,
                                             nullptr);
    relay_->start([this](bool works) { note(works); }, [this] { ended(); });
    note(false);
  }

  void ended() {
    idle_.cancel();
    if (works_ && interrupted_) interrupted_();
  }

  void note(bool works) {
    works_ = works;
    idle_.cancel();
    if (works) return;
    idle_.expires_after(idle_limit_);
    idle_.async_wait([this](const boost::system::error_code& failure) {
      if (!failure) relay_->close();
    });
  }

  asio::io_context loop_{1};
  const std::chrono::milliseconds idle_limit_;
  const std::function<void()> interrupted_;
  bool works_ = false;  ///< On a unit.
  asio::steady_timer idle_;
  std::shared_ptr<FunctionRelay> relay_;
  std::thread thread_;
};

Result<std::unique_ptr<FunctionSeat>> FunctionSeat::take(const cluster::Endpoint& desk, const std::string& name,
                                                         const std::string& token, std::chrono::milliseconds idle_limit,
                                                         std::function<void()> interrupted) {
  auto state = std::make_shared<State>(idle_limit, std::move(interrupted));
  Result<wire::Fd> socket = state->open(desk, name, token);
  if (!socket) return socket.error();
  return std::unique_ptr<FunctionSeat>(new FunctionSeat(std::move(state), std::move(*socket)));
}

FunctionSeat::FunctionSeat(std::shared_ptr<State> state, wire::Fd socket)
    : state_(std::move(state)), socket_(std::move(socket)) {}

FunctionSeat::~FunctionSeat() = default;

}  // namespace headway::feed
