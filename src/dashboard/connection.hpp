#pragma once

#include "core/json.hpp"
#include "dashboard/assets.hpp"
#include "dashboard/server_state.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <string>

/// One connection, over a plain stream or one with TLS: requests one after another, each with its
/// answer, or events until the client goes. Whatever is not understood ends the connection.
namespace headway::dashboard::connection {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::as_tuple;
using asio::use_awaitable;

using Request = http::request_parser<http::empty_body>;
using Response = http::response<http::string_body>;

RequestHead head_of(const Request& request);
/// The page, one of its files, or nothing: then it is for the site.
std::optional<Answer> own_answer(const Target& target);
/// With the headers that every answer has.
Response response_of(Answer answer, bool keep_alive);
Answer refusal(unsigned status, const std::string& words);
/// The page that keeps the token as a cookie, and then goes to the address without it. A redirect
/// would not do: browsers send no strict cookie along when another page's link began it.
Response sign_in(const Access& access);
/// What begins a stream of events.
std::string event_stream_head();
/// A number that this server may have given; 0 for anything else.
std::int64_t event_number(const std::string& text);
/// What the site answers, on the threads for answers.
asio::awaitable<Answer> site_answer(Server::State& state, Target target);

template <class Stream>
class Connection {
 public:
  Connection(Server::State& state, Stream& stream) : state_(state), stream_(stream) {}

  asio::awaitable<void> serve() {
    auto limit = state_.config.limits.request_time;
    while (true) {
      Request request;
      request.header_limit(state_.config.limits.request_bytes);
      lowest().expires_after(limit);
      const auto [failure, size] = co_await http::async_read_header(stream_, buffer_, request, as_tuple(use_awaitable));
      if (failure == http::error::end_of_stream || failure == beast::error::timeout) co_return;
      if (failure) {
        // Only what was read and is no request has an answer.
        if (failure.category() != http::make_error_code(http::error::bad_method).category()) co_return;
        const bool too_long = failure == http::error::header_limit;
        co_await send(response_of(refusal(too_long ? 431 : 400, "this is no request"), false));
        co_return;
      }
      if (!co_await answer(request)) co_return;
      limit = state_.config.limits.idle_time;
    }
  }

 private:
  auto& lowest() { return beast::get_lowest_layer(stream_); }

  /// False: the connection ends.
  asio::awaitable<bool> answer(const Request& request) {
    const RequestHead head = head_of(request);
    Access::Decision decision = state_.access.decide(head);
    // A body would be taken for the next request.
    const bool keep_alive = request.get().keep_alive() && request.is_done();
    if (decision.verdict == Access::Verdict::not_allowed) {
      co_return co_await send(response_of(refusal(decision.status, decision.words), false));
    }
    if (decision.verdict == Access::Verdict::signed_in) co_return co_await send(sign_in(state_.access));
    const Target& target = decision.target;
    if (target.path == std::vector<std::string>{"api", "events"}) {
      co_await send_events(event_number(head.last_event_id));
      co_return false;
    }
    if (auto own = own_answer(target)) co_return co_await send(response_of(std::move(*own), keep_alive));
    lowest().expires_never();
    Answer found = co_await site_answer(state_, std::move(decision.target));
    co_return co_await send(response_of(std::move(found), keep_alive));
  }

  asio::awaitable<bool> send(Response response) {
    lowest().expires_after(state_.config.limits.request_time);
    const auto [failure, size] = co_await http::async_write(stream_, response, as_tuple(use_awaitable));
    if (!failure && response.keep_alive()) co_return true;
    boost::system::error_code ignored;
    lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    co_return false;
  }

  asio::awaitable<bool> send_text(const std::string& text) {
    lowest().expires_after(state_.config.limits.idle_time);
    const auto [failure, size] = co_await asio::async_write(stream_, asio::buffer(text), as_tuple(use_awaitable));
    co_return !failure;
  }

  asio::awaitable<void> send_events(std::int64_t seen) {
    if (state_.event_clients >= state_.config.limits.event_clients) {
      const std::string words = "there are " + std::to_string(state_.event_clients) + " pages open already";
      co_await send(response_of(refusal(503, words), false));
      co_return;
    }
    const Admitted admitted(state_.event_clients, -1);
    asio::steady_timer sleep(state_.loop);
    const Sleeper sleeper(state_, sleep);
    const auto alive = std::make_shared<int>(0);
    watch_for_end(sleep, alive);
    if (!co_await send_text(event_stream_head())) co_return;
    while (!gone_) {
      const Frame frame = state_.site.events().next(seen);
      if (frame.text) {
        seen = frame.number;
        if (!co_await send_text(*frame.text)) co_return;
        continue;
      }
      lowest().expires_never();
      sleep.expires_after(state_.config.limits.ping);
      const auto [woken] = co_await sleep.async_wait(as_tuple(use_awaitable));
      if (!woken && !gone_ && !co_await send_text(": ping\n\n")) co_return;
    }
  }

  /// A client of events says nothing more: what can be read is its end.
  void watch_for_end(asio::steady_timer& sleep, const std::shared_ptr<int>& alive) {
    lowest().socket().async_wait(asio::socket_base::wait_read,
                                 [this, &sleep, weak = std::weak_ptr(alive)](const boost::system::error_code&) {
                                   if (weak.expired()) return;
                                   gone_ = true;
                                   sleep.cancel();
                                 });
  }

  struct Sleeper {
    Sleeper(Server::State& of, asio::steady_timer& timer) : state(of), sleep(timer) { state.sleepers.insert(&sleep); }
    ~Sleeper() { state.sleepers.erase(&sleep); }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    Server::State& state;
    asio::steady_timer& sleep;
  };

  Server::State& state_;
  Stream& stream_;
  beast::flat_buffer buffer_;
  bool gone_ = false;
};

}  // namespace headway::dashboard::connection
