#include "flow/server.hpp"

#include "feed/address.hpp"
#include "flow/questions.hpp"
#include "flow/write_plan.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

namespace asio = boost::asio;

constexpr std::size_t answering_threads = 4;

std::string key_of(const feed::Consumption& consumption) {
  return consumption.group + "\n" + std::to_string(consumption.epoch);
}

/// Without what may differ from client to client.
std::string common_text(feed::Consumption consumption) {
  consumption.rank = 0;
  consumption.prefetch = 0;
  consumption.cursor.reset();
  return to_json_text(consumption);
}

std::string hash_of(const PlanInput& input) {
  const std::vector<std::string_view> blobs(input.blobs.begin(), input.blobs.end());
  return data::plan_hash(data::identity_of(input.plan, blobs));
}

}  // namespace

Server::Server(wire::Fd listening) : acceptor_(loop_, asio::local::stream_protocol(), listening.release()) {}

Server::~Server() {
  for (Running& running : running_) running.flow->stop();
  running_.clear();
}

void Server::run() {
  accept();
  loop_.run();
}

void Server::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& failure, asio::local::stream_protocol::socket socket) {
    if (failure == asio::error::operation_aborted) return;
    if (!failure && feed::is_of_this_user(socket.native_handle())) {
      const auto session = std::make_shared<Session>(*this, loop_, wire::Fd(socket.release()));
      sessions_.insert(session);
      session->start();
    }
    accept();
  });
}

Result<void> Server::greet(const feed::Hello& hello) {
  if (hello.protocol != feed::protocol_version) {
    return Error{ErrorKind::invalid_argument, "the data process is of another version of Headway than its client"};
  }
  if (!engine_) engine_ = std::make_unique<Engine>(hello);
  return {};
}

void Server::open(const std::shared_ptr<Session>& session, std::shared_ptr<const PlanInput> input,
                  feed::Consumption consumption) {
  const Result<std::shared_ptr<Outlet>> outlet = session->make_outlet(engine_->budget(), consumption.prefetch);
  if (!outlet) return session->send(failure_frame(outlet.error()));
  const int rank = consumption.rank;
  if (consumption.group.empty() || consumption.world_size == 1)
    return begin(consumption, std::move(input), {{rank, session}});
  const auto [found, is_first] = gathering_.try_emplace(key_of(consumption));
  Gathering& gathering = found->second;
  if (is_first) {
    gathering.input = std::move(input);
    gathering.consumption_text = common_text(consumption);
    gathering.consumption = std::move(consumption);
  } else if (gathering.consumption_text != common_text(consumption) || hash_of(*gathering.input) != hash_of(*input)) {
    return session->send(failure_frame(Error{
        ErrorKind::invalid_argument, "the ranks do not read \"" + consumption.group +
                                         "\" in the same way: data set and arguments must be equal on all ranks"}));
  }
  if (!gathering.members.emplace(rank, session).second) {
    return session->send(failure_frame(Error{
        ErrorKind::invalid_argument,
        "rank " + std::to_string(rank) + " reads \"" + gathering.consumption.group + "\" twice at the same time"}));
  }
  const int wanted =
      gathering.consumption.clients_here > 0 ? gathering.consumption.clients_here : gathering.consumption.world_size;
  if (gathering.members.size() < static_cast<std::size_t>(wanted)) return;
  const Gathering complete = std::move(gathering);
  gathering_.erase(found);
  begin(complete.consumption, complete.input, complete.members);
}

void Server::begin(const feed::Consumption& consumption, std::shared_ptr<const PlanInput> input,
                   const std::map<int, std::shared_ptr<Session>>& sessions) {
  std::vector<Member> members;
  running_.emplace_back();
  const auto place = std::prev(running_.end());
  for (const auto& [rank, session] : sessions) {
    members.push_back({rank, session->outlet()});
    place->members.push_back(session);
  }
  auto gauges = std::make_shared<FlowGauges>(engine_->budget());
  for (const auto& [rank, session] : sessions) session->set_gauges(gauges);
  auto on_end = [this, place] { asio::post(loop_, [this, place] { running_.erase(place); }); };
  Result<std::unique_ptr<Flow>> flow =
      Flow::start(*engine_, std::move(input), consumption, members, std::move(gauges), std::move(on_end));
  if (flow) {
    place->flow = std::move(*flow);
    return;
  }
  running_.erase(place);
  for (const auto& [rank, session] : sessions) session->send(failure_frame(flow.error()));
}

void Server::ask(const std::shared_ptr<Session>& session, std::string what, std::shared_ptr<const PlanInput> input) {
  auto gauges = std::make_shared<FlowGauges>(engine_->budget());
  session->set_gauges(gauges);
  answer_later(session, [this, what = std::move(what), input = std::move(input), gauges] {
    return answer(*engine_, what, *input, gauges);
  });
}

void Server::run(const std::shared_ptr<Session>& session, std::shared_ptr<const PlanInput> input) {
  auto wanted = [seen = std::weak_ptr(session)] { return !seen.expired(); };
  auto gauges = std::make_shared<FlowGauges>(engine_->budget());
  session->set_gauges(gauges);
  answer_later(session, [this, input = std::move(input), wanted = std::move(wanted), gauges] {
    return write_plan(*engine_, *input, wanted, gauges);
  });
}

FlowCounters Server::look(const std::shared_ptr<Session>& session) {
  if (session->gauges()) return session->gauges()->read();
  FlowCounters counters;
  for (const auto& [key, gathering] : gathering_) {
    const auto is_here = [&](const auto& member) { return member.second == session; };
    if (std::ranges::none_of(gathering.members, is_here)) continue;
    // Those of other machines are not known here.
    if (gathering.consumption.clients_here > 0 && gathering.consumption.clients_here < gathering.consumption.world_size)
      continue;
    for (int rank = 0; rank < gathering.consumption.world_size; ++rank) {
      if (!gathering.members.contains(rank)) counters.absent.push_back(rank);
    }
  }
  return counters;
}

void Server::answer_later(const std::shared_ptr<Session>& session, std::function<wire::Frame()> make) {
  if (!answering_) {
    Result<std::unique_ptr<wire::ThreadPool>> pool = wire::ThreadPool::start(answering_threads);
    if (!pool) return session->send(failure_frame(pool.error()));
    answering_ = std::move(*pool);
  }
  asio::post(*answering_, [this, seen = std::weak_ptr(session), make = std::move(make)] {
    auto frame = std::make_shared<wire::Frame>(make());
    asio::post(loop_, [seen, frame] {
      if (const auto client = seen.lock()) client->send(std::move(*frame));
    });
  });
}

void Server::leave(const std::shared_ptr<Session>& session) {
  for (auto& [key, gathering] : gathering_) {
    std::erase_if(gathering.members, [&](const auto& member) { return member.second == session; });
  }
  std::erase_if(gathering_, [](const auto& entry) { return entry.second.members.empty(); });
  for (Running& running : running_) {
    std::erase(running.members, session);
    if (running.members.empty() && running.flow) running.flow->stop();
  }
  sessions_.erase(session);
  end_if_alone();
}

void Server::end_if_alone() {
  if (!sessions_.empty()) return;
  acceptor_.close();
  loop_.stop();
}

}  // namespace headway::flow
