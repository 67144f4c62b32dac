#include "cluster/join_desk.hpp"

#include "cluster/first_message.hpp"

namespace headway::cluster {

namespace asio = boost::asio;

Result<std::unique_ptr<JoinDesk>> JoinDesk::open(asio::io_context& loop, JoinConfig config, Joined joined,
                                                 SecureListener::Trouble trouble) {
  auto desk = std::make_unique<JoinDesk>(loop, std::move(config), std::move(joined));
  // The listener calls nothing once it is gone, and it goes with the desk.
  const auto accepted = [raw = desk.get()](const std::shared_ptr<SecureChannel>& stranger) { raw->meet(stranger); };
  auto listener = SecureListener::open(loop, desk->config_.listen.host, desk->config_.listen.port,
                                       wire::messages_of<FromAgent>, accepted, std::move(trouble));
  if (!listener) return listener.error();
  desk->listener_ = std::move(*listener);
  return desk;
}

void JoinDesk::meet(const std::shared_ptr<SecureChannel>& stranger) {
  const auto hear_it = [this, here = std::weak_ptr(alive_)](const std::shared_ptr<SecureChannel>& known,
                                                            const wire::Frame& frame) {
    if (here.lock()) hear(known, frame);
  };
  await_first_message(loop_, stranger, config_.join_limit, hear_it, nullptr);
}

void JoinDesk::hear(const std::shared_ptr<SecureChannel>& stranger, const wire::Frame& frame) {
  const Result<Join> join = checked_greeting<Join, FromAgent>(frame, *stranger, config_.token, "agent");
  if (!join) return turn_away(stranger, join.error().message);
  if (join->version != HEADWAY_VERSION)
    return turn_away(stranger, "it has Headway " + join->version + ", and this driver " HEADWAY_VERSION);
  if (auto sound = check_message(*join); !sound) return turn_away(stranger, sound.error().message);
  node::NodeResources node;
  node.node_id = "node-" + std::to_string(++nodes_joined_);
  node.hostname = join->hostname;
  node.node_ip = stranger->remote_ip();
  node.total = join->resources;
  node.gpu_ids = join->gpu_ids;
  node.labels = join->labels;
  stranger->trust();
  stranger->hand_over(nullptr, nullptr);
  stranger->send(
      wire::to_frame(Welcome{node.node_id, proof_of(config_.token, "driver", stranger->binding()), config_.lease_s}));
  joined_(std::move(node), stranger);
}

}  // namespace headway::cluster
