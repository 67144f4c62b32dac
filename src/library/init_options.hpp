#pragma once

#include <headway/config.hpp>
#include <headway/result.hpp>

#include <optional>
#include <string>

namespace headway::library {

/// `InitOptions` for those who can't see the API's Json: the engine's arguments are JSON text.
struct StartOptions {
  std::optional<double> num_cpus;
  std::optional<double> num_gpus;
  Resources resources;
  Labels labels;
  std::optional<std::string> listen;
  std::optional<std::string> token_file;
  double node_lease_s = 10;
  std::optional<std::string> engine;
  std::string engine_options_json = "{}";
  std::optional<int> dashboard;
};

/// Starts the driver's side. Errors: those of `headway::init`.
Result<void> start_driver(const StartOptions& options);

/// As `headway::join_address`.
std::string address_of_driver();

/// As `headway::dashboard_url`.
std::string address_of_dashboard();

}  // namespace headway::library
