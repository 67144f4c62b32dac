#pragma once

#include "dashboard/server.hpp"

#include <boost/asio.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

/// A browser that says exactly what a test wants it to say.
namespace headway::dashboard {

/// A site that answers each path with the path.
class EchoSite : public Site {
 public:
  Answer answer(const Target& target) override {
    if (target.path == std::vector<std::string>{"api", "big"}) return {200, std::string(big_bytes, 'x')};
    if (target.path == std::vector<std::string>{"api", "defect"}) throw std::runtime_error("a defect");
    return {200, "\"" + target.path.back() + "\""};
  }
  EventBoard& events() override { return board; }

  /// Publishes an overview with one run that says `text`.
  void publish(const std::string& text) {
    Overview overview;
    overview.mode = "\"live\"";
    overview.driver = "null";
    overview.runs.push_back(std::make_shared<const Part>(Part{"1", "{\"id\":\"1\",\"words\":\"" + text + "\"}"}));
    board.publish(std::move(overview));
  }

  static constexpr std::size_t big_bytes = 1 << 20;
  EventBoard board;
};

class Client {
 public:
  explicit Client(std::uint16_t port) { socket_.connect({boost::asio::ip::address_v4::loopback(), port}); }

  void say(const std::string& text) {
    boost::system::error_code failure;
    boost::asio::write(socket_, boost::asio::buffer(text), failure);
  }
  /// Until `end` has come, or the connection has ended; all that was read since the last call.
  std::string read_until(const std::string& end) {
    boost::system::error_code failure;
    const std::size_t size = boost::asio::read_until(socket_, boost::asio::dynamic_buffer(text_), end, failure);
    std::string read = text_.substr(0, failure ? text_.size() : size);
    text_.erase(0, read.size());
    return read;
  }
  std::string read_all() {
    boost::system::error_code failure;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(text_), failure);
    return std::exchange(text_, "");
  }
  boost::asio::ip::tcp::socket& socket() { return socket_; }

 private:
  boost::asio::io_context loop_;
  boost::asio::ip::tcp::socket socket_{loop_};
  std::string text_;
};

struct Served {
  explicit Served(ServerLimits limits = {}) {
    ServerConfig config;
    config.token = token;
    config.limits = limits;
    auto opened = Server::open(site, config);
    BOOST_REQUIRE(opened.has_value());
    server = std::move(*opened);
  }

  /// A request with the token, and `more` lines of its head.
  std::string request(const std::string& target, const std::string& more = "Connection: close\r\n") const {
    return "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server->port()) +
           "\r\nAuthorization: Bearer " + token + "\r\n" + more + "\r\n";
  }
  std::string ask(const std::string& text) const {
    Client client(server->port());
    client.say(text);
    return client.read_all();
  }

  const std::string token = "0123456789abcdef0123456789abcdef";
  EchoSite site;
  std::unique_ptr<Server> server;
};

}  // namespace headway::dashboard
