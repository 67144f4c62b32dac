#include "cluster/first_message.hpp"

#include "cluster/agent_messages.hpp"

#include <chrono>
#include <utility>

namespace headway::cluster {

namespace asio = boost::asio;

void await_first_message(asio::io_context& loop, const std::shared_ptr<SecureChannel>& channel,
                         std::chrono::milliseconds limit,
                         std::function<void(const std::shared_ptr<SecureChannel>&, const wire::Frame&)> heard,
                         std::function<void(const Error&)> ended) {
  const auto timer = std::make_shared<asio::steady_timer>(loop, limit);
  // The first of three: the limit, a message, the end. A timer that has run out cannot be cancelled
  // any more, and its handler may come after a message.
  const auto over = std::make_shared<bool>(false);
  timer->async_wait([weak = std::weak_ptr(channel), over, limit, ended](const boost::system::error_code& failure) {
    const auto silent = weak.lock();
    if (failure || !silent || std::exchange(*over, true)) return;
    silent->close();
    const std::string seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit).count());
    if (ended) ended({ErrorKind::unavailable, "it said nothing within " + seconds + " s"});
  });
  const auto on_frame = [weak = std::weak_ptr(channel), timer, over,
                         heard = std::move(heard)](const wire::Frame& frame) {
    timer->cancel();
    const auto known = weak.lock();
    if (!std::exchange(*over, true) && known) heard(known, frame);
    return Result<void>();
  };
  channel->start(on_frame, [timer, over, ended](const std::optional<Error>& error) {
    timer->cancel();
    if (!std::exchange(*over, true) && ended)
      ended(error.value_or(Error{ErrorKind::unavailable, "it closed the connection"}));
  });
}

void turn_away(const std::shared_ptr<SecureChannel>& caller, const std::string& reason) {
  caller->hand_over(nullptr, nullptr);
  caller->send(wire::to_frame(Refused{reason}));
  caller->finish();
}

}  // namespace headway::cluster
