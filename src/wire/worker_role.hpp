#pragma once

#include "core/json.hpp"
#include "core/worker.hpp"
#include "wire/frame.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// What a worker process is for. The first message that it receives has one of these structs under
/// its name, and each front end chooses by that name what the process does.
///
/// A new role is a struct here; a class in driver/ that starts its
/// processes (driver/helper_process.hpp); and an entry in each front end that has it: `ROLES` in
/// python/headway/_worker/roles.py, `work` in library/worker_main.cpp.
namespace headway::wire {

/// A rank of the run's worker group: runs the training function.
struct RankRole {
  static constexpr std::string_view is = "RankRole";
  int world_size = 1;
  int attempt = 1;
  std::optional<std::string> checkpoint;  ///< The directory that get_checkpoint() gives.
  std::string working_directory;          ///< Of the ranks of its node; it may not exist yet.
  bool enter_working_directory = true;    ///< Else it works where the driver does.
};
BOOST_DESCRIBE_STRUCT(RankRole, (), (world_size, attempt, checkpoint, working_directory, enter_working_directory))

/// Validates a checkpoint. The raw part of its Train message is the pickled function, beside its
/// arguments or, in the older form, its configuration.
struct ValidationRole {
  static constexpr std::string_view is = "ValidationRole";
  std::string checkpoint;  ///< Its directory.
  JsonObject arguments;
  bool older_form = false;
};
BOOST_DESCRIBE_STRUCT(ValidationRole, (), (checkpoint, arguments, older_form))

/// Copies what the ranks of its node write into their working directory to the run's artifacts/,
/// when BringArtifacts asks.
struct ArtifactRole {
  static constexpr std::string_view is = "ArtifactRole";
  std::string working_directory;
};
BOOST_DESCRIBE_STRUCT(ArtifactRole, (), (working_directory))

/// Calls Python functions for the data process of another node, which listens there.
struct FunctionRole {
  static constexpr std::string_view is = "FunctionRole";
  std::string host;
  int port = 0;
  std::string token;  ///< What both ends prove to have (cluster/peers.hpp).
};
BOOST_DESCRIBE_STRUCT(FunctionRole, (), (host, port, token))

using WorkerRole = std::variant<RankRole, ValidationRole, ArtifactRole, FunctionRole>;

/// A role as it stands in StartSession: its name ("is") and its fields.
inline JsonObject role_json(const WorkerRole& role) {
  return std::visit(
      [](const auto& what) { return JsonObject{{"is", std::decay_t<decltype(what)>::is}, {"fields", to_json(what)}}; },
      role);
}

/// Errors: `corrupted`.
inline Result<WorkerRole> to_role(const JsonObject& json) {
  WorkerRole role;
  if (Result<void> read = read_message(json, message_kinds<WorkerRole>, &role); !read) return read.error();
  return role;
}

}  // namespace headway::wire
