#include "dashboard/connection.hpp"

#include <charconv>

namespace headway::dashboard {

boost::asio::awaitable<void> serve_plainly(Server::State& state, boost::asio::ip::tcp::socket socket,
                                           std::shared_ptr<Admitted> admitted) {
  boost::beast::tcp_stream stream(std::move(socket));
  // Goes before the descriptor is closed, whose number another thread may then get.
  const auto held = std::move(admitted);
  connection::Connection<boost::beast::tcp_stream> served(state, stream);
  co_await served.serve();
}

namespace connection {
namespace {

// Nothing from elsewhere is loaded, sent to or shown in a frame. Scripts set styles of elements.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const char* type_of(std::string_view path) {
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  if (path.ends_with(".svg")) return "image/svg+xml";
  if (path.ends_with(".png")) return "image/png";
  return "text/plain; charset=utf-8";
}

Answer computed(Site& site, const Target& target) {
  try {
    return site.answer(target);
  } catch (const std::exception& exception) {
    return refusal(500, std::string("an unexpected exception: ") + exception.what());
  }
}

std::string field(const Request& request, http::field name) { return std::string(request.get()[name]); }

}  // namespace

RequestHead head_of(const Request& request) {
  RequestHead head;
  head.method = std::string(request.get().method_string());
  head.target = std::string(request.get().target());
  head.host = field(request, http::field::host);
  head.origin = field(request, http::field::origin);
  head.fetch_site = std::string(request.get()["Sec-Fetch-Site"]);
  head.cookie = field(request, http::field::cookie);
  head.authorization = field(request, http::field::authorization);
  head.last_event_id = std::string(request.get()["Last-Event-ID"]);
  return head;
}

std::optional<Answer> own_answer(const Target& target) {
  std::string path;
  if (!target.path.empty()) {
    if (target.path.front() != "assets") return std::nullopt;
    if (target.path.size() < 3 || target.path[1] != assets_version()) return refusal(404, "no such file of the page");
    for (std::size_t place = 2; place < target.path.size(); ++place)
      path += (place > 2 ? "/" : "") + target.path[place];
  } else {
    path = "index.html";
  }
  const auto bytes = find_asset(path);
  if (!bytes) return refusal(404, "no such file of the page");
  return Answer{200, std::string(*bytes), type_of(path), !target.path.empty()};
}

Response response_of(Answer answer, bool keep_alive) {
  Response response{static_cast<http::status>(answer.status), 11};
  response.set(http::field::content_type, answer.type);
  response.set(http::field::cache_control, answer.forever ? "public, max-age=31536000, immutable" : "no-store");
  response.set("Content-Security-Policy", policy);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Cross-Origin-Opener-Policy", "same-origin");
  if (answer.status == 405) response.set(http::field::allow, "GET");
  if (answer.status == 503) response.set(http::field::retry_after, "5");
  response.keep_alive(keep_alive);
  response.body() = std::move(answer.body);
  response.prepare_payload();
  return response;
}

Answer refusal(unsigned status, const std::string& words) {
  JsonObject object;
  object["error"] = words;
  return {status, json_text(object)};
}

Response sign_in(const Access& access) {
  Response response = response_of({200,
                                   "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url=/\">"
                                   "<link rel=icon href=\"data:,\"><title>Headway</title>",
                                   type_of(".html")},
                                  false);
  response.set(http::field::set_cookie, access.cookie_header());
  return response;
}

std::string event_stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n"
         "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\nretry: 2000\n\n";
}

std::int64_t event_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && stop == text.data() + text.size() && number > 0 ? number : 0;
}

asio::awaitable<Answer> site_answer(Server::State& state, Target target) {
  const auto begin = [&state](auto handler, Target asked) {
    asio::post(*state.threads, [&state, handler = std::move(handler), asked = std::move(asked)]() mutable {
      // The loop outlives this thread.
      asio::post(state.loop, [handler = std::move(handler), answer = computed(state.site, asked)]() mutable {
        std::move(handler)(std::move(answer));
      });
    });
  };
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(Answer)>(begin, use_awaitable, std::move(target));
}

}  // namespace connection
}  // namespace headway::dashboard
