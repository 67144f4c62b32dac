#include "cluster/first_message.hpp"

#include "cluster/agent_messages.hpp"

#include <chrono>

namespace headway::cluster {

namespace asio = boost::asio;

void await_first_message(asio::io_context& loop, const std::shared_ptr<SecureChannel>& channel,
                         std::chrono::milliseconds limit,
                         std::function<void(const std::shared_ptr<SecureChannel>&, const wire::Frame&)> heard,
                         std::function<void(const Error&)> ended) {
  const auto timer = std::make_shared<asio::steady_timer>(loop, limit);
  timer->async_wait([weak = std::weak_ptr(channel), limit, ended](const boost::system::error_code& failure) {
    const auto silent = weak.lock();
    if (failure || !silent) return;
    silent->close();
    const std::string seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit).count());
    if (ended) ended({ErrorKind::unavailable, "it said nothing within " + seconds + " s"});
  });
  const auto on_frame = [weak = std::weak_ptr(channel), timer, heard = std::move(heard)](const wire::Frame& frame) {
    timer->cancel();
    if (const auto known = weak.lock()) heard(known, frame);
    return Result<void>();
  };
  channel->start(on_frame, [timer, ended](const std::optional<Error>& error) {
    timer->cancel();
    if (ended) ended(error.value_or(Error{ErrorKind::unavailable, "it closed the connection"}));
  });
}

void turn_away(const std::shared_ptr<SecureChannel>& caller, const std::string& reason) {
  caller->hand_over(nullptr, nullptr);
  caller->send(wire::to_frame(Refused{reason}));
  caller->finish();
}

}  // namespace headway::cluster
