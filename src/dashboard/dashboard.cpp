#include "dashboard/dashboard.hpp"

#include "core/location.hpp"
#include "dashboard/file_site.hpp"
#include "dashboard/live_site.hpp"

#include <charconv>

namespace headway::dashboard {

Dashboard::Dashboard(std::unique_ptr<Site> site, std::unique_ptr<Server> server)
    : site_(std::move(site)), server_(std::move(server)) {}

Result<std::unique_ptr<Dashboard>> Dashboard::of_driver(driver::Runtime& runtime, ServerConfig config) {
  auto watch = runtime.watch();
  if (!watch) return watch.error();
  auto site = LiveSite::open(std::move(*watch));
  if (!site) return site.error();
  return serve(std::move(*site), std::move(config));
}

Result<std::unique_ptr<Dashboard>> Dashboard::of_folder(const std::string& argument, const std::string& location,
                                                        ServerConfig config) {
  auto site = FileSite::open(argument, location);
  if (!site) return site.error();
  return serve(std::move(*site), std::move(config));
}

Result<std::unique_ptr<Dashboard>> Dashboard::serve(std::unique_ptr<Site> site, ServerConfig config) {
  auto server = Server::open(*site, std::move(config));
  if (!server) return server.error();
  return std::unique_ptr<Dashboard>(new Dashboard(std::move(site), std::move(*server)));
}

Result<std::string> run_summary_in(const std::string& location) {
  auto summary = file_summary(location, name_of(location), true);
  if (!summary) return summary.error();
  return part_of(*summary)->text;
}

bool is_loopback(const std::string& host) {
  boost::system::error_code failure;
  const auto address = boost::asio::ip::make_address(host, failure);
  return !failure && address.is_loopback();
}

Result<std::optional<std::uint16_t>> parse_port(const std::string& argument, const std::string& text) {
  if (text.empty() || text == "0") return std::optional<std::uint16_t>();
  if (text == "1") return std::optional<std::uint16_t>(0);
  std::uint16_t port = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  constexpr std::uint16_t least = 1024;
  if (failure == std::errc() && stop == text.data() + text.size() && port >= least) return std::optional(port);
  return Error{ErrorKind::invalid_argument,
               argument + " is '" + text + "'; allowed: 1 (any free port), 0 (none) or a port from 1024 to 65535"};
}

}  // namespace headway::dashboard
