#pragma once

#include "cluster/secure_channel.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace headway::cluster {

/// Starts `channel` and waits for its first message, for at most `limit`. `heard` is called with
/// it; later messages go where the channel is handed over to. `ended` (may be empty) is called
/// instead when the channel ends before, or when the limit passes, which closes it.
void await_first_message(boost::asio::io_context& loop, const std::shared_ptr<SecureChannel>& channel,
                         std::chrono::milliseconds limit,
                         std::function<void(const std::shared_ptr<SecureChannel>&, const wire::Frame&)> heard,
                         std::function<void(const Error&)> ended);

/// The greeting of whoever calls, once it has proven that it has the token: `frame` is its first
/// message, one of `Messages`. Errors: `refused`, in the words for `turn_away`.
template <class Greeting, class Messages>
Result<Greeting> checked_greeting(const wire::Frame& frame, const SecureChannel& caller, const std::string& token,
                                  std::string_view role) {
  Result<Messages> message = wire::from_frame<Messages>(frame);
  Greeting* greeting = message ? std::get_if<Greeting>(&*message) : nullptr;
  if (greeting == nullptr) return Error{ErrorKind::refused, "the first message is no greeting"};
  if (!is_same_proof(greeting->proof, proof_of(token, role, caller.binding())))
    return Error{ErrorKind::refused, "the token is not this driver's"};
  return std::move(*greeting);
}

/// Answers with the reason, and ends the channel.
void turn_away(const std::shared_ptr<SecureChannel>& caller, const std::string& reason);

}  // namespace headway::cluster
