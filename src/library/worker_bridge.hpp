#pragma once

#include <headway/context.hpp>
#include <headway/preemption.hpp>
#include <headway/reduce.hpp>
#include <headway/result.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// The public functions of a worker on one side, its session on the other. JSON goes as text
/// between them: the public API and core each have a `Json`, and no file sees both.
namespace headway::library {

/// Null outside of a rank.
const Context* worker_context();

/// In a process that validates: what it may use.
const Context& validation_context();

/// Whether this process validates a checkpoint.
bool in_validation();

/// Whether the trainer has a validation function.
bool worker_validates();

/// Variables of this process's environment that Headway has set for it alone: not for its workers.
std::vector<std::string> own_variables();

/// In a process that validates: the socket on which a runtime in it speaks to the driver. Errors:
/// `unavailable`.
Result<int> worker_opens_runtime();

/// Error text for `caller` outside of a training loop.
Error outside_of_loop(const char* caller);

struct ReportOrder {
  std::string metrics_json;
  std::optional<std::string> checkpoint_directory;
  std::optional<std::string> checkpoint_name;
  bool move = false;
  bool asynchronous = false;
  bool placed = false;
  /// The user's own way of storing: from the checkpoint's name to the directory where it is. May
  /// throw.
  std::function<std::string(const std::string& name)> store = nullptr;
  /// None: the checkpoint is not to be validated.
  struct Validation {
    bool as_configured = true;
    std::string arguments_json = "{}";
    std::optional<double> timeout_s = std::nullopt;
  };
  std::optional<Validation> validation = std::nullopt;
  Reduction reduce = std::nullopt;
  /// Where data sets stand, an object by name.
  std::optional<std::string> data_positions_json = std::nullopt;
};

/// A checkpoint as the driver tells of it; the status by its name.
struct ToldCheckpoint {
  std::string directory;
  std::string metrics_json;
  std::string status;
};

Result<void> worker_report(ReportOrder order);
std::optional<std::string> worker_checkpoint();
Result<std::vector<ToldCheckpoint>> worker_checkpoints(bool validated, std::optional<double> timeout_s);
Result<std::string> worker_collective(const std::string& kind, int root, std::string bytes);
/// What the loop has done; any thread.
void worker_counts_step(std::int64_t optimizer);
void worker_was_in_collectives(double seconds);
void worker_sees_collectives(bool visible);
/// None: no node is taken away.
Result<std::optional<PreemptionInfo>> worker_preemption_info();

}  // namespace headway::library
