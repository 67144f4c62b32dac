#include "dashboard/access.hpp"

#include <algorithm>
#include <array>
#include <sys/random.h>

namespace headway::dashboard {
namespace {

/// "[::1]:80" and "name:80" without the port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.rfind(':'));
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool has_cookie(std::string_view cookies, std::string_view name, std::string_view value) {
  while (!cookies.empty()) {
    const std::size_t end = cookies.find(';');
    const std::string_view cookie = trimmed(cookies.substr(0, end));
    cookies.remove_prefix(end == std::string_view::npos ? cookies.size() : end + 1);
    const std::size_t equals = cookie.find('=');
    if (equals == std::string_view::npos || cookie.substr(0, equals) != name) continue;
    if (is_same_secret(cookie.substr(equals + 1), value)) return true;
  }
  return false;
}

}  // namespace

Result<std::string> new_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Error{ErrorKind::unavailable, "the system gives no random bytes for the dashboard's token"};
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

bool is_same_secret(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned differing = 0;
  for (std::size_t place = 0; place < one.size(); ++place) {
    differing |=
        static_cast<unsigned>(static_cast<unsigned char>(one[place]) ^ static_cast<unsigned char>(other[place]));
  }
  return differing == 0;
}

Access::Access(std::string token, std::vector<std::string> hosts, bool tls)
    : token_(std::move(token)), hosts_(std::move(hosts)), tls_(tls) {
  for (const char* own : {"127.0.0.1", "localhost", "[::1]"}) hosts_.emplace_back(own);
}

std::string Access::cookie_header() const {
  return cookie_name(port_) + "=" + token_ + "; HttpOnly; SameSite=Strict; Path=/" + (tls_ ? "; Secure" : "");
}

bool Access::is_own_host(std::string_view host) const {
  return std::ranges::find(hosts_, without_port(host)) != hosts_.end();
}

bool Access::has_token(const RequestHead& head) const {
  constexpr std::string_view bearer = "Bearer ";
  const std::string_view authorization = head.authorization;
  if (authorization.starts_with(bearer) && is_same_secret(trimmed(authorization.substr(bearer.size())), token_)) {
    return true;
  }
  return has_cookie(head.cookie, cookie_name(port_), token_);
}

Access::Decision Access::decide(const RequestHead& head) const {
  const auto refused = [](unsigned status, std::string words) {
    return Decision{Verdict::not_allowed, status, std::move(words), {}};
  };
  if (head.method != "GET") return refused(405, "only GET: no request changes anything here");
  if (!is_own_host(head.host)) return refused(421, "this server is not called by that name");
  const std::string own_origin = (tls_ ? "https://" : "http://") + head.host;
  if (!head.origin.empty() && head.origin != own_origin) return refused(403, "the request comes from another page");
  Result<Target> target = parse_target(head.target);
  if (!target) return refused(400, target.error().message);
  const bool is_page = target->path.empty();
  // A link on another page may lead here; no other page's script or frame may ask for anything.
  const bool is_foreign = head.fetch_site == "cross-site" || head.fetch_site == "same-site";
  if (is_foreign && !is_page) return refused(403, "the request comes from another page");
  if (is_page && target->query.contains("token")) {
    if (!is_same_secret(target->text("token"), token_))
      return refused(401, "the token in the address is not this server's");
    return {Verdict::signed_in, 200, "", std::move(*target)};
  }
  if (!has_token(head)) return refused(401, "open the address with ?token=... that the driver has printed");
  return {Verdict::allowed, 200, "", std::move(*target)};
}

}  // namespace headway::dashboard
