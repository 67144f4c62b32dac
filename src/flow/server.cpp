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
  return consumption.group + "\n" + consumption.iterator + "\n" + std::to_string(consumption.epoch);
}

/// Without what may differ from client to client.
std::string common_text(feed::Consumption consumption) {
  consumption.rank = 0;
  consumption.prefetch = 0;
  consumption.more = false;
  consumption.cursor.reset();
  return to_json_text(consumption);
}

std::string hash_of(const PlanInput& input) { return data::plan_hash(input.identity_of(input.plan)); }

bool resumes(const feed::Consumption& consumption) { return consumption.cursor && !consumption.cursor->is_null(); }

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
  const Result<ReservedOutlet> outlet = reserve_outlet(loop_, engine_->budget(), consumption.prefetch);
  if (!outlet) return session->send(failure_frame(outlet.error()));
  session->adopt(*outlet);
  const int rank = consumption.rank;
  if (consumption.group.empty() || consumption.world_size == 1)
    return begin({std::move(input), std::move(consumption), "", {{rank, session}}});
  const auto [found, is_first] = gathering_.try_emplace(key_of(consumption));
  Gathering& gathering = found->second;
  if (is_first) {
    gathering.input = std::move(input);
    gathering.consumption_text = common_text(consumption);
    gathering.consumption = consumption;
  } else if (gathering.consumption_text != common_text(consumption) || hash_of(*gathering.input) != hash_of(*input)) {
    const Error failure{ErrorKind::invalid_argument,
                        "the ranks do not read \"" + consumption.group +
                            "\" in the same way: data set and arguments must be equal on all ranks"};
    // Those that wait would wait forever.
    for (const auto& [other, waiting] : gathering.members) waiting->send(failure_frame(failure));
    gathering_.erase(found);
    return session->send(failure_frame(failure));
  }
  if (!gathering.members.emplace(rank, session).second) {
    return session->send(failure_frame(Error{
        ErrorKind::invalid_argument,
        "rank " + std::to_string(rank) + " reads \"" + gathering.consumption.group + "\" twice at the same time"}));
  }
  gathering.consumption.more = gathering.consumption.more || consumption.more;
  const int wanted =
      gathering.consumption.clients_here > 0 ? gathering.consumption.clients_here : gathering.consumption.world_size;
  if (gathering.members.size() < static_cast<std::size_t>(wanted)) return;
  const Gathering complete = std::move(gathering);
  gathering_.erase(found);
  begin(complete);
}

void Server::begin(const Gathering& complete) {
  if (adopt(complete)) return;
  make_room();
  const Place place = running_.emplace(running_.end());
  place->input = complete.input;
  place->consumption = complete.consumption;
  place->gauges = std::make_shared<FlowGauges>(engine_->budget());
  for (const auto& [rank, session] : complete.members) {
    place->outlets[rank].outlet = session->outlet();
    place->members.push_back(session);
    session->set_gauges(place->gauges);
  }
  if (const Result<void> started = start_flow(place); !started) {
    running_.erase(place);
    for (const auto& [rank, session] : complete.members) session->send(failure_frame(started.error()));
  }
}

Result<void> Server::start_flow(Place place) {
  FlowEvents events;
  events.on_read = [this, place] {
    asio::post(loop_, [this, place] {
      place->has_read = true;
      begin_next(place);
    });
  };
  events.on_end = [this, place](bool whole) { asio::post(loop_, [this, place, whole] { on_end(place, whole); }); };
  std::vector<Member> members;
  for (const auto& [rank, reserved] : place->outlets) members.push_back({rank, reserved.outlet});
  Result<std::unique_ptr<Flow>> flow = Flow::start(*engine_, place->input, place->consumption, std::move(members),
                                                   place->gauges, std::move(events), place->wanted);
  if (!flow) return flow.error();
  place->flow = std::move(*flow);
  return {};
}

void Server::on_end(Place place, bool whole) {
  place->has_ended = true;
  if (place->wanted && whole) begin_next(place);
  if (place->wanted || place->members.empty()) running_.erase(place);
}

