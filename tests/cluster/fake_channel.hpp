#pragma once

#include "cluster/agent_messages.hpp"
#include "cluster/secure_channel.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>

namespace headway::cluster {

/// A connection whose other end is the test: it reads what was sent, and orders what is heard.
class FakeChannel : public SecureChannel {
 public:
  void start(FrameHandler on_frame, ClosedHandler on_closed) override {
    started = true;
    hand_over(std::move(on_frame), std::move(on_closed));
  }
  void hand_over(FrameHandler on_frame, ClosedHandler on_closed) override {
    on_frame_ = std::move(on_frame);
    on_closed_ = std::move(on_closed);
  }
  void send(wire::Frame frame) override { sent.push_back(std::move(frame)); }
  void send_ahead(wire::Frame frame) override { sent.push_back(std::move(frame)); }
  void finish() override { finished = true; }
  void close() override { closed = true; }
  std::size_t queued_bytes() const override { return queued; }
  void on_drained(std::function<void()> drained) override { drained_ = std::move(drained); }
  void trust() override { trusted = true; }
  bool unproven() const override { return !trusted && !closed; }
  void end_when_unreachable(std::chrono::seconds) override {}
  const std::string& binding() const override { return binding_; }
  std::string remote_ip() const override { return "10.0.0.9"; }

  /// The other end says this. As a channel does, it ends with the error of its handler.
  template <class M>
  void hear(const M& message, wire::Blob blob = nullptr) {
    hear_frame(wire::to_frame(message, std::move(blob)));
  }
  void hear_frame(wire::Frame frame) {
    if (!frame.inner_json.empty())
      frame.blob = std::make_shared<const std::string>(frame.inner_json + (frame.blob ? *frame.blob : ""));
    const FrameHandler handler = on_frame_;
    if (!handler) return;
    if (auto heard = handler(std::move(frame)); !heard) break_off(heard.error());
  }
  void break_off(std::optional<Error> error) {
    closed = true;
    on_frame_ = nullptr;
    if (auto handler = std::exchange(on_closed_, nullptr)) handler(std::move(error));
  }

  /// The next message that was sent, which must be an M.
  template <class Set, class M>
  M next() {
    BOOST_REQUIRE(!sent.empty());
    const auto message = wire::from_frame<Set>(sent.front());
    sent.pop_front();
    BOOST_REQUIRE(message.has_value());
    BOOST_REQUIRE_MESSAGE(std::holds_alternative<M>(*message), "not the next message: " << M::is);
    return std::get<M>(*message);
  }

  std::deque<wire::Frame> sent;
  bool started = false;
  bool finished = false;
  bool closed = false;
  bool trusted = false;
  std::size_t queued = 0;

 private:
  FrameHandler on_frame_;
  ClosedHandler on_closed_;
  std::function<void()> drained_;
  std::string binding_ = "a binding of this connection";
};

inline const std::string fake_token = "a token of sixteen characters or more";

}  // namespace headway::cluster
