#include "library/own_dashboard.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace headway::library {

Result<std::optional<std::uint16_t>> wanted_dashboard(const std::optional<int>& option) {
  if (option) return dashboard::parse_port("dashboard", std::to_string(*option));
  const char* variable = std::getenv("HEADWAY_DASHBOARD");
  return dashboard::parse_port("HEADWAY_DASHBOARD in the environment", variable == nullptr ? "" : variable);
}

Result<std::unique_ptr<dashboard::Dashboard>> open_dashboard(driver::Runtime& runtime, std::uint16_t port) {
  dashboard::ServerConfig config;
  config.port = port;
  auto made = dashboard::Dashboard::of_driver(runtime, std::move(config));
  if (made) std::fprintf(stderr, "headway: dashboard: %s\n", (*made)->url().c_str());
  return made;
}

}  // namespace headway::library
