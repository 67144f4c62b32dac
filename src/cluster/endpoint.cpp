#include "cluster/secure_channel.hpp"

#include <charconv>

namespace headway::cluster {

Result<Endpoint> parse_endpoint(const std::string& argument, const std::string& text) {
  const Error refused{ErrorKind::invalid_argument,
                      argument + " is '" + text + "'; allowed: host:port, such as 10.0.0.5:4000 or [::1]:4000"};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return refused;
  Endpoint endpoint{text.substr(0, colon), 0};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data() + colon + 1, end, endpoint.port);
  if (failure != std::errc() || stop != end) return refused;
  if (endpoint.host.front() == '[' && endpoint.host.back() == ']') {
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  } else if (endpoint.host.find(':') != std::string::npos) {
    return refused;
  }
  if (endpoint.host.empty()) return refused;
  return endpoint;
}

/// A datagram socket that is connected sends nothing, and knows the address that it would send
/// from.
std::string own_ip() {
  using boost::asio::ip::udp;
  boost::asio::io_context loop;
  udp::socket socket(loop);
  boost::system::error_code failure;
  socket.open(udp::v4(), failure);
  // RFC 5737: an example, nobody's.
  const udp::endpoint outside(boost::asio::ip::make_address_v4("192.0.2.1"), 9);
  if (!failure) socket.connect(outside, failure);
  if (failure) return "127.0.0.1";
  const auto own = socket.local_endpoint(failure);
  return failure ? "127.0.0.1" : own.address().to_string();
}

}  // namespace headway::cluster
