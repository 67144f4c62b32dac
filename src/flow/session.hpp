#pragma once

#include "feed/feed_messages.hpp"
#include "flow/errand.hpp"
#include "flow/outlet.hpp"
#include "flow/plan_builder.hpp"
#include "wire/channel.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace headway::flow {

class Session;

/// An outlet whose client may come later. `owner` is of the event loop.
struct ReservedOutlet {
  std::shared_ptr<Outlet> outlet;
  std::shared_ptr<std::weak_ptr<Session>> owner;
};

/// Makes the memory that a client's batches lie in. Errors: `unavailable`.
Result<ReservedOutlet> reserve_outlet(boost::asio::io_context& loop, Budget& budget, int prefetch);

/// What sessions ask of the server. On the event loop's thread.
class SessionHost {
 public:
  SessionHost() = default;
  SessionHost(const SessionHost&) = delete;
  SessionHost& operator=(const SessionHost&) = delete;
  virtual ~SessionHost() = default;

  /// Errors: another version of the protocol.
  virtual Result<void> greet(const feed::Hello& hello) = 0;
  virtual void open(const std::shared_ptr<Session>& session, std::shared_ptr<const PlanInput> input,
                    feed::Consumption consumption) = 0;
  virtual void ask(const std::shared_ptr<Session>& session, std::string what,
                   std::shared_ptr<const PlanInput> input) = 0;
  virtual void run(const std::shared_ptr<Session>& session, std::shared_ptr<const PlanInput> input) = 0;
  virtual void invite(const std::shared_ptr<Session>& session, feed::Invite invite) = 0;
  /// How far what the session has asked for is.
  virtual FlowCounters look(const std::shared_ptr<Session>& session) = 0;
  virtual void leave(const std::shared_ptr<Session>& session) = 0;
};

/// One connection: it says hello, and then opens a stream or asks questions. Lives on the event
/// loop.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(SessionHost& host, boost::asio::io_context& loop, wire::Fd socket);

  void start();
  void send(wire::Frame frame) { channel_->send(std::move(frame)); }

  /// Sends what has come out for the client.
  void flush();
  /// This client gets what comes out there.
  void adopt(const ReservedOutlet& reserved);
  const std::shared_ptr<Outlet>& outlet() const { return outlet_; }

  /// What is run for the client; null before.
  void set_gauges(std::shared_ptr<const FlowGauges> gauges) { gauges_ = std::move(gauges); }
  const std::shared_ptr<const FlowGauges>& gauges() const { return gauges_; }
  /// Stopped when the client goes.
  const std::shared_ptr<Errand>& errand() const { return errand_; }

 private:
  Result<void> on_frame(wire::Frame frame);
  Result<void> on_open(feed::Open open, const wire::Blob& blobs);
  /// A bad request is answered; the connection lives on.
  void refuse(const Error& error);

  SessionHost& host_;
  boost::asio::io_context& loop_;
  std::shared_ptr<wire::Channel> channel_;
  std::shared_ptr<Outlet> outlet_;
  std::shared_ptr<const FlowGauges> gauges_;
  const std::shared_ptr<Errand> errand_ = std::make_shared<Errand>();
  bool greeted_ = false;
};

/// Errors: `invalid_argument`, naming the argument.
Result<void> check_consumption(const feed::Consumption& consumption);

}  // namespace headway::flow
