#pragma once

#include "cluster/secure_channel.hpp"
#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace headway::feed {

/// The place of a function worker beside a data process of another node: a Unix socket on which the
/// worker hears what workers of the data process's own node hear, and a thread that carries it.
class FunctionSeat {
 public:
  /// Connects to the desk of a data process (flow::FunctionDesk) at `desk`, where this is `name`;
  /// both prove to have the token. Blocks. The socket's stream ends when the data process wants no
  /// more, when it is gone or cut off, and when it has wanted nothing for `idle_limit`. In the
  /// middle of a unit the worker does not look at its socket: `interrupted` is called then, on the
  /// seat's thread, and is to end it. Errors: those of cluster::connect_to_peer.
  static Result<std::unique_ptr<FunctionSeat>> take(const cluster::Endpoint& desk, const std::string& name,
                                                    const std::string& token, std::chrono::milliseconds idle_limit,
                                                    std::function<void()> interrupted);
  FunctionSeat(const FunctionSeat&) = delete;
  FunctionSeat& operator=(const FunctionSeat&) = delete;
  ~FunctionSeat();

  /// The worker's end; it is the caller's from now on. Once.
  int release_socket() { return socket_.release(); }

 private:
  class State;
  FunctionSeat(std::shared_ptr<State> state, wire::Fd socket);
  std::shared_ptr<State> state_;
  wire::Fd socket_;
};

/// How soon either end notices that the other one's machine is cut off.
inline constexpr auto function_peer_limit = std::chrono::seconds(12);

}  // namespace headway::feed
