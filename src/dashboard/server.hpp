#pragma once

#include "dashboard/access.hpp"
#include "dashboard/site.hpp"
#include "wire/thread_pool.hpp"

#include <boost/asio.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace headway::dashboard {

/// How much a server takes on itself.
struct ServerLimits {
  std::size_t connections = 64;  ///< More are closed as soon as they are accepted.
  std::size_t event_clients = 8;
  std::uint32_t request_bytes = 16 * 1024;
  std::chrono::milliseconds request_time{10'000};  ///< For a request to come, or an answer to go.
  std::chrono::milliseconds idle_time{30'000};     ///< Between two requests of a connection.
  std::chrono::milliseconds ping{15'000};          ///< Between two events, when nothing happens.
};

struct ServerConfig {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any that is free.
  /// How it is called in its own address, and by which other names.
  std::vector<std::string> names = {};
  std::string token = {};  ///< Empty: a new one.
  /// With a key and a certificate that are made for it (the cluster's way). Not in a build without
  /// OpenSSL.
  bool tls = false;
  ServerLimits limits = {};
};

/// Serves a site over HTTP/1.1, on a separate thread with its own loop; answers are computed on
/// two further threads. Any thread.
class Server {
 public:
  struct State;

  /// Errors: `unavailable`, when nothing can listen there or there is no thread.
  static Result<std::unique_ptr<Server>> open(Site& site, ServerConfig config);
  /// Connections end, threads are joined.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// For the address bar: "http://127.0.0.1:8265/?token=...".
  std::string url() const;

 private:
  explicit Server(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace headway::dashboard
