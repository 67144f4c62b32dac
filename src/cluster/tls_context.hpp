#pragma once

#include <headway/result.hpp>

#include <boost/asio/ssl.hpp>

#include <memory>

namespace headway::cluster {

/// TLS 1.3 with a key and a self-signed certificate that are made here and never leave memory.
/// Errors: `internal`, OpenSSL's words.
Result<std::shared_ptr<boost::asio::ssl::context>> server_context();

/// TLS 1.3 without looking at certificates: who the other end is, the token's proof says.
std::shared_ptr<boost::asio::ssl::context> client_context();

}  // namespace headway::cluster
