#pragma once

#include "cluster/peers.hpp"
#include "feed/function_messages.hpp"
#include "wire/channel.hpp"

#include <boost/asio.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

namespace headway::feed {

/// What travels between the data process of one node and a function worker of another: units and
/// outputs in the raw part, where on one node they lie in shared memory.
std::span<const wire::Carried> function_peer_messages();

/// Joins a Unix socket, whose other end speaks as the data process or as a function worker of the
/// same node does, with a channel to a relay on another node. Neither end notices: the bytes of a
/// unit, or of an output, are read from the memory that the sender shares, and written to memory
/// that this relay shares with the receiver. At most one unit and one output are on their way at a
/// time. Whichever end goes, the other one goes. Lives on `loop`'s one thread.
class FunctionRelay : public std::enable_shared_from_this<FunctionRelay> {
 public:
  /// Counts so many bytes of memory until what it returns is let go. Any thread; null: nobody
  /// counts.
  using Count = std::function<std::shared_ptr<const void>(std::int64_t bytes)>;

  /// `from_socket`: what the Unix socket's other end may say.
  FunctionRelay(boost::asio::io_context& loop, wire::Fd socket, std::span<const wire::Carried> from_socket,
                std::shared_ptr<cluster::SecureChannel> channel, Count count);

  /// `worked` is called with true as a unit begins and with false as it is done. `ended` is called
  /// once, when both ends have gone, and not for `close`. Both may be empty.
  void start(std::function<void(bool works)> worked, std::function<void()> ended);
  void close();

 private:
  Result<void> from_socket(wire::Frame frame);
  Result<void> from_channel(wire::Frame frame);
  /// The first `bytes` bytes of the memory behind `number` that the socket's end has shared.
  Result<wire::Blob> bytes_of(std::int64_t number, std::int64_t bytes) const;
  /// Writes them to memory that the socket's end gets, or has, under `number`; a new descriptor of
  /// it is added to `fds`.
  Result<void> share(std::int64_t number, std::int64_t memory, const std::string& bytes, std::vector<wire::Fd>& fds);
  void note(bool works);
  void end();

  struct Memory {
    wire::Fd fd;
    std::int64_t size = 0;
  };

  std::shared_ptr<wire::Channel> socket_;
  std::shared_ptr<cluster::SecureChannel> channel_;
  Count count_;
  std::function<void(bool)> worked_;
  std::function<void()> ended_;
  std::map<std::int64_t, Memory> theirs_;  ///< That the socket's end has shared, by number.
  std::map<std::int64_t, Memory> ours_;    ///< That was made here for it.
  std::shared_ptr<const void> expected_;   ///< Counts what is being received.
  std::int64_t largest_ = 0;               ///< That has come.
  bool over_ = false;
};

}  // namespace headway::feed
