#pragma once

#include <headway/context.hpp>
#include <headway/preemption.hpp>
#include <headway/result.hpp>

#include <functional>
#include <optional>
#include <string>

/// The public functions of a worker on one side, its session on the other. JSON goes as text between them: the public API and core
/// each have a `Json`, and no file sees both.
namespace headway::library {

/// Null outside of a worker.
const Context* worker_context();

/// Error text for `caller` outside of a training loop.
Error outside_of_loop(const char* caller);

struct ReportOrder {
  std::string metrics_json;
  std::optional<std::string> checkpoint_directory;
  std::optional<std::string> checkpoint_name;
  bool move = false;
  bool asynchronous = false;
  bool placed = false;
  /// The user's own way of storing: from the checkpoint's name to the directory where it is. May throw.
  std::function<std::string(const std::string& name)> store = nullptr;
};

Result<void> worker_report(ReportOrder order);
std::optional<std::string> worker_checkpoint();
Result<std::string> worker_collective(const std::string& kind, int root, std::string bytes);
/// None: no node is taken away.
Result<std::optional<PreemptionInfo>> worker_preemption_info();

}  // namespace headway::library