/// Nothing is begun while most of the memory is taken: where the epoch's own rows take it, the next
/// one waits for its end.
void Server::begin_next(Place before) {
  const Budget& budget = engine_->budget();
  if (!before->wanted || before->has_next || !before->consumption.more || before->members.empty()) return;
  if (budget.taken() > budget.bytes() / 2) return;
  feed::Consumption next = before->consumption;
  ++next.epoch;
  next.cursor.reset();
  const auto is_next = [&](const Running& each) { return !each.dropped && key_of(each.consumption) == key_of(next); };
  if (!begins_ahead(before->input->optimised) || std::ranges::any_of(running_, is_next)) return;
  before->has_next = true;
  Running ahead;
  for (const auto& [rank, reserved] : before->outlets) {
    Result<ReservedOutlet> outlet = reserve_outlet(loop_, engine_->budget(), reserved.outlet->prefetch());
    if (!outlet) return;
    ahead.outlets[rank] = std::move(*outlet);
  }
  ahead.input = before->input;
  ahead.consumption = std::move(next);
  ahead.gauges = std::make_shared<FlowGauges>(engine_->budget());
  ahead.members = before->members;
  ahead.wanted = false;
  const Place place = running_.insert(running_.end(), std::move(ahead));
  if (!start_flow(place)) running_.erase(place);
}

bool Server::adopt(const Gathering& complete) {
  const auto place = std::ranges::find_if(running_, [&](const Running& each) {
    return !each.wanted && !each.dropped && key_of(each.consumption) == key_of(complete.consumption);
  });
  if (place == running_.end()) return false;
  const auto is_for = [&](const auto& member) {
    const auto found = place->outlets.find(member.first);
    return found != place->outlets.end() && found->second.outlet->prefetch() == member.second->outlet()->prefetch();
  };
  if (resumes(complete.consumption) || place->outlets.size() != complete.members.size() ||
      !std::ranges::all_of(complete.members, is_for) ||
      common_text(place->consumption) != common_text(complete.consumption) ||
      hash_of(*place->input) != hash_of(*complete.input) || !place->flow->want()) {
    drop(place);
    return false;
  }
  place->wanted = true;
  place->consumption.more = complete.consumption.more;
  place->members.clear();
  for (const auto& [rank, session] : complete.members) {
    place->members.push_back(session);
    session->set_gauges(place->gauges);
    session->adopt(place->outlets.at(rank));
  }
  place->gauges->clients_came();
  if (place->has_read) begin_next(place);
  if (place->has_ended) running_.erase(place);
  return true;
}

/// What was begun for clients that may never ask for it gives way to what is asked for.
void Server::make_room() {
  const Budget& budget = engine_->budget();
  for (auto each = running_.begin(); each != running_.end() && budget.taken() > budget.bytes() / 2;) {
    const auto place = each++;
    if (!place->wanted && !place->dropped) drop(place);
  }
}

/// A flow that nobody wants. One that still runs tells when it has ended.
void Server::drop(Place place) {
  place->dropped = true;
  place->members.clear();
  if (place->flow) place->flow->stop();
  if (place->has_ended) running_.erase(place);
}

void Server::ask(const std::shared_ptr<Session>& session, std::string what, std::shared_ptr<const PlanInput> input) {
  auto gauges = std::make_shared<FlowGauges>(engine_->budget());
  session->set_gauges(gauges);
  answer_later(session, [this, what = std::move(what), input = std::move(input), gauges, errand = session->errand()] {
    return answer(*engine_, what, *input, gauges, *errand);
  });
}

void Server::run(const std::shared_ptr<Session>& session, std::shared_ptr<const PlanInput> input) {
  auto gauges = std::make_shared<FlowGauges>(engine_->budget());
  session->set_gauges(gauges);
  session->errand()->ask_by([this, seen = std::weak_ptr(session)](std::size_t first, std::size_t count) {
    asio::post(loop_, [seen, first, count] {
      if (const auto client = seen.lock()) client->send(wire::to_frame(feed::NamesWanted{first, count}));
    });
  });
  answer_later(session, [this, input = std::move(input), gauges, errand = session->errand()] {
    return write_plan(*engine_, *input, *errand, gauges);
  });
}

void Server::invite(const std::shared_ptr<Session>& session, feed::Invite invite) {
  answer_later(session, [this, invite = std::move(invite)] { return answer(*engine_, invite); });
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
  for (auto each = running_.begin(); each != running_.end();) {
    const auto place = each++;
    std::erase(place->members, session);
    if (place->members.empty()) drop(place);
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
