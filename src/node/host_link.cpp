#include "node/host_link.hpp"

#include "wire/blocking_channel.hpp"

namespace headway::node {

HostLink::HostLink(boost::asio::io_context& loop, wire::Fd fd, const wire::HostResources& resources)
    : loop_(loop),
      node_id_(resources.node_id),
      total_(resources.total),
      available_(resources.available),
      channel_(std::make_shared<wire::Channel>(loop, std::move(fd), wire::messages_of<wire::FromHost>)) {
  channel_->start([this](const wire::Frame& frame) { return take(frame); },
                  [this](const std::optional<Error>& error) {
                    // When the host is gone, so is the session of this process, which ends it.
                    if (error) end(*error);
                  });
}

HostLink::~HostLink() { channel_->close(); }

Result<std::unique_ptr<HostLink>> HostLink::open(boost::asio::io_context& loop, int number) {
  wire::Fd fd(number);
  const Result<std::optional<wire::Frame>> frame = wire::receive_frame(fd.get(), wire::messages_of<wire::FromHost>);
  const Result<wire::FromHost> first = frame && *frame
                                           ? wire::from_frame<wire::FromHost>(**frame)
                                           : Error{ErrorKind::unknown_outcome,
                                                   "a trainer within a validation function runs on the driver's "
                                                   "machine alone, and this is another one (or the driver is gone)"};
  const auto* resources = first ? std::get_if<wire::HostResources>(&*first) : nullptr;
  if (resources == nullptr) {
    return first ? Error{ErrorKind::corrupted, "a host that does not begin with HostResources"} : first.error();
  }
  return std::unique_ptr<HostLink>(new HostLink(loop, std::move(fd), *resources));
}

/// Nothing is heard of the guest's workers any more; the host ends them.
void HostLink::end(const Error& error) {
  constexpr int killed = 9;
  const ExitStatus status{true, killed, "the connection to the driver broke: " + error.message};
  for (auto& [worker_id, handlers] : std::exchange(followed_, {})) handlers.ended(worker_id, status);
  if (on_ended) on_ended(error);
}

Result<void> HostLink::take(const wire::Frame& frame) {
  Result<wire::FromHost> message = wire::from_frame<wire::FromHost>(frame);
  if (!message) return message.error();
  if (const auto* resources = std::get_if<wire::HostResources>(&*message)) {
    available_ = resources->available;
  } else if (const auto* granted = std::get_if<wire::HostGranted>(&*message)) {
    if (on_granted) on_granted(*granted);
  } else if (const auto* pending = std::get_if<wire::HostPending>(&*message)) {
    if (on_pending) on_pending(*pending);
  } else if (const auto* refused = std::get_if<wire::HostRefused>(&*message)) {
    if (on_refused) on_refused(*refused);
  } else if (const auto* spawned = std::get_if<wire::HostSpawned>(&*message)) {
    const auto followed = followed_.find(spawned->worker_id);
    // Why workers are not forked is the host's to tell.
    if (followed != followed_.end()) followed->second.spawned(spawned->worker_id, spawned->pid, "");
  } else if (const auto* ended = std::get_if<wire::HostEnded>(&*message)) {
    const auto node = followed_.extract(ended->worker_id);
    if (!node.empty()) node.mapped().ended(ended->worker_id, ended->status);
  }
  return {};
}

}  // namespace headway::node
