#include "cluster/secure_channel.hpp"

/// A build without OpenSSL: nodes cannot join.
namespace headway::cluster {

Result<void> check_available() {
  return Error{
      ErrorKind::unavailable,
      "this build of Headway was made without OpenSSL, so nodes cannot join: install libssl-dev and build again"};
}

std::string proof_of(const std::string&, std::string_view, const std::string&) { return {}; }

bool is_same_proof(const std::string&, const std::string&) { return false; }

Result<std::unique_ptr<SecureListener>> SecureListener::open(boost::asio::io_context&, const std::string&,
                                                             std::uint16_t, std::span<const wire::Carried>, Accepted,
                                                             Trouble) {
  return check_available().error();
}

void connect(boost::asio::io_context& loop, const std::string&, std::uint16_t, std::chrono::milliseconds,
             std::span<const wire::Carried>, std::function<void(Result<std::shared_ptr<SecureChannel>>)> connected) {
  boost::asio::post(loop, [connected = std::move(connected)] { connected(check_available().error()); });
}

}  // namespace headway::cluster
