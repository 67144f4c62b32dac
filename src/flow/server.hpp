#pragma once

#include "flow/engine.hpp"
#include "flow/flow.hpp"
#include "flow/session.hpp"
#include "wire/thread_pool.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::flow {

/// The data process: accepts clients of the same user, and ends when the last of them has gone.
class Server : public SessionHost {
 public:
  /// `listening`: a socket that listens.
  explicit Server(wire::Fd listening);
  ~Server() override;

  /// Returns when all clients have gone, after the first has come.
  void run();

  Result<void> greet(const feed::Hello& hello) override;
  void open(const std::shared_ptr<Session>& session, std::shared_ptr<const PlanInput> input,
            feed::Consumption consumption) override;
  void ask(const std::shared_ptr<Session>& session, std::string what, std::shared_ptr<const PlanInput> input) override;
  void run(const std::shared_ptr<Session>& session, std::shared_ptr<const PlanInput> input) override;
  void invite(const std::shared_ptr<Session>& session, feed::Invite invite) override;
  FlowCounters look(const std::shared_ptr<Session>& session) override;
  void leave(const std::shared_ptr<Session>& session) override;

 private:
  /// Clients that will share an epoch, until all of them are there.
  struct Gathering {
    std::shared_ptr<const PlanInput> input;
    feed::Consumption consumption;
    std::string consumption_text;                     ///< What all must have in common.
    std::map<int, std::shared_ptr<Session>> members;  ///< By rank.
  };
  /// A flow. One that nobody has asked for yet was begun for the clients of the epoch before, and
  /// stays while one of them does.
  struct Running {
    std::shared_ptr<const PlanInput> input;
    feed::Consumption consumption;
    std::map<int, ReservedOutlet> outlets;  ///< By rank.
    std::shared_ptr<FlowGauges> gauges;
    std::unique_ptr<Flow> flow;
    std::vector<std::shared_ptr<Session>> members;  ///< Who has asked for it or its predecessor.
    bool wanted = true;
    bool has_read = false;
    bool has_ended = false;
    bool has_next = false;
    bool dropped = false;  ///< It ends, and is nobody's any more.
  };
  using Place = std::list<Running>::iterator;

  void accept();
  void begin(const Gathering& complete);
  /// Gives the clients what was begun for them, if they ask for just that.
  bool adopt(const Gathering& complete);
  /// Begins the epoch after a flow's if it will probably be asked for.
  void begin_next(Place before);
  Result<void> start_flow(Place place);
  void on_end(Place place, bool whole);
  void make_room();
  void drop(Place place);
  /// Has `make` called where it may block, and sends what it returns.
  void answer_later(const std::shared_ptr<Session>& session, std::function<wire::Frame()> make);
  void end_if_alone();

  boost::asio::io_context loop_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  std::unique_ptr<Engine> engine_;
  std::set<std::shared_ptr<Session>> sessions_;
  std::map<std::string, Gathering> gathering_;   ///< By group and epoch.
  std::list<Running> running_;                   ///< Or done, and kept for clients to come.
  std::unique_ptr<wire::ThreadPool> answering_;  ///< Questions and writes, which wait for files.
};

}  // namespace headway::flow
