#pragma once

#include "core/json.hpp"
#include "core/manifest.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What is said about one worker (one process, one rank) between node, driver and controller.
namespace headway {

/// A place on a node for one worker, with what it may use there.
struct Slot {
  std::string node_id;
  std::string hostname;
  std::string node_ip;
  int cpus = 1;                      ///< Threads that the worker should use.
  std::vector<std::string> gpu_ids;  ///< Its own devices, as CUDA_VISIBLE_DEVICES names them.

  bool operator==(const Slot&) const = default;
};
BOOST_DESCRIBE_STRUCT(Slot, (), (node_id, hostname, node_ip, cpus, gpu_ids))

/// Who a worker is within its group.
struct WorkerPlan {
  int rank = 0;
  int local_rank = 0;
  int node_rank = 0;
  int local_world_size = 1;
  Slot slot;

  bool operator==(const WorkerPlan&) const = default;
};
BOOST_DESCRIBE_STRUCT(WorkerPlan, (), (rank, local_rank, node_rank, local_world_size, slot))

/// How a process ended.
struct ExitStatus {
  bool signaled = false;
  int code = 0;        ///< Exit code, or the signal's number when `signaled`.
  std::string detail;  ///< More, when there is more to say ("its worker factory died").
};
BOOST_DESCRIBE_STRUCT(ExitStatus, (), (signaled, code, detail))

/// "was killed by SIGSEGV (signal 11)", "exited with code 3" or "exited with code 143 (SIGTERM)".
std::string to_text(const ExitStatus& status);

/// An exception that left the training function.
struct RankError {
  std::string type;       ///< "ValueError"
  std::string message;    ///< The exception's own words.
  std::string traceback;  ///< The user's frames first, as the language prints them.
  /// It looks like the effect of another rank's death (a collective's peer went away).
  bool echo = false;
};
BOOST_DESCRIBE_STRUCT(RankError, (), (type, message, traceback, echo))

/// "ValueError: bad batch", or "AssertionError" when it has no words.
std::string to_text(const RankError& error);

/// Where the files of a reported checkpoint come from.
enum class CheckpointSource {
  files,  ///< A local directory of the rank's; the session uploads them.
  /// The user has put them into the run's folder himself (or is about to): they are taken as they
  /// are.
  placed,
  /// A function of the user's will put them into the run's folder, under the name that it is given.
  function
};
BOOST_DESCRIBE_ENUM(CheckpointSource, files, placed, function)

/// The checkpoint part of one rank's report: names and sizes first, bytes only after the controller
/// has said which.
struct CheckpointOffer {
  /// The name that the user wants, or, when placed, that it has.
  std::optional<std::string> directory_name;
  std::vector<FileRecord> files;  ///< Only of the source `files`.
  bool asynchronous = false;      ///< The report returns before the files are stored.
  CheckpointSource source = CheckpointSource::files;
};
BOOST_DESCRIBE_STRUCT(CheckpointOffer, (), (directory_name, files, asynchronous, source))

}  // namespace headway
