#include "flow/session.hpp"

#include "flow/flow.hpp"

namespace headway::flow {
namespace {

constexpr int lanes_max = 1 << 16;

Error wrong(const std::string& argument, std::int64_t given, const std::string& allowed) {
  return {ErrorKind::invalid_argument, argument + " is " + std::to_string(given) + "; it must be " + allowed};
}

}  // namespace

Result<void> check_consumption(const feed::Consumption& consumption) {
  if (consumption.batch_size && *consumption.batch_size < 1)
    return wrong("batch_size", *consumption.batch_size, "1 or more");
  if (consumption.shuffle_window_rows && *consumption.shuffle_window_rows < 1) {
    return wrong("local_shuffle_buffer_size", *consumption.shuffle_window_rows, "1 or more");
  }
  if (consumption.world_size < 1) return wrong("world_size", consumption.world_size, "1 or more");
  if (consumption.rank < 0 || consumption.rank >= consumption.world_size) {
    return wrong("rank", consumption.rank,
                 "from 0 to world_size - 1, which is " + std::to_string(consumption.world_size - 1));
  }
  if (consumption.clients_here < 0 || consumption.clients_here > consumption.world_size) {
    return wrong("clients_here", consumption.clients_here, "from 0 to world_size");
  }
  if (consumption.lanes < 1 || consumption.lanes > lanes_max) {
    return wrong("lanes", consumption.lanes, "from 1 to " + std::to_string(lanes_max));
  }
  if (consumption.prefetch < 0) return wrong("prefetch_batches", consumption.prefetch, "0 or more");
  if (consumption.epoch < 0) return wrong("epoch", consumption.epoch, "0 or more");
  return {};
}

Session::Session(SessionHost& host, boost::asio::io_context& loop, wire::Fd socket)
    : host_(host),
      loop_(loop),
      channel_(std::make_shared<wire::Channel>(loop, std::move(socket), wire::messages_of<feed::ToServer>)) {}

void Session::start() {
  channel_->start(
      [self = weak_from_this()](wire::Frame frame) -> Result<void> {
        const auto session = self.lock();
        return session ? session->on_frame(std::move(frame)) : Result<void>();
      },
      [self = weak_from_this()](const std::optional<Error>&) {
        const auto session = self.lock();
        if (!session) return;
        if (session->outlet_) session->outlet_->close();
        session->errand_->stop();
        session->host_.leave(session);
      });
}

Result<ReservedOutlet> reserve_outlet(boost::asio::io_context& loop, Budget& budget, int prefetch) {
  auto owner = std::make_shared<std::weak_ptr<Session>>();
  auto notify = [owner, &loop] {
    boost::asio::post(loop, [owner] {
      if (const auto session = owner->lock()) session->flush();
    });
  };
  Result<std::shared_ptr<Outlet>> outlet = Outlet::make(budget, prefetch, std::move(notify));
  if (!outlet) return outlet.error();
  return ReservedOutlet{std::move(*outlet), owner};
}

void Session::adopt(const ReservedOutlet& reserved) {
  outlet_ = reserved.outlet;
  *reserved.owner = weak_from_this();
  flush();
}

void Session::flush() {
  for (wire::Frame& frame : outlet_->take_messages()) channel_->send(std::move(frame));
}

void Session::refuse(const Error& error) { channel_->send(failure_frame(error)); }

Result<void> Session::on_frame(wire::Frame frame) {
  Result<feed::ToServer> message = wire::from_frame<feed::ToServer>(frame);
  if (!message) return message.error();
  if (const auto* hello = std::get_if<feed::Hello>(&*message)) {
    greeted_ = true;
    if (const Result<void> greeted = host_.greet(*hello); !greeted) refuse(greeted.error());
    return {};
  }
  if (!greeted_) return Error{ErrorKind::corrupted, "a client did not begin with Hello"};
  if (const auto* release = std::get_if<feed::Release>(&*message)) {
    if (outlet_ && !outlet_->release(release->slots)) {
      return Error{ErrorKind::corrupted, "a client gave back a slot that it did not have"};
    }
    return {};
  }
  if (std::holds_alternative<feed::Look>(*message)) {
    channel_->send(wire::to_frame(feed::Progress{host_.look(shared_from_this())}));
    return {};
  }
  if (auto* open = std::get_if<feed::Open>(&*message)) return on_open(std::move(*open), frame.blob);
  if (auto* ask = std::get_if<feed::Ask>(&*message)) {
    Result<PlanInput> input = read_plan(ask->plan, ask->blob_sizes, ask->errored_max, frame.blob.get());
    if (!input) {
      refuse(input.error());
    } else {
      host_.ask(shared_from_this(), std::move(ask->what), std::make_shared<const PlanInput>(std::move(*input)));
    }
    return {};
  }
  if (auto* invite = std::get_if<feed::Invite>(&*message)) {
    host_.invite(shared_from_this(), std::move(*invite));
    return {};
  }
  if (auto* names = std::get_if<feed::Names>(&*message)) {
    if (errand_->answer(std::move(names->names))) return {};
    return Error{ErrorKind::corrupted, "a client gave names that nobody has asked for"};
  }
  const auto& run = std::get<feed::Run>(*message);
  Result<PlanInput> input = read_plan(run.plan, run.blob_sizes, run.errored_max, frame.blob.get());
  if (!input) {
    refuse(input.error());
  } else {
    host_.run(shared_from_this(), std::make_shared<const PlanInput>(std::move(*input)));
  }
  return {};
}

Result<void> Session::on_open(feed::Open open, const wire::Blob& blobs) {
  if (outlet_) return Error{ErrorKind::corrupted, "a client opened a second stream on a connection"};
  Result<PlanInput> input = read_plan(open.plan, open.blob_sizes, open.errored_max, blobs.get());
  const Result<void> checked = check_consumption(open.consumption);
  if (!input || !checked) {
    refuse(input ? checked.error() : input.error());
    return {};
  }
  input->other_nodes = open.other_nodes;
  host_.open(shared_from_this(), std::make_shared<const PlanInput>(std::move(*input)), std::move(open.consumption));
  return {};
}

}  // namespace headway::flow
