#pragma once

#include "dashboard/target.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Who may ask a dashboard, decided by what a request's head says. No I/O.
namespace headway::dashboard {

/// Of a request's head, what counts. Empty where it is not there.
struct RequestHead {
  std::string method;
  std::string target;
  std::string host;
  std::string origin;
  std::string fetch_site;  ///< Sec-Fetch-Site
  std::string cookie;
  std::string authorization;
  std::string last_event_id;
};

/// 128 random bits as 32 letters. Errors: `unavailable` when the system has none.
Result<std::string> new_token();

/// Whether two secrets are the same; how long it takes does not say where they differ.
bool is_same_secret(std::string_view one, std::string_view other);

class Access {
 public:
  enum class Verdict {
    allowed,
    signed_in,  ///< The address has the token: it is to become a cookie.
    not_allowed
  };
  struct Decision {
    Verdict verdict = Verdict::not_allowed;
    unsigned status = 200;  ///< When it is not allowed.
    std::string words;
    Target target;
  };

  /// `hosts`: by which names this server may be called, beside 127.0.0.1, ::1 and localhost.
  /// Another name may be one that a foreign page had resolved to this machine.
  Access(std::string token, std::vector<std::string> hosts, bool tls);

  Decision decide(const RequestHead& head) const;

  /// The cookie's name: cookies do not tell ports apart.
  std::string cookie_name(std::uint16_t port) const { return "headway_" + std::to_string(port); }
  std::string cookie_header() const;
  void use_port(std::uint16_t port) { port_ = port; }
  const std::string& token() const { return token_; }

 private:
  bool is_own_host(std::string_view host) const;
  bool has_token(const RequestHead& head) const;

  std::string token_;
  std::vector<std::string> hosts_;
  bool tls_;
  std::uint16_t port_ = 0;
};

}  // namespace headway::dashboard
