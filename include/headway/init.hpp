#pragma once

#include <headway/config.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>
#include <headway/result.hpp>

#include <optional>
#include <string>

namespace headway {

/// What there is for runs. All of it is optional.
struct InitOptions {
  /// CPUs and GPUs of this machine that runs may claim; default: all that this process may use,
  /// and none with an engine.
  std::optional<double> num_cpus = std::nullopt;
  std::optional<double> num_gpus = std::nullopt;
  Resources resources = {};  ///< Further amounts of this machine, by names that you define.
  Labels labels = {};        ///< What `ScalingConfig::label_selector` may ask of this machine.
  /// "host:port" to let other machines join as nodes: an address of this machine, such as
  /// "0.0.0.0:0" (any address, any free port; `join_address` says which). There this program is
  /// started as `program --headway-agent --join HOST:PORT`.
  std::optional<std::string> listen = std::nullopt;
  /// What agents must have a copy of; made when it is not there. Default: HEADWAY_TOKEN_FILE of the
  /// environment, else ~/.headway/token.
  std::optional<std::string> token_file = std::nullopt;
  /// Seconds that a node which is out of reach may go on, 1 to 3600.
  double node_lease_s = 10;
  /// Who gives nodes: "slurm", "kubernetes", "ray", or the address of a Ray cluster. This program
  /// lies at the same path on the nodes (on Kubernetes: in the image). A Python with the package
  /// headway speaks with the engine: HEADWAY_PYTHON names it.
  std::optional<std::string> engine = std::nullopt;
  /// The engine's arguments, as Python's headway.init has them: {{"partition", "gpu"}}.
  Json engine_options = Json::object();
  /// Shows the runs of this program in a browser. 1: on any free port; a port from 1024 on: there;
  /// 0: not. Default: HEADWAY_DASHBOARD of the environment, else not. The address is printed, and
  /// `dashboard_url` returns it.
  std::optional<int> dashboard = std::nullopt;
};

/// Starts Headway's driver side with these options, once, before the first run. A program that does
/// not call it has this machine alone.
///
///     headway::init({.listen = "0.0.0.0:40001", .num_cpus = 0}).value();
///
/// Errors: `invalid_argument`, which names the option, what was given and what is allowed;
/// `unavailable`, when no port or program can be had.
HEADWAY_API Result<void> init(const InitOptions& options);

/// Where other machines join: "host:port", as they reach it; empty when nothing listens.
HEADWAY_API std::string join_address();

/// The address of this program's dashboard, with the token that a browser needs; empty without one.
HEADWAY_API std::string dashboard_url();

}  // namespace headway
