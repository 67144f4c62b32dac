#include "core/lost_peer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace headway {
namespace {

constexpr std::array<std::string_view, 5> words_of_connections{"connection closed by peer", "connection reset by peer",
                                                               "broken pipe", "socket closed", "connection refused"};

constexpr std::string_view words_of_jax = "JAX distributed service detected fatal errors";

// SIGABRT of Linux; <csignal> would bring the system in here.
constexpr int aborted = 6;

}  // namespace

bool tells_of_lost_peer(std::string_view message) {
  std::string lower(message);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::ranges::any_of(words_of_connections,
                             [&](std::string_view words) { return lower.find(words) != std::string::npos; });
}

bool ended_by_lost_peer(const ExitStatus& status, std::string_view last_lines) {
  return status.signaled && status.code == aborted && last_lines.find(words_of_jax) != std::string_view::npos;
}

}  // namespace headway
