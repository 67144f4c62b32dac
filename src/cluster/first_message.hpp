#pragma once

#include "cluster/secure_channel.hpp"

namespace headway::cluster {

/// Starts `channel` and waits for its first message, for at most `limit`. `heard` is called with
/// it; later messages go where the channel is handed over to. `ended` (may be empty) is called
/// instead when the channel ends before, or when the limit passes, which closes it.
void await_first_message(boost::asio::io_context& loop, const std::shared_ptr<SecureChannel>& channel,
                         std::chrono::milliseconds limit,
                         std::function<void(const std::shared_ptr<SecureChannel>&, const wire::Frame&)> heard,
                         std::function<void(const Error&)> ended);

}  // namespace headway::cluster
