#include "flow/functions/function_desk.hpp"

#include "cluster/peers.hpp"
#include "feed/function_relay.hpp"
#include "feed/function_seat.hpp"
#include "wire/thread_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

namespace headway::flow {

namespace asio = boost::asio;

/// What is about connections happens on the desk's thread.
class FunctionDesk::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(Budget* budget) : budget_(budget) {}

  arrow::Result<Place> open(const std::string& host) {
    const std::lock_guard opening(opening_mutex_);
    if (place_) return *place_;
    if (!thread_.joinable()) {
      Result<std::thread> thread = wire::start_thread([this] {
        const auto work = asio::make_work_guard(loop_);
        loop_.run();
      });
      if (!thread) return arrow::Status::IOError(thread.error().message);
      thread_ = std::move(*thread);
    }
    const std::string token = cluster::new_peer_token();
    std::promise<Result<int>> listening;
    asio::post(loop_, [&] { listening.set_value(listen(host, token)); });
    const Result<int> port = listening.get_future().get();
    if (!port) return arrow::Status::IOError(port.error().message);
    place_ = Place{*port, token};
    return *place_;
  }

  std::optional<wire::Fd> take() {
    std::shared_ptr<cluster::SecureChannel> worker;
    {
      const std::lock_guard lock(mutex_);
      if (free_.empty()) return std::nullopt;
      worker = std::move(free_.front());
      free_.pop_front();
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      // No descriptors are left. The worker ends, or callers would ask for it again and again.
      asio::post(loop_, [weak = weak_from_this(), worker] {
        const auto self = weak.lock();
        if (!self) return;
        if (std::erase(self->waiting_, worker) > 0) worker->close();
        self->gone();
      });
      return std::nullopt;
    }
    wire::Fd ours(ends[0]);
    const auto socket = std::make_shared<wire::Fd>(ends[1]);
    asio::post(loop_, [weak = weak_from_this(), worker, socket] {
      if (const auto self = weak.lock()) self->serve(worker, std::move(*socket));
    });
    return ours;
  }

  int free() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(free_.size());
  }

  int count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

  void on_change(const void* who, std::function<void()> changed) {
    const std::lock_guard lock(telling_mutex_);
    if (changed) {
      changed_[who] = std::move(changed);
    } else {
      changed_.erase(who);
    }
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      free_.clear();
    }
    if (!thread_.joinable()) return;
    asio::post(loop_, [this] {
      desk_.reset();
      for (const auto& channel : std::exchange(waiting_, {})) channel->close();
      for (const auto& relay : std::exchange(relays_, {})) relay->close();
      loop_.stop();
    });
    thread_.join();
  }

 private:
  Result<int> listen(const std::string& host, const std::string& token) {
    auto desk = cluster::PeerDesk::open(
        loop_, {host, 0}, {"the data process", token}, feed::function_peer_messages(),
        [this](const std::string&, const std::shared_ptr<cluster::SecureChannel>& channel) { came(channel); });
    if (!desk) return desk.error();
    desk_ = std::move(*desk);
    return static_cast<int>(desk_->endpoint().port);
  }

  void came(const std::shared_ptr<cluster::SecureChannel>& channel) {
    channel->end_when_unreachable(feed::function_peer_limit);
    channel->hand_over(
        [](const wire::Frame&) -> Result<void> {
          return Error{ErrorKind::corrupted, "a function worker spoke without being asked"};
        },
        [weak = weak_from_this(), seen = std::weak_ptr(channel)](const std::optional<Error>&) {
          const auto self = weak.lock();
          const auto gone = seen.lock();
          if (self && gone) self->left(gone);
        });
    waiting_.push_back(channel);
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(channel);
      ++count_;
    }
    tell();
  }

  /// One that waited here has gone. If it was just taken, its socket ends.
  void left(const std::shared_ptr<cluster::SecureChannel>& channel) {
    std::erase(waiting_, channel);
    {
      const std::lock_guard lock(mutex_);
      if (std::erase(free_, channel) == 0) return;
      --count_;
    }
    tell();
  }

  void serve(const std::shared_ptr<cluster::SecureChannel>& channel, wire::Fd socket) {
    // One that has gone meanwhile: the socket's end says so.
    if (std::erase(waiting_, channel) == 0) return gone();
    FunctionRelay::Count count;
    if (budget_ != nullptr) {
      count = [budget = budget_](std::int64_t bytes) -> std::shared_ptr<const void> {
        return std::make_shared<const Credit>(budget->take(bytes));
      };
    }
    const auto relay = std::make_shared<FunctionRelay>(loop_, std::move(socket),
                                                       wire::messages_of<feed::ToFunctionWorker>, channel, count);
    relays_.push_back(relay);
    relay->start(nullptr, [weak = weak_from_this(), seen = std::weak_ptr(relay)] {
      const auto self = weak.lock();
      const auto ended = seen.lock();
      if (!self || !ended) return;
      std::erase(self->relays_, ended);
      self->gone();
    });
  }

  void gone() {
    {
      const std::lock_guard lock(mutex_);
      --count_;
    }
    tell();
  }

  void tell() {
    const std::lock_guard lock(telling_mutex_);
    for (const auto& [who, changed] : changed_) changed();
  }

  using FunctionRelay = feed::FunctionRelay;

  Budget* const budget_;
  asio::io_context loop_{1};
  std::mutex opening_mutex_;
  std::optional<Place> place_;
  std::unique_ptr<cluster::PeerDesk> desk_;
  /// That no link has yet, as the desk's thread knows them.
  std::vector<std::shared_ptr<cluster::SecureChannel>> waiting_;
  std::vector<std::shared_ptr<FunctionRelay>> relays_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<cluster::SecureChannel>> free_;
  int count_ = 0;
  std::mutex telling_mutex_;
  std::map<const void*, std::function<void()>> changed_;
  std::thread thread_;
};

FunctionDesk::FunctionDesk(Budget* budget) : state_(std::make_shared<State>(budget)) {}
FunctionDesk::~FunctionDesk() { state_->close(); }

arrow::Result<FunctionDesk::Place> FunctionDesk::open(const std::string& host) { return state_->open(host); }
std::optional<wire::Fd> FunctionDesk::take() { return state_->take(); }
int FunctionDesk::free() const { return state_->free(); }
int FunctionDesk::count() const { return state_->count(); }
void FunctionDesk::on_change(const void* who, std::function<void()> changed) {
  state_->on_change(who, std::move(changed));
}

}  // namespace headway::flow
