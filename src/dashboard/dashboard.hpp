#pragma once

#include "dashboard/server.hpp"
#include "driver/runtime.hpp"

#include <memory>
#include <string>

namespace headway::dashboard {

/// A page that shows runs, and the server that it comes from. Any thread.
class Dashboard {
 public:
  /// Shows what a driver does, until the dashboard is closed. Errors: those of Runtime::watch and
  /// Server::open.
  static Result<std::unique_ptr<Dashboard>> of_driver(driver::Runtime& runtime, ServerConfig config);
  /// Shows what lies in a folder: FileSite. `argument`: what errors call it.
  static Result<std::unique_ptr<Dashboard>> of_folder(const std::string& argument, const std::string& location,
                                                      ServerConfig config);

  std::string url() const { return server_->url(); }

 private:
  static Result<std::unique_ptr<Dashboard>> serve(std::unique_ptr<Site> site, ServerConfig config);
  Dashboard(std::unique_ptr<Site> site, std::unique_ptr<Server> server);

  std::unique_ptr<Site> site_;
  std::unique_ptr<Server> server_;
};

/// A run of a folder as the dashboard's list shows it, as JSON. Errors: those of run_in.
Result<std::string> run_summary_in(const std::string& location);

/// Whether only this machine reaches what listens there.
bool is_loopback(const std::string& host);

/// What HEADWAY_DASHBOARD or an argument says: unset for none, 0 for any free port. Errors:
/// `invalid_argument`, naming `argument`, for what is neither a switch ("0", "1") nor a port.
Result<std::optional<std::uint16_t>> parse_port(const std::string& argument, const std::string& text);

}  // namespace headway::dashboard
